"""Statements that write checkpoints and provenance, and those that read what the writes depend on.

Each write is one statement, so that a transaction needs few round trips while it holds the drafter's lock.
"""

from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, bindparam, func, select, text, true
from sqlalchemy.dialects.postgresql import JSONB

from registry.store.checkpoint_queries import newest_revision
from registry.store.events import last_event
from registry.store.tables import checkpoints, drafters

_TARGET: Final = """
    SELECT id FROM targets
    WHERE name = :target_name AND (CAST(:target_revision AS text) IS NULL OR revision = :target_revision)
    ORDER BY id DESC LIMIT 1
"""
TARGET: Final = text(_TARGET)

# The target is found first: without it nothing is entered. DO UPDATE changes nothing, and is there for its lock on the
# row and for RETURNING, which DO NOTHING leaves empty.
ENTER: Final = text(
    f"""
    WITH target AS ({_TARGET}), drafter AS (
        INSERT INTO drafters AS known (name, versions, created_at)
        SELECT :name, 0, clock_timestamp() FROM target
        ON CONFLICT ON CONSTRAINT uq_drafters_name DO UPDATE SET versions = known.versions
        RETURNING id
    )
    SELECT target.id AS target_id, drafter.id AS drafter_id FROM target, drafter
    """  # noqa: S608  # put together from constants only
)
LOCK_DRAFTER: Final = select(drafters.c.id).where(drafters.c.name == bindparam("name")).with_for_update(key_share=True)

_last = last_event()
_newest = newest_revision(checkpoints, "newest")
_LINK: Final = (
    drafters.c.versions,
    _last.c.sequence.label("last_sequence"),
    _last.c.digest.label("last_digest"),
    func.clock_timestamp().label("now"),
)
_CHECKPOINT: Final = (
    checkpoints.c.id.label("checkpoint_id"),
    checkpoints.c.version,
    _newest.c.revision,
    _newest.c.digest.label("provenance_digest"),
    _newest.c.document,
    _newest.c.actor,
    _newest.c.reason,
    _newest.c.created_at,
)


def _state(condition: Any) -> Any:
    """Return the query of a drafter's chain and of the one checkpoint that meets `condition`, if there is one."""
    return (
        select(*_LINK, *_CHECKPOINT)
        .select_from(
            drafters.outerjoin(_last, true())
            .outerjoin(checkpoints, (checkpoints.c.drafter_id == drafters.c.id) & condition)
            .outerjoin(_newest, true())
        )
        .where(drafters.c.id == bindparam("drafter_id"))
    )


STATE_WITH_WEIGHTS: Final = _state(checkpoints.c.weights_digest == bindparam("weights_digest"))
STATE_WITH_VERSION: Final = _state(checkpoints.c.version == bindparam("version"))

INSERT_EVENT: Final = """
    INSERT INTO events (drafter_id, sequence, kind, actor, body, digest, created_at)
    SELECT :drafter_id, :event_sequence, :event_kind, :actor, :event_body, :event_digest, :now FROM {after}
"""
"""Appends an event if the part of the statement that is named by `after` wrote anything."""

REGISTER: Final = text(
    f"""
    WITH checkpoint AS (
        INSERT INTO checkpoints (drafter_id, version, weights_digest, inventory, actor, created_at)
        VALUES (:drafter_id, :version, :weights_digest, :inventory, :actor, :now)
        RETURNING id
    ), files AS (
        INSERT INTO checkpoint_files (checkpoint_id, position, name, size, sha256, role)
        SELECT checkpoint.id, file.position, file.name, file.size, file.sha256, file.role
        FROM checkpoint, jsonb_to_recordset(:files)
            AS file (position integer, name text, size bigint, sha256 text, role text)
    ), revision AS (
        INSERT INTO provenance_revisions
            (checkpoint_id, revision, target_id, document, digest, trained_depths, actor, reason, created_at)
        SELECT id, 1, :target_id, :document, :digest, :trained_depths, :actor, :reason, :now FROM checkpoint
    ), counter AS (
        UPDATE drafters SET versions = :version WHERE id = :drafter_id
    ), event AS ({INSERT_EVENT.format(after="checkpoint")})
    SELECT id FROM checkpoint
    """  # noqa: S608  # put together from constants only
).bindparams(
    bindparam("inventory", type_=JSONB),
    bindparam("files", type_=JSONB),
    bindparam("document", type_=JSONB),
    bindparam("event_body", type_=JSONB),
    bindparam("trained_depths", type_=ARRAY(BigInteger)),
)

APPEND_REVISION: Final = text(
    f"""
    WITH revision AS (
        INSERT INTO provenance_revisions
            (checkpoint_id, revision, target_id, document, digest, trained_depths, actor, reason, created_at)
        VALUES
            (:checkpoint_id, :revision, :target_id, :document, :digest, :trained_depths, :actor, :reason, :now)
        RETURNING revision
    )
    {INSERT_EVENT.format(after="revision")}
    """  # noqa: S608  # put together from constants only
).bindparams(
    bindparam("document", type_=JSONB),
    bindparam("event_body", type_=JSONB),
    bindparam("trained_depths", type_=ARRAY(BigInteger)),
)
