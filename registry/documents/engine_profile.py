"""Engine profiles as documents (`roost.engine-profile/1`): plain mapping both ways, without validation.

A document leaves out what equals the default of its field, so a profile has exactly one document and one digest.
Documents from outside are checked against `schemas/engine-profile.schema.json` before they get here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final

from registry.documents.canonical import canonical_bytes, sha256_of
from registry.domain.profile import (
    DraftFacts,
    Graphs,
    IdKey,
    LaunchFacts,
    Patch,
    Probe,
    Profile,
    Rename,
    Runner,
    TargetFacts,
)

SCHEMA: Final = "roost.engine-profile/1"

_TUPLES: Final = frozenset(
    {
        "missing_methods", "needed_methods", "default_classes", "architectures", "parameters", "optional",
        "layer_prefixes", "legacy_names", "tap_count", "files", "active_depths", "depths", "asked",
    }
)  # fmt: skip
"""Fields that hold a list of plain values."""


def parse(document: Mapping[str, Any], *, digest: str | None = None) -> Profile:
    """Return the profile that a valid document describes.

    Args:
        document: A document that follows the schema of engine profiles.
        digest: Its digest where that is known already; computed otherwise.

    Raises:
        KeyError: a required key is absent. Callers validate first where the document is not our own.
        TypeError: an object holds a key that its part of a profile does not have.
    """
    targets = document["targets"]
    return Profile(
        engine=document["engine"],
        version=document["version"],
        revision=document.get("revision", 1),
        digest=digest or digest_of(document),
        upstream=document.get("upstream"),
        targets={name: _target(name, facts) for name, facts in targets.items()},
        runners=tuple(_runner(entry) for entry in document["runners"]),
        graphs=Graphs(**document["graphs"]),
        drafts=tuple(_draft(entry) for entry in document["drafts"]),
        launch=LaunchFacts(**document["launch"]),
        patches=tuple(Patch(**_plain(entry)) for entry in document.get("patches", ())),
        evidence=document.get("evidence", {}),
    )


def render(profile: Profile) -> dict[str, Any]:
    """Return the document of a profile; `parse` gives the profile back. The digest is not part of the document."""
    document: dict[str, Any] = {"schema": SCHEMA}
    for entry in fields(Profile):
        value = getattr(profile, entry.name)
        if entry.name == "revision" or (entry.name != "digest" and not _is_default(entry, value)):
            document[entry.name] = _rendered(value)
    for facts in document["targets"].values():
        del facts["target_class"]  # it is the key
    return document


def digest_of(document: Mapping[str, Any]) -> str:
    """Return `sha256:` over the document's canonical bytes."""
    return sha256_of(canonical_bytes(document))


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if key in _TUPLES else value for key, value in entry.items()}


def _target(name: str, facts: Mapping[str, Any]) -> TargetFacts:
    probes = tuple(_probe(row) for row in facts.get("probes", ()))
    return TargetFacts(target_class=name, **{**_plain(facts), "probes": probes})


def _probe(row: Mapping[str, Any]) -> Probe:
    return Probe(**{**_plain(row), "ids": None if row["ids"] is None else tuple(row["ids"])})


def _runner(entry: Mapping[str, Any]) -> Runner:
    return Runner(**{**_plain(entry), "keys": tuple(IdKey(**key) for key in entry["keys"])})


def _draft(entry: Mapping[str, Any]) -> DraftFacts:
    renames = tuple(Rename(**rename) for rename in entry.get("renames", ()))
    return DraftFacts(**{**_plain(entry), "renames": renames})


def _rendered(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        held = ((entry, getattr(value, entry.name)) for entry in fields(value))
        return {entry.name: _rendered(content) for entry, content in held if not _is_default(entry, content)}
    if isinstance(value, Mapping):
        return {key: _rendered(content) for key, content in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rendered(content) for content in value]
    return value


def _is_default(entry: Any, value: object) -> bool:
    if entry.default is not MISSING:
        return bool(value == entry.default)
    return entry.default_factory is not MISSING and bool(value == entry.default_factory())
