"""Which facts of a profile matter for one case, and their digest: builds with equal facts judge the same.

What is cited (`at`, `established`, notes) and what names the build (version, revision, digest) is no fact about what
it does, so other Python tags, CUDA builds and repacks of one source have equal facts.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from registry.domain.profile import DraftFacts, Patch, Profile, Runner

NOT_FACTS: Final = frozenset({"at", "established", "note", "cost", "summary", "probes", "evidence"})
"""Fields of a profile's parts that say where a fact is from, on what it was tried, or say it to people."""

_NAMES: Final = frozenset({"version", "revision", "digest", "upstream", "evidence"})
"""Fields of a profile that name the build, or say where a scan found things in it."""

_OF_THE_CASE: Final = frozenset({"targets", "runners", "drafts", "patches"})
"""Parts of which only what the case meets is taken. Every other part, those added later included, is taken whole."""


def facts_digest(profile: Profile, target_class: str | None, architecture: str | None, runner: str | None) -> str:
    """Return `sha256:` over the canonical form of the facts that matter for one case.

    Args:
        profile: The build.
        target_class: The class of the target it serves; None where that is unknown.
        architecture: The first of the drafter's `architectures`; None where its config names none.
        runner: The runner that is asked for; None leaves the choice to the build, so all its runners matter.

    Returns:
        Equal digests for builds that read every config, drafter and launch of this case alike.
    """
    facts = facts_of(profile, target_class, architecture, runner)
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def facts_of(
    profile: Profile, target_class: str | None, architecture: str | None, runner: str | None
) -> Mapping[str, object]:
    """Return the facts that `facts_digest` digests, as plain JSON values."""
    target = profile.targets.get(target_class or "")
    return {
        **_plain(profile, without=_NAMES | _OF_THE_CASE),
        "target": None if target is None else _plain(target, without=frozenset({"target_class"})),
        "runners": [
            _runner(entry, target_class, asked=runner) for entry in profile.runners if runner in (None, entry.name)
        ],
        # A config whose class does not fit the tensors is mended by naming another class of the build.
        "drafts": [_draft(draft, architecture) for draft in profile.drafts],
        "capture_patches": sorted(_capture_patches(profile)),
    }


def _runner(runner: Runner, target_class: str | None, *, asked: str | None) -> dict[str, object]:
    """A runner that is asked for serves whatever it is the default for; of the classes listed, one is at hand."""
    whole = _plain(runner, without=frozenset({"default_for", "default_classes"}))
    if asked is not None:
        return whole
    return {**whole, "default_for": runner.default_for, "listed": target_class in runner.default_classes}


def _draft(draft: DraftFacts, architecture: str | None) -> dict[str, object]:
    """Of the names of a class, its first one counts, which is written into configs, and whether it has the one here."""
    named = {"name": next(iter(draft.architectures), None), "is_named": architecture in draft.architectures}
    return {**_plain(draft, without=frozenset({"architectures"})), **named}


def _capture_patches(profile: Profile) -> Iterator[list[int]]:
    """Only patches that capture are judged: a verdict says where they are dormant."""
    patches: tuple[Patch, ...] = profile.patches
    yield from (sorted(patch.active_depths) for patch in patches if patch.purpose == "capture")


def _plain(part: Any, *, without: frozenset[str] = frozenset()) -> dict[str, object]:
    left_out = without | NOT_FACTS
    return {entry.name: _value(getattr(part, entry.name)) for entry in fields(part) if entry.name not in left_out}


def _value(value: object) -> object:
    if isinstance(value, str | int | float | None):
        return value
    if is_dataclass(value):
        return _plain(value)
    if isinstance(value, Mapping):
        return {str(key): _value(content) for key, content in value.items()}
    if isinstance(value, tuple | list):
        # Names, mostly, and many of them: a hundred builds are digested for one matrix.
        return list(value) if value and isinstance(value[0], str) else [_value(content) for content in value]
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
