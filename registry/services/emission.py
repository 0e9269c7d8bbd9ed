"""Planning an emission: the files one engine build needs to serve a checkpoint as it was trained. Pure.

What is planned has been read back by the build's own reader and judged by every rule; otherwise nothing is planned.
"""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from registry.documents import engine_profile
from registry.documents import lock as locks
from registry.documents import proposal as proposals
from registry.documents.canonical import canonical_bytes, sha256_of
from registry.documents.fields import FileEntry
from registry.documents.lock import Lock, OptionCost, launch_line
from registry.documents.target import TargetDocument
from registry.domain import digests
from registry.domain.errors import Refused
from registry.domain.profile import Profile
from registry.domain.proposal import Proposal, parse_build
from registry.domain.refs import parse_ref
from registry.domain.taps import spell
from registry.domain.target import Target
from registry.domain.tensors import StoredFile
from registry.domain.verdict import Verdict
from registry.engines.emit import emission_config
from registry.engines.engine import LaunchPlan, engine
from registry.engines.launch import parse_launch
from registry.engines.reader import Situation
from registry.engines.runners import choose_runner
from registry.engines.spelling import NoSpelling, Spelling
from registry.services.cases import Subject, dump_profile, trained_taps_of
from registry.services.judging import judge
from registry.services.profiles import Profiles
from registry.services.refusals import EmissionRefused

CONFIG_NAME: Final = "config.json"

PROFILE_NAME: Final = "roost.profile.json"
"""The build's profile, where it is not one that every installation has: its SHA-256 is the lock's profile digest."""

