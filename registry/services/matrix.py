"""The matrix: a checkpoint and config judged on every known build, equal neighbors collapsed into ranges.

`matrix` loads the record; `matrix_of` is pure. Builds with equal facts for the case are judged once, so a matrix costs
as much as there are different behaviors, not as there are releases.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from registry.documents.matrix import MatrixRequest
from registry.domain.case import Case
from registry.domain.errors import NotFound
from registry.domain.findings import Finding, Remedy
from registry.domain.matrix import Matrix, MatrixRow, Takes
from registry.domain.memo import Memo
from registry.domain.profile import Profile
from registry.domain.proposal import Build, Launch, Proposal
from registry.domain.target import Target
from registry.domain.verdict import decide, overall_remedy
from registry.engines.draft_load import first_architecture
from registry.engines.engine import engine, engines
from registry.engines.facts import facts_digest
from registry.engines.launch import parse_launch
from registry.engines.spelling import with_options
from registry.rules import catalogue
from registry.services.cases import Subject, check_case, subject_of, trained_taps_of
from registry.services.ports import Records
from registry.services.profiles import Profiles
from registry.services.ranges import Need, facts_for, need_on
from registry.services.resolving import find_checkpoint, proposed_target

_KEPT: "Final[Memo[tuple[object, ...], Matrix]]" = Memo(256)


async def matrix(*, document: MatrixRequest, records: Records, profiles: Profiles) -> Matrix:
    """Judge a checkpoint on every known build; nothing is stored.

    Args:
        document: the request as it was sent; NAME without a version is the newest.
        records: where checkpoints and targets are.
        profiles: the profiles to judge with.

    Raises:
        Invalid: checkpoint or launch text cannot be read.
        NotFound: there is no such checkpoint, or no build of the named engine is known.
        Refused: the named target is not registered.
    """
    checkpoint = await find_checkpoint(str(document.checkpoint), records=records, pointer="/checkpoint")
    target = await proposed_target(document.target, checkpoint, records=records)
    return matrix_of(subject_of(checkpoint), document, target=target.target, profiles=profiles)


def matrix_of(subject: Subject, request: MatrixRequest, *, target: Target | None, profiles: Profiles) -> Matrix:
    """Judge a checkpoint on every known build.

    Args:
        subject: The checkpoint's facts.
        request: What is proposed for every build; its checkpoint is resolved already.
        target: The target it will run on; None is the one it was trained for.
        profiles: The profiles to judge with.

    Raises:
        Invalid: the launch text cannot be read.
        NotFound: no build of the named engine is known.
    """
    target = target or subject.trained_target
    key = _key(subject, request, target, profiles)
    kept = _KEPT.get(key) if subject.weights_digest else None
    if kept is not None:
        return kept
    made = Matrix(
        checkpoint=subject.ref,
        target=target.name if target else None,
        trained_taps=trained_taps_of(subject.provenance, subject.trained_target, profiles).taps,
        proposed=request.draft_config is not None,
        rows=tuple(
            row for name in _engines(request, profiles) for row in _rows(name, subject, request, target, profiles)
        ),
        profiles=profiles.set_digest,
        rules=catalogue().version,
    )
    return _KEPT.put(key, made)


def _key(subject: Subject, request: MatrixRequest, target: Target | None, profiles: Profiles) -> tuple[object, ...]:
    config = None if request.draft_config is None else json.dumps(dict(request.draft_config), sort_keys=True)
    return (
        subject.ref, subject.weights_digest, subject.provenance_revision, subject.provenance.capture,
        tuple(twin.ref for twin in subject.twins), target, request.engine, request.runner, config, request.launch_text,
        profiles.set_digest, catalogue().version,
    )  # fmt: skip


def _engines(request: MatrixRequest, profiles: Profiles) -> Sequence[str]:
    """Engines whose configs can be written: of others at most the counting is known, and nothing is judged on it."""
    known = [name for name in profiles.engines() if name in engines()]
    if request.engine is None:
        return known
    if request.engine.lower() not in known:
        raise NotFound(
            f"No build of an engine called {request.engine} is known.", hint=f"Known: {', '.join(known)}.",
            pointer="/engine",
        )  # fmt: skip
    return [request.engine.lower()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """One known build with what it is called and what it does."""

    profile: Profile
    facts: str

    @property
    def upstream(self) -> str | None:
        return self.profile.upstream


def _rows(
    name: str, subject: Subject, request: MatrixRequest, target: Target | None, profiles: Profiles
) -> Iterator[MatrixRow]:
    """Yield an engine's rows: ranges of releases, oldest first, then forks."""
    launch = None if request.launch_text is None else parse_launch(request.launch_text, name)
    judged: dict[str, MatrixRow] = {}
    builds = list(_builds(name, subject, request, target, profiles))
    for build in builds:
        if build.facts not in judged:
            row = row_on(build.profile, subject, request, launch, target=target, profiles=profiles)
            # What holds for all builds with these facts: each has a version of its own.
            judged[build.facts] = replace(row, first="", last="")
    releases = [build for build in builds if build.upstream is None]
    for row, stretch in groupby(releases, key=lambda build: judged[build.facts]):
        alike = [build.profile.version for build in stretch]
        yield replace(row, first=alike[0], last=alike[-1], builds=len(alike))
    for build in builds:
        if build.upstream is not None:
            version, same = build.profile.version, _same_as(build, releases)
            yield replace(judged[build.facts], first=version, last=version, upstream=build.upstream, same_as=same)


