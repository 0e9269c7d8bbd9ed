"""Assembling a case: everything the rules may look at, gathered from records, profiles and a reading. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from registry.domain import dialects
from registry.domain.artifact_faults import ArtifactFault
from registry.domain.case import Case, Lineage, LineageEntry, Twin
from registry.domain.digests import Digest
from registry.domain.memo import Memo
from registry.domain.profile import Profile
from registry.domain.proposal import Build, Proposal, parse_build
from registry.domain.provenance import Provenance, TrainedTaps, plain_counting, trained_taps
from registry.domain.reading import Reading
from registry.domain.taps import Taps
from registry.domain.target import Target
from registry.domain.tensors import Inventory
from registry.engines.engine import engine
from registry.engines.reader import Situation, read
from registry.engines.spelling import Spelling, spell_taps
from registry.services.profiles import Profiles
from registry.services.records import CheckpointRecord

_LINEAGES: "Final[Memo[tuple[str, Build, str | None], Lineage]]" = Memo(512)
"""A verdict asks for one lineage several times, and every verdict on a build for the same one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is judged: a checkpoint's facts and the target it was trained for, whether or not it is stored yet."""

    ref: str
    """NAME@N."""
    inventory: Inventory
    provenance: Provenance
    trained_target: Target | None
    weights_digest: Digest | None = None
    provenance_revision: int = 1
    twins: tuple[Twin, ...] = ()


def subject_of(record: CheckpointRecord) -> Subject:
    """Return a stored checkpoint as something to judge."""
    return Subject(
        ref=record.ref,
        inventory=record.inventory,
        provenance=record.provenance.provenance,
        trained_target=record.target.target,
        weights_digest=record.weights_digest,
        provenance_revision=record.provenance.revision,
        twins=record.twins,
    )


def trained_taps_of(provenance: Provenance, target: Target | None, profiles: Profiles) -> TrainedTaps:
    """Turn the dump's numbers into depths by the dump's own counting, and apply the standardization recipe."""
    capture = provenance.capture
    state = capture.verifier_state
    named = () if state is None or state == "separate" else (state.layer,)
    depths = _depths((*capture.layers, *named), provenance, target, profiles)
    if depths is None:
        return trained_taps(provenance, None, verifier_depth=None)
    features = depths[: len(capture.layers)]
    return trained_taps(
        provenance,
        features,
        verifier_depth=depths[-1] if named else None,
        layers=target.layers if target is not None else None,
    )


def dump_profile(provenance: Provenance, profiles: Profiles) -> Profile | None:
    """Return the profile in whose dialect the dump counted; None for a plain counting, and where there is none."""
    counting = provenance.capture.counting
    if plain_counting(counting) is not None:
        return None
    try:
        return profiles.get(parse_build(counting))
    except ValueError:
        return None


def _depths(
    numbers: tuple[int, ...], provenance: Provenance, target: Target | None, profiles: Profiles
) -> tuple[int, ...] | None:
    offset = plain_counting(provenance.capture.counting)
    if offset is not None:
        return tuple(number + offset for number in numbers)
    profile = dump_profile(provenance, profiles)
    if profile is None or target is None or target.layers is None:
        return None
    facts = profile.targets.get(target.target_class or "")
    # One list for features and verifier's state: a conditional dialect looks at the whole of it.
    return dialects.read(facts.dialect, numbers, layers=target.layers) if facts else None


def registration_case(subject: Subject, *, profiles: Profiles, faults: tuple[ArtifactFault, ...] = ()) -> Case:
    """Return the case of a registration: no proposal, no build, no reading."""
    return Case(
        ref=subject.ref,
        weights_digest=subject.weights_digest,
        inventory=subject.inventory,
        provenance=subject.provenance,
        trained=trained_taps_of(subject.provenance, subject.trained_target, profiles),
        trained_target=subject.trained_target,
        target=subject.trained_target,
        config=dict(subject.inventory.config),
        twins=tuple(_with_taps(twin, subject, profiles) for twin in subject.twins),
        faults=faults,
    )


def _with_taps(twin: Twin, subject: Subject, profiles: Profiles) -> Twin:
    """Work out the twin's taps on our target: a record that names another one differs in that already."""
    if twin.provenance is None or not twin.facts_differ:
        return twin
    return replace(twin, trained=trained_taps_of(twin.provenance, subject.trained_target, profiles))


def check_case(subject: Subject, proposal: Proposal, *, target: Target | None, profiles: Profiles) -> Case:
    """Return the case of a proposal, with the build's reading in it where the build is known."""
    profile = profiles.get(proposal.build)
    config = subject.inventory.config if proposal.draft_config is None else proposal.draft_config
    target = target or subject.trained_target
    case = replace(
        registration_case(subject, profiles=profiles),
        target=target,
        proposal=proposal,
        config=dict(config),
        profile=profile,
        lineage=lineage_of(profiles, proposal.build, target.target_class if target else None),
    )
    return case if profile is None or target is None else _with_reading(case, profile, target, config)


def _with_reading(case: Case, profile: Profile, target: Target, config: Mapping[str, object]) -> Case:
    situation = situation_of(case, profile, target, config)
    reading = read(situation)
    if case.trained.taps is not None:
        reading = replace(reading, expressible=_expressible(situation, reading, case.trained.taps))
    return replace(case, target_facts=situation.facts, reading=reading)


def _expressible(situation: Situation, reading: Reading, trained: Taps) -> bool:
    """Whether some id list serves the trained taps; a config that does so already needs no search.

    Ids that read as the trained taps do not help where the class fails when it captures one of them.
    """
    if reading.taps is not None and reading.taps.prefill == reading.taps.decode == trained:
        return reading.failure("depth_zero") is None
    spelled = spell_taps(engine(situation.profile.engine), situation, trained)
    return isinstance(spelled, Spelling) and spelled.reading.failure("depth_zero") is None


def situation_of(case: Case, profile: Profile, target: Target, config: Mapping[str, object]) -> Situation:
    """Return the situation that an engine reads for this case."""
    proposal = case.proposal
    return Situation(
        profile=profile,
        config=config,
        inventory=case.inventory,
        target=target,
        launch=proposal.launch if proposal else None,
        runner=proposal.runner if proposal else None,
    )


def lineage_of(profiles: Profiles, build: Build, target_class: str | None) -> Lineage:
    """Return how the known upstream builds of one engine treat a target class."""
    asked = (profiles.set_digest, build, target_class)
    return _LINEAGES.get(asked) or _LINEAGES.put(asked, _lineage(profiles, build, target_class))


def _lineage(profiles: Profiles, build: Build, target_class: str | None) -> Lineage:
    entries = []
    for version in profiles.upstream(build.engine):
        profile = profiles.get(Build(engine=build.engine, version=version))
        if profile is not None:
            facts = profile.targets.get(target_class or "")
            entries.append(LineageEntry(version=version, facts=facts, ids_hold_in_graphs=profile.graphs.ids_hold))
    return Lineage(entries=tuple(entries), nearest=profiles.nearest(build))
