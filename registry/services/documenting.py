"""Records as the documents and rows that surfaces show; one form for REST, command line and pages."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from registry.documents import engine_profile
from registry.documents import target as target_documents
from registry.documents.checkpoint import CheckpointDocument
from registry.documents.fields import render_taps
from registry.domain.errors import Invalid, NotFound
from registry.domain.proposal import Build, parse_build
from registry.rules import catalogue
from registry.rules.manual import record, render_manual
from registry.services.amending import Amended
from registry.services.cases import trained_taps_of
from registry.services.profile_history import ProfileEntry, missing
from registry.services.profiles import Profiles
from registry.services.records import (
    CheckpointRecord,
    CheckpointSummary,
    DrafterSummary,
    Event,
    ProvenanceRevision,
    TargetRecord,
)


def checkpoint_document(
    checkpoint: CheckpointRecord,
    *,
    profiles: Profiles,
    warnings: tuple[str, ...] = (),
    created: bool | None = None,
) -> CheckpointDocument:
    """Return a checkpoint as a `roost.checkpoint/1` document.

    Args:
        checkpoint: the record.
        profiles: needed where the dump counted in an engine's dialect.
        warnings: what a registration warned about.
        created: in the answer to a registration, whether it made the checkpoint.
    """
    target = checkpoint.target.target
    trained = trained_taps_of(checkpoint.provenance.provenance, target, profiles)
    return CheckpointDocument(
        name=checkpoint.name,
        version=checkpoint.version,
        weights_digest=checkpoint.weights_digest,
        files=checkpoint.inventory.files,
        tensors=len(checkpoint.inventory.tensors),
        trained_taps=trained.taps,
        why_unknown=trained.why_unknown,
        provenance_revision=checkpoint.provenance.revision,
        target=target.name,
        target_revision=target.revision,
        layers=target.layers,
        warnings=warnings,
        linked=tuple(twin.ref for twin in checkpoint.twins),
        created=created,
        created_at=stamp(checkpoint.created_at),
        provenance=checkpoint.provenance.provenance,
        config=checkpoint.inventory.config,
    )


def target_view(registered: TargetRecord) -> dict[str, object]:
    """Return a target as its document, with the facts that were read from its config."""
    target = registered.target
    facts = {
        "target_class": target.target_class,
        "layers": target.layers,
        "hidden_size": target.hidden_size,
        "vocab_size": target.vocab_size,
        "dense": target.dense,
    }
    return {**target_documents.render(target, registered.config), **facts}


def drafter_view(drafter: DrafterSummary) -> dict[str, object]:
    """Return one row of the list of drafters."""
    return {
        "name": drafter.name,
        "versions": drafter.versions,
        "newest": drafter.newest,
        "target": drafter.target_name,
        "created_at": stamp(drafter.created_at),
    }


def summary_view(summary: CheckpointSummary) -> dict[str, object]:
    """Return one row of the list of checkpoints."""
    return {
        "ref": f"{summary.name}@{summary.version}",
        "name": summary.name,
        "version": summary.version,
        "weights_digest": summary.weights_digest,
        "target": summary.target_name,
        "trained_depths": summary.trained_depths,
        "created_at": stamp(summary.created_at),
    }


def revision_view(revision: ProvenanceRevision) -> dict[str, object]:
    """Return one provenance revision."""
    return {
        "revision": revision.revision,
        "actor": revision.actor,
        "reason": revision.reason,
        "created_at": stamp(revision.created_at),
        "document": revision.document,
    }


def amended_view(amended: Amended) -> dict[str, object]:
    """Return the answer to an amendment: the revision, the taps that follow from it, and what to look at."""
    return {
        "ref": amended.checkpoint.ref,
        **revision_view(amended.revision),
        "trained_taps": render_taps(amended.trained.taps),
        **({"why_unknown": amended.trained.why_unknown} if amended.trained.why_unknown else {}),
        "warnings": list(amended.warnings),
    }


def event_view(event: Event) -> dict[str, object]:
    """Return one event of a drafter's history."""
    return {
        "sequence": event.sequence,
        "kind": event.kind,
        "actor": event.actor,
        "body": event.body,
        "digest": event.digest,
        "created_at": stamp(event.created_at),
    }


def stamp(moment: datetime) -> str:
    """Return a time as text, in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def engine_views(profiles: Profiles) -> list[dict[str, object]]:
    """Return one row per known engine build, by engine and version."""
    builds = [Build(engine=name, version=version) for name in profiles.engines() for version in profiles.versions(name)]
    found = [profile for build in builds if (profile := profiles.get(build)) is not None]
    return [
        {
            "engine": profile.engine,
            "version": profile.version,
            "upstream": profile.upstream,
            "origin": profiles.origin(Build(engine=profile.engine, version=profile.version)),
            "targets": len(profile.targets),
            "profile": profile.citation,
        }
        for profile in found
    ]


def profile_document(text: str, profiles: Profiles) -> Mapping[str, object]:
    """Return the profile document of one engine build.

    Raises:
        Invalid: `text` is not `ENGINE==VERSION`.
        NotFound: there is no such profile; the nearest ones are named.
    """
    build = build_of(text)
    profile = profiles.get(build)
    if profile is None:
        raise missing(build, profiles)
    return engine_profile.render(profile)


def profile_revisions_view(build: Build, entries: Sequence[ProfileEntry]) -> dict[str, object]:
    """Return the history of a build's profile, oldest first."""
    return {"build": str(build), "revisions": [profile_entry_view(build, entry) for entry in entries]}


def profile_entry_view(build: Build, entry: ProfileEntry) -> dict[str, object]:
    """Return one revision of a build's profile and what it changed, without the profile itself."""
    return {
        "build": str(build),
        "revision": entry.revision,
        "origin": entry.origin,
        "in_force": entry.in_force,
        "digest": entry.digest,
        "source_digest": entry.source_digest,
        "actor": entry.actor,
        "reason": entry.reason,
        "created_at": stamp(entry.created_at) if entry.created_at else None,
        "changes": [{"pointer": one.pointer, "before": one.registered, "after": one.given} for one in entry.changes],
    }


def build_of(text: str) -> Build:
    """Return the build that `text` names.

    Raises:
        Invalid: `text` is not `ENGINE==VERSION`.
    """
    try:
        return parse_build(text)
    except ValueError as error:
        raise Invalid(str(error)) from error


def rule_views() -> dict[str, object]:
    """Return every rule and the version of the set."""
    rules = catalogue()
    return {"items": [record(rule) for rule in rules.rules], "next": None, "version": rules.version}


def rule_view(code: str) -> dict[str, object]:
    """Return one rule with its manual, in Markdown.

    Raises:
        NotFound: there is no such rule; the nearest codes are named.
    """
    rule = catalogue().get(code)
    if rule is None:
        nearest = ", ".join(catalogue().nearest(code))
        raise NotFound(
            f"There is no rule {code!r}.",
            hint=f"Did you mean {nearest}?" if nearest else "`roost rule` lists all.",
        )
    return {**record(rule), "manual": render_manual(rule)}