DUMP_PROFILE_NAME: Final = "roost.dump-profile.json"
"""The profile in whose dialect the dump counted, where it is another such one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmissionPlan:
    """Everything one emission consists of."""

    written: Mapping[str, bytes]
    """Name -> bytes of what is written for this build; the lock comes last."""
    carried: tuple[StoredFile, ...]
    """Files of the checkpoint that go along as they are."""
    lock: Lock
    verdict: Verdict


def plan(
    subject: Subject,
    proposal: Proposal,
    *,
    profiles: Profiles,
    target: TargetDocument,
    trained_target: TargetDocument,
) -> EmissionPlan:
    """Plan the emission of a checkpoint for the proposal's build.

    Args:
        subject: The checkpoint's facts.
        proposal: Checkpoint, build, and perhaps a runner; a draft config or launch in it is not used.
        profiles: The profiles to judge with.
        target: The target it will run on, with its config.
        trained_target: The target it was trained for, with its config.

    Raises:
        EmissionRefused: nothing makes this build serve the trained taps; the verdict says why.
        Refused: a file of the checkpoint has the name of one that is written.
    """
    asked = replace(proposal, draft_config=None, launch=None)
    profile = profiles.get(proposal.build)
    if profile is None:
        raise _refused(f"There is no profile of {proposal.build}.", subject, asked, target.target, profiles)
    spelling = _spelled(subject, asked, profile, target.target, profiles)
    launch = _launch_plan(subject, profile, spelling, target.target)
    line = launch_line(engine(profile.engine).launch_options(launch), launch.environment)
    final = replace(asked, draft_config=spelling.config, launch=parse_launch(line, profile.engine))
    verdict = judge(subject, final, profiles=profiles, target=target.target)
    if verdict.decision == "block":
        detail = f"Nothing is emitted for {proposal.build}: {verdict.headline}."
        raise EmissionRefused(detail, verdict=verdict, hint=_look_at(verdict))
    written = {CONFIG_NAME: _readable(spelling.config)}
    written |= {name: text.encode() for name, text in engine(profile.engine).launch_files(launch).items()}
    written |= _profile_files(profile, dump_profile(subject.provenance, profiles), profiles)
    carried = tuple(file for file in subject.inventory.files if file.role != "config")
    _require_room({*written, locks.FILE_NAME}, carried)
    lock = replace(
        _lock(subject, final, profile, verdict, launch=launch),
        target=target,
        trained_target=None if trained_target == target else trained_target,
        files=_entries(written, carried),
    )
    written[locks.FILE_NAME] = locks.lock_bytes(lock)
    return EmissionPlan(written=written, carried=carried, lock=lock, verdict=verdict)


def _profile_files(serving: Profile, dump: Profile | None, profiles: Profiles) -> dict[str, bytes]:
    """Return the profiles that a node without a network lacks."""
    used = {PROFILE_NAME: serving} | ({DUMP_PROFILE_NAME: dump} if dump is not None and dump != serving else {})
    return {
        name: canonical_bytes(engine_profile.render(profile))
        for name, profile in used.items()
        if profiles.origin(parse_build(profile.build)) != "shipped"
    }


def _require_room(written: AbstractSet[str], carried: tuple[StoredFile, ...]) -> None:
    """Refuse a checkpoint whose files would take the place of what is written beside them."""
    for file in carried:
        taken = next((name for name in (*locks.folders_of(file.name), file.name) if name in written), None)
        if taken is not None:
            raise Refused(
                f"The checkpoint's file {file.name!r} would lie where the emission's {taken!r} belongs.",
                hint="Register the same weights with another folder name for that shard, under another drafter's name.",
            )


def _spelled(subject: Subject, asked: Proposal, profile: Profile, target: Target, profiles: Profiles) -> Spelling:
    trained = trained_taps_of(subject.provenance, subject.trained_target, profiles)
    if trained.taps is None:
        raise _refused(f"The trained taps are unknown: {trained.why_unknown}.", subject, asked, target, profiles)
    situation = Situation(
        profile=profile,
        config=subject.inventory.config,
        inventory=subject.inventory,
        target=target,
        runner=asked.runner,
    )
    spelling = emission_config(engine(profile.engine), situation, trained.taps)
    if isinstance(spelling, NoSpelling):
        detail = f"Nothing makes {profile.build} capture {spell(trained.taps)}: {spelling.reason}."
        raise _refused(detail, subject, asked, target, profiles)
    return spelling


def _refused(detail: str, subject: Subject, asked: Proposal, target: Target, profiles: Profiles) -> EmissionRefused:
    verdict = judge(subject, asked, profiles=profiles, target=target)
    return EmissionRefused(detail, verdict=verdict, hint=_look_at(verdict))


def _look_at(verdict: Verdict) -> str:
    codes = sorted({finding.code for finding in verdict.findings if finding.severity == "error"})
    return f"`roost rule {codes[0]}` explains the first finding." if codes else ""


def _launch_plan(subject: Subject, profile: Profile, spelling: Spelling, target: Target) -> LaunchPlan:
    trained_depth, runner = subject.provenance.training.draft_depth, spelling.reading.runner
    usual, _ = choose_runner(profile, target, None, asked=None)
    # Left to itself the build would take another one, and read otherwise.
    switched = runner is not None and (usual is None or usual.name != runner)
    return LaunchPlan(
        profile=profile,
        runner=runner,
        draft_steps=trained_depth or profile.launch.default_draft_steps,
        options=spelling.options,
        environment=engine(profile.engine).pick_runner(runner) if switched and runner else {},
    )


def _readable(config: Mapping[str, object]) -> bytes:
    """Write a config as upstream tools write theirs: sorted, indented, for people to read too."""
    return (json.dumps(config, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n").encode()


def _entries(written: Mapping[str, bytes], carried: tuple[StoredFile, ...]) -> tuple[FileEntry, ...]:
    made = [FileEntry(name=name, size=len(data), sha256=sha256_of(data)) for name, data in written.items()]
    taken = [FileEntry(name=file.name, size=file.size, sha256=file.sha256) for file in carried]
    return tuple(sorted([*made, *taken], key=lambda entry: entry.name))


def _lock(subject: Subject, final: Proposal, profile: Profile, verdict: Verdict, *, launch: LaunchPlan) -> Lock:
    """Return the lock but for its targets and files."""
    document = proposals.of(final)
    if subject.weights_digest is None or verdict.trained_taps is None or verdict.effective_taps is None:
        msg = "only a registered checkpoint with known taps is emitted"
        raise ValueError(msg)
    return Lock(
        checkpoint=parse_ref(subject.ref),
        weights_digest=subject.weights_digest,
        provenance_revision=subject.provenance_revision,
        provenance=subject.provenance,
        target=TargetDocument(target=Target(name=""), config={}),  # the caller fills targets and files in
        build=final.build,
        runner=verdict.runner,
        profile=profile.citation,
        profile_digest=digests.parse(profile.digest),
        proposal=document,
        proposal_digest=proposals.digest(document),
        trained_taps=verdict.trained_taps,
        effective_taps=verdict.effective_taps,
        findings=verdict.findings,
        decision="warn" if verdict.decision == "warn" else "pass",
        rules=verdict.rules,
        launch=engine(profile.engine).launch_options(launch),
        environment=launch.environment,
        option_costs=tuple(OptionCost(option=option, cost=profile.graphs.cost) for option in launch.options),
        files=(),
    )
