"""Ranges: on which known builds a checkpoint serves what it was trained on, and what each of them needs for it.

The needs of a build do not depend on the proposed config, so they are kept per (checkpoint, provenance revision,
target, runner, profile set, rules). Whether a build takes the proposed config as it is, is kept beside them per config
and launch: launch scripts ask the same question again and again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from registry.domain.findings import Severity
from registry.domain.memo import Memo
from registry.domain.profile import Profile
from registry.domain.proposal import Build, Proposal
from registry.domain.taps import Taps
from registry.domain.target import Target
from registry.domain.verdict import decide
from registry.engines.config_ids import POINTERS
from registry.engines.draft_config import apply, setting
from registry.engines.draft_load import first_architecture, tap_count
from registry.engines.emit import emission_config
from registry.engines.engine import engine
from registry.engines.facts import facts_digest
from registry.engines.reader import Situation, read
from registry.engines.spelling import Spelling, with_options
from registry.rules import catalogue
from registry.services.cases import Subject, check_case, trained_taps_of
from registry.services.profiles import Profiles

TAP_COUNT: Final = "num_aux_hidden_states"

_ID_ROOTS: Final = frozenset(pointer.split("/")[1] for pointer in POINTERS)
_NO_RULE_LOOKS_AT: Final = _ID_ROOTS | {TAP_COUNT, "transformers_version", "_name_or_path", "trust_remote_code"}
"""Top-level keys that decide nothing beyond what a reading shows."""

_SETTLED: Final = ("architectures", "num_hidden_layers", "draft_vocab_size", "tie_word_embeddings", "bias")
"""Top-level keys that an emission corrects by what the tensors show."""

_NEEDS: "Final[Memo[tuple[object, ...], tuple[Need, ...]]]" = Memo(512)
_SPANS: "Final[Memo[tuple[object, ...], tuple[Span, ...]]]" = Memo(2048)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one build needs to serve the trained taps."""

    version: str
    ids: tuple[int, ...] | None
    """None: nothing makes this build serve them."""
    pointer: str = ""
    """Where the draft config spells these ids; empty without ids."""
    settings: tuple[tuple[str, object], ...] = ()
    """Further top-level keys of the draft config without whose values this build would not serve."""
    config: Mapping[str, object] = field(default_factory=dict)
    """The draft config that was judged; empty where nothing serves."""
    options: tuple[str, ...] = ()
    obstacle: str = ""
    """Why nothing does, in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Consecutive known builds that need the same."""

    first: str
    last: str
    as_proposed: bool
    ids: tuple[int, ...] | None
    options: tuple[str, ...]
    obstacle: str
    pointer: str = ""
    """Where the first build of the span reads the ids; for a drafter of no taps, what switches capturing off."""
    settings: tuple[tuple[str, object], ...] = ()
    """Further top-level keys of the draft config, with the values that these builds need."""

    @property
    def serves(self) -> bool:
        """Whether the builds of this span can serve the trained taps at all."""
        return self.ids is not None


def spans(subject: Subject, proposal: Proposal, *, target: Target | None, profiles: Profiles) -> tuple[Span, ...]:
    """Return the known upstream builds of the proposal's engine, oldest first, collapsed into spans."""
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


def _checkpoint_key(subject: Subject, proposal: Proposal, target: Target, profiles: Profiles) -> tuple[object, ...]:
    return (
        subject.ref, subject.weights_digest, subject.provenance_revision, subject.provenance.capture, target,
        proposal.build.engine, proposal.runner, profiles.set_digest, catalogue().version,
    )  # fmt: skip


def _config_key(subject: Subject, proposal: Proposal) -> str:
    return json.dumps(dict(_config(subject, proposal)), sort_keys=True)


def _launch_key(proposal: Proposal) -> tuple[object, ...] | None:
    launch = proposal.launch
    return (
        None
        if launch is None
        else (tuple(launch.options.items()), tuple(launch.environment.items()), launch.speculation)
    )


def _sameness(row: tuple[bool, Need]) -> tuple[object, ...]:
    as_proposed, need = row
    spelled = None if as_proposed else (need.ids, need.settings)
    return as_proposed, spelled, need.options, need.obstacle


def _span(rows: Sequence[tuple[bool, Need]]) -> Span:
    as_proposed, need = rows[0]
    return Span(
        first=need.version,
        last=rows[-1][1].version,
        as_proposed=as_proposed,
        ids=need.ids,
        options=need.options,
        obstacle=need.obstacle,
        pointer=need.pointer,
        settings=need.settings,
    )