def _builds(
    name: str, subject: Subject, request: MatrixRequest, target: Target | None, profiles: Profiles
) -> Iterator[_Build]:
    config = subject.inventory.config if request.draft_config is None else request.draft_config
    stored, proposed = first_architecture(subject.inventory.config), first_architecture(config)
    target_class = target.target_class if target else None
    for version in profiles.versions(name):
        build = Build(engine=name, version=version)
        profile = profiles.get(build)
        if profile is None:
            continue
        facts = facts_for(profile, subject, _proposal(subject, request, build, launch=None), target)
        if proposed != stored:
            # What is needed follows from the stored config, the verdict from the proposed one.
            facts += facts_digest(profile, target_class, proposed, None)
        yield _Build(profile=profile, facts=facts)


def _same_as(fork: _Build, releases: Sequence[_Build]) -> str | None:
    """Return a release with the fork's facts, the one it was made from before others."""
    alike = [build.profile.version for build in releases if build.facts == fork.facts]
    return fork.upstream if fork.upstream in alike else next(iter(alike), None)


def _proposal(subject: Subject, request: MatrixRequest, build: Build, *, launch: Launch | None) -> Proposal:
    return Proposal(
        checkpoint=subject.ref,
        build=build,
        target=request.target,
        runner=request.runner,
        draft_config=request.draft_config,
        launch=launch,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A proposal on one build, and how it is judged."""

    proposal: Proposal
    case: Case
    findings: Sequence[Finding]

    @property
    def blocks(self) -> bool:
        return decide(self.findings) == "block"


def row_on(
    profile: Profile,
    subject: Subject,
    request: MatrixRequest,
    launch: Launch | None,
    *,
    target: Target | None,
    profiles: Profiles,
) -> MatrixRow:
    """Return the row of one build by itself.

    Args:
        profile: The build.
        subject: The checkpoint's facts.
        request: What is proposed.
        launch: Its launch options, read for this build's engine.
        target: The target it will run on, or None where none is known.
        profiles: The profiles to judge with.
    """
    proposal = _proposal(subject, _for_runners(request, profile), _build_of(profile), launch=launch)
    judged = _judge(subject, proposal, target, profiles)
    need = need_for(profile, subject, proposal, target, profiles)
    decision, remedy = decide(judged.findings), overall_remedy(judged.findings)
    takes = "nothing" if decision != "block" else _takes(need, judged, remedy, subject, target, profiles)
    used = judged.case.reading.used if judged.case.reading else None
    as_proposed = takes in ("nothing", "option") and used is not None
    return MatrixRow(
        engine=profile.engine,
        first=profile.version,
        last=profile.version,
        decision=decision,
        remedy=remedy,
        takes=takes,
        ids=used.ids if as_proposed and used else need.ids,
        pointer=(used.pointer if as_proposed and used else need.pointer) or None,
        settings=need.settings if takes == "config" else (),
        options=need.options,
        runner=judged.case.reading.runner if judged.case.reading else proposal.runner,
        obstacle="" if takes == "nothing" else need.obstacle,
    )


def _build_of(profile: Profile) -> Build:
    return Build(engine=profile.engine, version=profile.version)


def _for_runners(request: MatrixRequest, profile: Profile) -> MatrixRequest:
    """A runner is asked for where there are several; a build with a single one without a name has no choice."""
    return request if any(runner.name for runner in profile.runners) else replace(request, runner=None)


def _judge(subject: Subject, proposal: Proposal, target: Target | None, profiles: Profiles) -> _Judged:
    case = check_case(subject, proposal, target=target, profiles=profiles)
    return _Judged(proposal=proposal, case=case, findings=catalogue().judge(case, "check"))


def need_for(profile: Profile, subject: Subject, proposal: Proposal, target: Target | None, profiles: Profiles) -> Need:
    """Return what a build needs, or why that cannot be told; a runner that it does not have is no way to serve."""
    trained = trained_taps_of(subject.provenance, subject.trained_target, profiles)
    if trained.taps is None or target is None:
        why = trained.why_unknown if target is not None else "the target is not known"
        return Need(version=profile.version, ids=None, obstacle=why)
    if proposal.runner not in (None, *(runner.name for runner in profile.runners)):
        return Need(version=profile.version, ids=None, obstacle=f"it has no runner {proposal.runner}")
    return need_on(profile, subject, proposal, trained=trained.taps, target=target, profiles=profiles)


def _takes(
    need: Need, judged: _Judged, remedy: Remedy, subject: Subject, target: Target | None, profiles: Profiles
) -> Takes:
    """Return the smallest change of a blocked proposal that no longer blocks, each tried and judged again."""
    if need.ids is None:
        return _remedy(remedy)
    proposal = judged.proposal
    with_launch = replace(proposal, launch=with_options(proposal.launch, _lacking(need, proposal.launch)))
    if with_launch != proposal and not _judge(subject, with_launch, target, profiles).blocks:
        return "option"
    write_ids = engine(proposal.build.engine).write_ids
    profile, used = judged.case.profile, judged.case.reading.used if judged.case.reading else None
    if profile is None or (used is not None and (used.ids, used.pointer) == (need.ids, need.pointer)):
        return "config"
    respelled = write_ids(judged.case.config, need.ids, profile)
    if _judge(subject, replace(with_launch, draft_config=respelled), target, profiles).blocks:
        return "config"
    return "ids" if with_launch == proposal else "ids_and_option"


def _lacking(need: Need, launch: Launch | None) -> tuple[str, ...]:
    return tuple(option for option in need.options if launch is None or not launch.has(option))


_REMEDIES: Final[Mapping[Remedy, Takes]] = {
    Remedy.CONVERT: "convert",
    Remedy.ENGINE: "engine",
    Remedy.OTHER_TARGET: "other_target",
    Remedy.RETRAIN: "retrain",
    Remedy.REJECT: "reject",
    Remedy.UNKNOWN: "unknown",
}


def _remedy(remedy: Remedy) -> Takes:
    """Return what a verdict asks for where no config helps: then an edit of the config is no answer either."""
    return _REMEDIES.get(remedy, "engine")
