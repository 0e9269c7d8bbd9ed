"""Queries over checkpoints: *heads*, which say what a checkpoint consists of, and *bodies*, the parts themselves.

A head is a few hundred bytes and always read. Bodies never change, so they are read once and then remembered.
"""

from typing import Final

from sqlalchemy import Select, and_, bindparam, func, select, true, tuple_
from sqlalchemy.sql.selectable import FromClause, LateralFromClause

from registry.store.tables import checkpoints, drafters, provenance_revisions, targets
from registry.store.targets import FACTS

MOST_TWINS: Final = 20
"""Twins that a checkpoint lists, the first registered: weights under hundreds of names must not slow reads."""


def newest_revision(checkpoint: FromClause, name: str) -> LateralFromClause:
    """Return the newest provenance revision of each row of `checkpoint`, as a lateral called `name`."""
    revisions = provenance_revisions.alias()
    return (
        select(revisions)
        .where(revisions.c.checkpoint_id == checkpoint.c.id)
        .order_by(revisions.c.revision.desc())
        .limit(1)
        .correlate(checkpoint)
        .lateral(name)
    )


_newest = newest_revision(checkpoints, "newest")


def _twins() -> Select[tuple[object]]:
    other, owner = checkpoints.alias("other"), drafters.alias("owner")
    newest = newest_revision(other, "newest_of_other")
    twin = func.jsonb_build_array(owner.c.name, other.c.version, other.c.id, newest.c.revision, newest.c.digest)
    first = (
        select(twin.label("twin"))
        .select_from(other.join(owner, owner.c.id == other.c.drafter_id).join(newest, true()))
        .where(other.c.weights_digest == checkpoints.c.weights_digest, other.c.drafter_id != checkpoints.c.drafter_id)
        .order_by(other.c.id)
        .limit(MOST_TWINS)
        .correlate(checkpoints)
        .lateral("first")
    )
    return select(func.jsonb_agg(first.c.twin)).correlate(checkpoints)


_HEAD: Final = select(
    checkpoints.c.id,
    drafters.c.name,
    checkpoints.c.version,
    checkpoints.c.weights_digest,
    checkpoints.c.created_at,
    _newest.c.revision,
    _newest.c.digest.label("provenance_digest"),
    _newest.c.target_id,
    targets.c.edition,
    targets.c.created_at.label("target_created_at"),
    _twins().scalar_subquery().label("twins"),
).select_from(
    checkpoints.join(drafters, drafters.c.id == checkpoints.c.drafter_id)
    .join(_newest, true())
    .join(targets, targets.c.id == _newest.c.target_id)
)
_OF_DRAFTER: Final = _HEAD.where(drafters.c.name == bindparam("name"))

HEAD_OF_VERSION: Final = _OF_DRAFTER.where(checkpoints.c.version == bindparam("version"))
HEAD_OF_NEWEST: Final = _OF_DRAFTER.where(checkpoints.c.version == drafters.c.versions)
HEAD_OF_WEIGHTS: Final = _OF_DRAFTER.where(checkpoints.c.weights_digest == bindparam("weights_digest"))
HEAD_OF_FIRST_WITH_WEIGHTS: Final = (
    _HEAD.where(checkpoints.c.weights_digest == bindparam("weights_digest")).order_by(checkpoints.c.id).limit(1)
)

REVISION: Final = (
    provenance_revisions.c.revision,
    provenance_revisions.c.document,
    provenance_revisions.c.actor,
    provenance_revisions.c.reason,
    provenance_revisions.c.created_at,
)

BODIES: Final = (
    select(
        checkpoints.c.inventory,
        provenance_revisions.c.document,
        provenance_revisions.c.actor,
        provenance_revisions.c.reason,
        provenance_revisions.c.created_at.label("revised_at"),
        *FACTS,
    )
    .select_from(
        checkpoints.join(provenance_revisions, provenance_revisions.c.checkpoint_id == checkpoints.c.id).join(
            targets, targets.c.id == provenance_revisions.c.target_id
        )
    )
    .where(checkpoints.c.id == bindparam("checkpoint_id"))
    .where(provenance_revisions.c.revision == bindparam("revision"))
)

DOCUMENTS: Final = select(
    provenance_revisions.c.checkpoint_id, provenance_revisions.c.revision, provenance_revisions.c.document
).where(
    tuple_(provenance_revisions.c.checkpoint_id, provenance_revisions.c.revision).in_(
        bindparam("revisions", expanding=True)
    )
)

_other_newest = newest_revision(checkpoints, "newest_of_twin")
TWINS_OF_WEIGHTS: Final = (
    select(
        drafters.c.name,
        checkpoints.c.version,
        checkpoints.c.id,
        _other_newest.c.revision,
        _other_newest.c.digest,
    )
    .select_from(checkpoints.join(drafters, drafters.c.id == checkpoints.c.drafter_id).join(_other_newest, true()))
    .where(checkpoints.c.weights_digest == bindparam("weights_digest"), drafters.c.name != bindparam("name"))
    .order_by(checkpoints.c.id)
    .limit(MOST_TWINS)
)

REVISIONS: Final = (
    select(*REVISION, checkpoints.c.id, provenance_revisions.c.digest)
    .select_from(
        provenance_revisions.join(checkpoints, checkpoints.c.id == provenance_revisions.c.checkpoint_id).join(
            drafters, drafters.c.id == checkpoints.c.drafter_id
        )
    )
    .where(drafters.c.name == bindparam("name"), checkpoints.c.version == bindparam("version"))
    .order_by(provenance_revisions.c.revision)
)

_SUMMARIES: Final = (
    select(
        drafters.c.name,
        checkpoints.c.version,
        checkpoints.c.weights_digest,
        targets.c.name.label("target_name"),
        _newest.c.trained_depths,
        checkpoints.c.created_at,
    )
    .select_from(
        drafters.join(checkpoints, checkpoints.c.drafter_id == drafters.c.id)
        .join(_newest, true())
        .join(targets, targets.c.id == _newest.c.target_id)
    )
    .order_by(drafters.c.name, checkpoints.c.version)
    .limit(bindparam("limit"))
)
# The first condition repeats what the second implies, in words that the index over names understands.
_after = and_(
    drafters.c.name >= bindparam("after_name"),
    tuple_(drafters.c.name, checkpoints.c.version) > tuple_(bindparam("after_name"), bindparam("after_version")),
)
_named = drafters.c.name == bindparam("name")


def summaries(*, named: bool, continued: bool) -> Select[tuple[object, ...]]:
    """Return the listing: of one drafter or all, from the start or after a key."""
    return _SUMMARY_PAGES[named, continued]


_SUMMARY_PAGES: Final = {
    (False, False): _SUMMARIES,
    (False, True): _SUMMARIES.where(_after),
    (True, False): _SUMMARIES.where(_named),
    (True, True): _SUMMARIES.where(_named, checkpoints.c.version > bindparam("after_version")),
}

DRAFTERS: Final = (
    select(
        drafters.c.name,
        drafters.c.versions,
        drafters.c.created_at,
        targets.c.name.label("target_name"),
    )
    .select_from(
        drafters.join(
            checkpoints,
            and_(checkpoints.c.drafter_id == drafters.c.id, checkpoints.c.version == drafters.c.versions),
        )
        .join(_newest, true())
        .join(targets, targets.c.id == _newest.c.target_id)
    )
    .order_by(drafters.c.name)
    .limit(bindparam("limit"))
)
DRAFTERS_AFTER: Final = DRAFTERS.where(drafters.c.name > bindparam("after_name"))
