"""Events in Postgres: the newest link of a drafter's chain, and the event that follows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.sql.selectable import LateralFromClause

from registry.domain.digests import Digest
from registry.services.records import Event
from registry.store.access import AnyRow
from registry.store.chain import event_digest
from registry.store.tables import drafters, events

EVENTS_OF_DRAFTER: Final = (
    select(
        drafters.c.name.label("drafter"),
        events.c.sequence,
        events.c.kind,
        events.c.actor,
        events.c.body,
        events.c.digest,
        events.c.created_at,
    )
    .join_from(events, drafters, events.c.drafter_id == drafters.c.id)
    .where(drafters.c.name == bindparam("name"))
    .order_by(events.c.sequence)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where the next event of a drafter goes. Only who holds the drafter's row lock may use it."""

    drafter: str
    last_sequence: int
    """0: no event yet."""
    last_digest: Digest | None
    now: datetime

    def parameters(self, kind: str, *, actor: str, body: Mapping[str, object]) -> dict[str, object]:
        """Return the values that the statements of this package insert as `event_*`.

        Raises:
            Invalid: a text cannot be stored.
        """
        digest = event_digest(
            drafter=self.drafter,
            sequence=self.last_sequence + 1,
            kind=kind,
            actor=actor,
            body=body,
            created_at=self.now,
            previous=self.last_digest,
        )
        return {
            "event_sequence": self.last_sequence + 1,
            "event_kind": kind,
            "event_body": body,
            "event_digest": digest,
            "actor": actor,
            "now": self.now,
        }


def last_event() -> LateralFromClause:
    """Return the newest event of the drafter of the enclosing query, to be joined from the left."""
    return (
        select(events.c.sequence, events.c.digest)
        .where(events.c.drafter_id == drafters.c.id)
        .order_by(events.c.sequence.desc())
        .limit(1)
        .correlate(drafters)
        .lateral("last_event")
    )


def event_of(row: AnyRow) -> Event:
    """Return the event in a row of `EVENTS_OF_DRAFTER`."""
    return Event(
        drafter=row.drafter,
        sequence=row.sequence,
        kind=row.kind,
        actor=row.actor,
        body=row.body,
        digest=row.digest,
        created_at=row.created_at,
    )