def _needs(subject: Subject, proposal: Proposal, trained: Taps, target: Target, profiles: Profiles) -> tuple[Need, ...]:
    key = _checkpoint_key(subject, proposal, target, profiles)
    kept = _NEEDS.get(key) if subject.weights_digest else None
    if kept is not None:
        return kept
    return _NEEDS.put(key, tuple(_each_need(subject, proposal, trained, target, profiles)))


def _each_need(
    subject: Subject, proposal: Proposal, trained: Taps, target: Target, profiles: Profiles
) -> Iterator[Need]:
    """Yield the need of every upstream build; builds with equal facts need the same, which is worked out once."""
    known: dict[str, Need] = {}
    for version in profiles.upstream(proposal.build.engine):
        profile = profiles.get(Build(engine=proposal.build.engine, version=version))
        if profile is None:
            yield Need(version=version, ids=None, obstacle="no profile")
            continue
        facts = facts_for(profile, subject, proposal, target)
        if facts not in known:
            known[facts] = need_on(profile, subject, proposal, trained=trained, target=target, profiles=profiles)
        yield replace(known[facts], version=version)


def facts_for(profile: Profile, subject: Subject, proposal: Proposal, target: Target | None) -> str:
    """Return the digest of the facts of a build that matter for a proposal of this checkpoint, whatever its config."""
    asked = proposal.runner if proposal.runner in {runner.name for runner in profile.runners} else None
    target_class = target.target_class if target else None
    return facts_digest(profile, target_class, first_architecture(subject.inventory.config), asked)


def need_on(
    profile: Profile,
    subject: Subject,
    proposal: Proposal,
    *,
    trained: Taps,
    target: Target,
    profiles: Profiles,
) -> Need:
    """Spell the trained taps for one build and judge what was spelled with every rule.

    The config stored with the checkpoint is spelled anew, without launch options; of the proposal only checkpoint,
    target and runner count, and a runner that the build does not have is as none.
    """
    build, version = Build(engine=profile.engine, version=profile.version), profile.version
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
    return Need(
        version=version,
        ids=spelled.ids,
        pointer=spelled.pointer,
        options=spelled.options,
        settings=tuple(_settings(profile, subject.inventory.config, spelled)),
        config=spelled.config,
    )


def _settings(profile: Profile, stored: Mapping[str, object], spelled: Spelling) -> Iterator[tuple[str, object]]:
    """Yield what the emitted config changes beside the ids, as far as this build would not serve without it."""
    for key, value in spelled.config.items():
        if key not in _ID_ROOTS and key in _SETTLED and (key not in stored or stored[key] != value):
            yield key, value
    count = spelled.config.get(TAP_COUNT)
    draft = profile.draft(first_architecture(spelled.config) or "")
    if draft is not None and count is not None and stored.get(TAP_COUNT) != count:
        left = apply(stored, setting(stored, spelled.pointer, list(spelled.ids) or False))
        if tap_count(draft, left)[0] != count:
            yield TAP_COUNT, count


def _short(reason: str, build: Build) -> str:
    return reason.replace(f" on {build}", "").replace(f"{build} ", "")


def _as_proposed(
    need: Need, subject: Subject, proposal: Proposal, trained: Taps, target: Target, profiles: Profiles
) -> bool:
    """Whether the build reads the proposed config as the trained taps, with the options it needs anyway."""
    profile = profiles.get(Build(engine=proposal.build.engine, version=need.version))
    if need.ids is None or profile is None:
        return False
    config = _config(subject, proposal)
    situation = _situation(profile, subject, proposal, target, config=dict(config), launch=True)
    reading = read(replace(situation, launch=with_options(situation.launch, need.options)))
    reads = (
        reading.taps is not None
        and not reading.failures
        and (reading.used is not None or not trained)
        and reading.taps.prefill == reading.taps.decode == trained
    )
    if not reads or _same_but_for_ids(config, need.config):
        return reads
    there = replace(
        proposal, build=Build(engine=profile.engine, version=profile.version), runner=situation.runner,  # type: ignore[arg-type]
        launch=with_options(situation.launch, need.options),
    )  # fmt: skip
    return decide(catalogue().judge(check_case(subject, there, target=target, profiles=profiles), "check")) != "block"


def _same_but_for_ids(config: Mapping[str, object], judged: Mapping[str, object]) -> bool:
    """Tell whether two configs differ in nothing but what a reading looks at: then what was judged of one holds."""
    return _without_ids(config) == _without_ids(judged)


def _without_ids(config: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in config.items() if key not in _NO_RULE_LOOKS_AT}


def _config(subject: Subject, proposal: Proposal) -> Mapping[str, object]:
    return subject.inventory.config if proposal.draft_config is None else proposal.draft_config


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
