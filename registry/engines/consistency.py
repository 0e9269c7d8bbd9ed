"""Does a profile agree with itself? What a schema cannot say: facts that contradict a probe table or one another.

A profile from outside is looked at before it is kept, so that judging with it is neither wrong nor impossible.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from registry.domain import dialects
from registry.domain.profile import Probe, Profile, TargetFacts
from registry.domain.versions import Version
from registry.engines.capture import left_captured


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """One place where a profile contradicts itself."""

    pointer: str
    """JSON Pointer into the profile's document."""
    message: str
    """What was seen and what was expected."""
    hint: str = ""


def contradictions(profile: Profile) -> Iterator[Contradiction]:
    """Yield every place where a profile contradicts its own probe tables or itself."""
    for name, facts in profile.targets.items():
        yield from _of_target(f"/targets/{name}", facts)
    yield from _of_runners(profile)
    yield from _of_drafts(profile)
    yield from _of_patches(profile)


def _of_target(at: str, facts: TargetFacts) -> Iterator[Contradiction]:
    stray = [name for name in facts.needed_methods if name not in facts.missing_methods]
    if stray:
        yield Contradiction(
            pointer=f"{at}/needed_methods",
            message=f"{', '.join(stray)} is not among missing_methods; expected a part of them",
        )
    for number, probe in enumerate(facts.probes):
        said = _against(facts, probe)
        if said:
            yield Contradiction(
                pointer=f"{at}/probes/{number}",
                message=said,
                hint="correct the facts or the row: one of them is not what the engine does",
            )


def _against(facts: TargetFacts, probe: Probe) -> str:
    """Say how the facts contradict one row, or nothing."""
    outcomes = (probe.depths is not None, bool(probe.setter_raises), bool(probe.pass_raises))
    if sum(outcomes) != 1:
        return "a row has exactly one of depths, setter_raises and pass_raises"
    # The table is about the setter itself, whether or not serving ever gets to it.
    captured = left_captured(replace(facts, needed_methods=(), refused=""), probe.ids, layers=probe.layers)
    if captured.unresolved or facts.depth_zero == dialects.UNRESOLVED:
        return ""
    fails = facts.depth_zero == "raises" and 0 in (captured.depths or ())
    said = _effect(setter_raises=bool(captured.raises), pass_raises=fails, depths=captured.depths)
    seen = _effect(setter_raises=bool(probe.setter_raises), pass_raises=bool(probe.pass_raises), depths=probe.depths)
    ids = "no ids" if probe.ids is None else f"ids {list(probe.ids)}"
    return "" if said == seen else f"{ids} on {probe.layers} layers: {seen} in the table, {said} by the facts"


def _effect(*, setter_raises: bool, pass_raises: bool, depths: tuple[int, ...] | None) -> str:
    if setter_raises:
        return "the setter raises"
    return "the pass raises" if pass_raises else f"depths {list(depths or ())}"


def _of_runners(profile: Profile) -> Iterator[Contradiction]:
    names = [runner.name for runner in profile.runners]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield Contradiction(pointer=f"/runners/{number}/name", message=f"a second runner is called {name}")
        elif name is None and len(names) > 1:
            yield Contradiction(
                pointer=f"/runners/{number}/name", message="is missing; expected a name where there are several runners"
            )


def _of_drafts(profile: Profile) -> Iterator[Contradiction]:
    seen: set[str] = set()
    for number, draft in enumerate(profile.drafts):
        for place, name in enumerate(draft.architectures):
            if name in seen:
                pointer = f"/drafts/{number}/architectures/{place}"
                yield Contradiction(pointer=pointer, message=f"{name} is loaded by an earlier draft class already")
            seen.add(name)


def _of_patches(profile: Profile) -> Iterator[Contradiction]:
    if profile.patches and profile.upstream is None:
        yield Contradiction(
            pointer="/upstream", message="is missing; expected the release that the patched build was made from"
        )
    for number, patch in enumerate(profile.patches):
        since = patch.upstream_since
        if since and profile.upstream and Version.parse(since) <= Version.parse(profile.upstream):
            yield Contradiction(
                pointer=f"/patches/{number}/upstream_since",
                message=f"{since} is not above {profile.upstream}, the release that was patched",
                hint="what the release has already is no patch",
            )
