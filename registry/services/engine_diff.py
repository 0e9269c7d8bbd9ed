"""What going from one engine build to another changes: fact by fact, and for every registered checkpoint by judging.

`engine_diff` loads what it needs; `effect_on` is pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from registry.documents.matrix import MatrixRequest
from registry.domain.engine_diff import CheckpointEffect, Effect, EngineDiff
from registry.domain.errors import NotFound
from registry.domain.matrix import MatrixRow, Takes
from registry.domain.profile import Profile
from registry.domain.proposal import Build, Launch, Proposal
from registry.domain.refs import parse_ref
from registry.engines.engine import engines
from registry.engines.profile_diff import changes
from registry.engines.spelling import with_options
from registry.services.cases import Subject, subject_of
from registry.services.documenting import build_of
from registry.services.matrix import need_for, row_on
from registry.services.ports import Records
from registry.services.profile_history import missing
from registry.services.profiles import Profiles
from registry.services.ranges import Need, facts_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which checkpoints are asked about."""

    after: str | None = None
    """The `next` of the page before."""
    limit: int = 100


async def engine_diff(
    before: str, after: str, *, page: Page | None, records: Records, profiles: Profiles
) -> EngineDiff:
    """Compare two builds; nothing is stored.

    Args:
        before: ENGINE==VERSION, what somebody runs.
        after: ENGINE==VERSION, what they would run.
        page: the checkpoints to judge on both; None judges none.
        records: where checkpoints are.
        profiles: the profiles to compare and to judge with.

    Raises:
        Invalid: a name is no build.
        NotFound: there is no profile of a build; the nearest ones are named.
    """
    old, new = _profile(before, profiles), _profile(after, profiles)
    effects, following = None, None
    if page is not None:
        found = await records.checkpoints(after=page.after, limit=page.limit)
        loaded = [await records.checkpoint(summary.name, summary.version) for summary in found.items]
        effects = tuple(effect_on(subject_of(one), old, new, profiles=profiles) for one in loaded if one is not None)
        following = found.next
    return EngineDiff(
        before=old.build,
        after=new.build,
        changes=changes(old, new),
        checkpoints=effects,
        next=following,
        profiles=(old.citation, new.citation),
    )


def _profile(text: str, profiles: Profiles) -> Profile:
    build = build_of(text)
    found = profiles.get(build)
    if found is None:
        raise missing(build, profiles)
    if build.engine not in engines():
        raise NotFound(f"Nothing can be judged on {build}: only how it counts is known.")
    return found


def effect_on(subject: Subject, before: Profile, after: Profile, *, profiles: Profiles) -> CheckpointEffect:
    """Return what going from `before` to `after` asks of a checkpoint on the target it was trained for.

    It begins with the config that serves the trained taps on `before`, and judges that on `after`.

    Args:
        subject: The checkpoint's facts.
        before: The build that it runs on.
        after: The build that it would run on.
        profiles: The profiles to judge with.
    """
    here = Proposal(checkpoint=subject.ref, build=Build(engine=before.engine, version=before.version))
    need = need_for(before, subject, here, subject.trained_target, profiles)
    equal = before.engine == after.engine and _facts(before, subject) == _facts(after, subject)
    row = _row(need, subject, before, after, profiles)
    effect = _effect(need, row)
    return CheckpointEffect(
        checkpoint=subject.ref,
        target=subject.provenance.target.name,
        effect=effect,
        facts_equal=equal,
        ids=row.ids if row.serves else None,
        pointer=row.pointer if row.serves else None,
        options=row.options if row.serves else (),
        sentence=_said(effect, row, need, before, after, equal=equal),
    )


def _facts(profile: Profile, subject: Subject) -> str:
    proposal = Proposal(checkpoint=subject.ref, build=Build(engine=profile.engine, version=profile.version))
    return facts_for(profile, subject, proposal, subject.trained_target)


def _row(need: Need, subject: Subject, before: Profile, after: Profile, profiles: Profiles) -> MatrixRow:
    """Judge on `after` what serves on `before`; where nothing does, the config stored with the checkpoint."""
    config = None if need.ids is None else need.config
    # Options are one engine's words; another engine has its own.
    launch: Launch | None = with_options(None, need.options) if before.engine == after.engine else None
    request = MatrixRequest(checkpoint=parse_ref(subject.ref), draft_config=config)
    return row_on(after, subject, request, launch, target=subject.trained_target, profiles=profiles)


_EFFECTS: Final[Mapping[Takes, Effect]] = {
    "nothing": "nothing",
    "option": "option",
    "ids": "ids",
    "ids_and_option": "ids_and_option",
    "config": "config",
    "convert": "convert",
}


def _effect(need: Need, row: MatrixRow) -> Effect:
    if need.ids is None:
        return "gains" if row.serves else "neither"
    return _EFFECTS.get(row.takes, "stay")


def _said(effect: Effect, row: MatrixRow, need: Need, before: Profile, after: Profile, *, equal: bool) -> str:
    """Put the effect into words."""
    why, there = f": {row.obstacle}" if row.obstacle else "", after.build
    options = " ".join(row.options)
    sentences: Mapping[Effect, str] = {
        "nothing": _kept(row, need, equal=equal),
        "ids": f"{there} needs {_ids(row)}",
        "option": f"{there} needs {options} beside the same config",
        "ids_and_option": f"{there} needs {_ids(row)} and {options}",
        "config": f"{there} needs {_ids(row)} and more of the config changed{_settings(row)}",
        "convert": f"its weights have to be rewritten for {there}{why}",
        "stay": f"stay on {before.build}: {there} does not serve it{why}",
        "gains": f"only {there} serves it, with {_ids(row)}{f' and {options}' if options else ''}",
        "neither": f"neither build serves it{why}",
    }
    return sentences[effect]


def _kept(row: MatrixRow, need: Need, *, equal: bool) -> str:
    if equal:
        return "nothing: every fact that matters for it is the same"
    dropped = [option for option in need.options if option not in row.options]
    return f"nothing: its config serves on both{f'; {dropped[0]} can be dropped' if dropped else ''}"


def _ids(row: MatrixRow) -> str:
    return f"ids [{','.join(map(str, row.ids or ()))}]{f' at {row.pointer}' if row.pointer else ''}"


def _settings(row: MatrixRow) -> str:
    return f" ({', '.join(key for key, _ in row.settings)})" if row.settings else ""
