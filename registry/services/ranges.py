"""Ranges: on which shipped builds a checkpoint serves what it was trained on, and what each of them needs for it.

The needs of a build do not depend on the proposed config, so they are kept per (checkpoint, provenance revision,
target, runner, profile set, rules). Whether a build takes the proposed config as it is, is kept beside them per config
and launch: launch scripts ask the same question again and again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from registry.domain.findings import Severity
from registry.domain.memo import Memo
from registry.domain.profile import Profile
from registry.domain.proposal import Build, Proposal
from registry.domain.taps import Taps
from registry.domain.target import Target
from registry.domain.verdict import decide
from registry.engines.emit import emission_config
from registry.engines.engine import engine
from registry.engines.reader import Situation, read
from registry.engines.spelling import Spelling, with_options
from registry.rules import catalogue
from registry.services.cases import Subject, check_case, trained_taps_of
from registry.services.profiles import ShippedProfiles

_NEEDS: "Final[Memo[tuple[object, ...], tuple[Need, ...]]]" = Memo(512)
_SPANS: "Final[Memo[tuple[object, ...], tuple[Span, ...]]]" = Memo(2048)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one build needs to serve the trained taps."""

    version: str
    ids: tuple[int, ...] | None
    """None: nothing makes this build serve them."""
    options: tuple[str, ...] = ()
    obstacle: str = ""
    """Why nothing does, in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Consecutive shipped builds that need the same."""

    first: str
    last: str
    as_proposed: bool
    ids: tuple[int, ...] | None
    options: tuple[str, ...]
    obstacle: str

    @property
    def serves(self) -> bool:
        """Whether the builds of this span can serve the trained taps at all."""
        return self.ids is not None


def spans(
    subject: Subject, proposal: Proposal, *, target: Target | None, profiles: ShippedProfiles
) -> tuple[Span, ...]:
    """Return the shipped upstream builds of the proposal's engine, oldest first, collapsed into spans."""
    trained = trained_taps_of(subject.provenance, subject.trained_target, profiles).taps
    target = target or subject.trained_target
    if trained is None or target is None:
        return ()
    asked = (
        *_checkpoint_key(subject, proposal, target, profiles),
        _config_key(subject, proposal),
        _launch_key(proposal),
    )
    kept = _SPANS.get(asked) if subject.weights_digest else None
    if kept is not None:
        return kept
    needs = _needs(subject, proposal, trained, target, profiles)
    rows = [(_as_proposed(need, subject, proposal, trained, target, profiles), need) for need in needs]
    return _SPANS.put(asked, tuple(_span(tuple(stretch)) for _, stretch in groupby(rows, key=_sameness)))


def _checkpoint_key(
    subject: Subject, proposal: Proposal, target: Target, profiles: ShippedProfiles
) -> tuple[object, ...]:
    return (
        subject.ref, subject.weights_digest, subject.provenance_revision, subject.provenance.capture, target,
        proposal.build.engine, proposal.runner, profiles.set_digest, catalogue().version,
    )  # fmt: skip


def _config_key(subject: Subject, proposal: Proposal) -> str:
    config = subject.inventory.config if proposal.draft_config is None else proposal.draft_config
    return json.dumps(dict(config), sort_keys=True)


def _launch_key(proposal: Proposal) -> tuple[object, ...] | None:
    launch = proposal.launch
    return None if launch is None else (tuple(launch.options.items()), tuple(launch.environment.items()))


def _sameness(row: tuple[bool, Need]) -> tuple[object, ...]:
    as_proposed, need = row
    return as_proposed, None if as_proposed else need.ids, need.options, need.obstacle


def _span(rows: Sequence[tuple[bool, Need]]) -> Span:
    as_proposed, need = rows[0]
    return Span(
        first=need.version,
        last=rows[-1][1].version,
        as_proposed=as_proposed,
        ids=need.ids,
        options=need.options,
        obstacle=need.obstacle,
    )


def _needs(
    subject: Subject, proposal: Proposal, trained: Taps, target: Target, profiles: ShippedProfiles
) -> tuple[Need, ...]:
    key = _checkpoint_key(subject, proposal, target, profiles)
    kept = _NEEDS.get(key) if subject.weights_digest else None
    if kept is not None:
        return kept
    versions = profiles.upstream(proposal.build.engine)
    return _NEEDS.put(key, tuple(_need(v, subject, proposal, trained, target, profiles) for v in versions))


def _need(
    version: str, subject: Subject, proposal: Proposal, trained: Taps, target: Target, profiles: ShippedProfiles
) -> Need:
    """Spell the trained taps for one build and judge what was spelled with every rule."""
    build = Build(engine=proposal.build.engine, version=version)
    profile = profiles.get(build)
    if profile is None:
        return Need(version=version, ids=None, obstacle="no profile")
    situation = _situation(profile, subject, proposal, target, config=dict(subject.inventory.config), launch=False)
    spelled = emission_config(engine(build.engine), situation, trained)
    if not isinstance(spelled, Spelling):
        return Need(version=version, ids=None, obstacle=_short(spelled.reason, build))
    there = replace(
        proposal,
        build=build,
        runner=situation.runner,  # type: ignore[arg-type]  # one of the two names, or None
        draft_config=spelled.config,
        launch=with_options(None, spelled.options),
    )
    findings = catalogue().judge(check_case(subject, there, target=target, profiles=profiles), "check")
    if decide(findings) == "block":
        worst = next(finding for finding in findings if finding.severity is Severity.ERROR)
        return Need(version=version, ids=None, obstacle=worst.code)
    return Need(version=version, ids=spelled.ids, options=spelled.options)


def _short(reason: str, build: Build) -> str:
    return reason.replace(f" on {build}", "").replace(f"{build} ", "")


def _as_proposed(
    need: Need, subject: Subject, proposal: Proposal, trained: Taps, target: Target, profiles: ShippedProfiles
) -> bool:
    """Whether the build reads the proposed config as the trained taps, with the options it needs anyway."""
    profile = profiles.get(Build(engine=proposal.build.engine, version=need.version))
    if need.ids is None or profile is None:
        return False
    config = subject.inventory.config if proposal.draft_config is None else proposal.draft_config
    situation = _situation(profile, subject, proposal, target, config=dict(config), launch=True)
    reading = read(replace(situation, launch=with_options(situation.launch, need.options)))
    return (
        reading.taps is not None
        and not reading.failures
        and reading.used is not None
        and reading.taps.prefill == reading.taps.decode == trained
    )


def _situation(
    profile: Profile, subject: Subject, proposal: Proposal, target: Target, *, config: dict[str, object], launch: bool
) -> Situation:
    named = {runner.name for runner in profile.runners}
    return Situation(
        profile=profile,
        config=config,
        inventory=subject.inventory,
        target=target,
        launch=proposal.launch if launch else None,
        runner=proposal.runner if proposal.runner in named else None,
    )
