"""The hash chain over the events of a drafter: each digest covers the event and the digest before it.

The digest is the SHA-256 of the RFC 8785 canonical bytes of `{"actor", "body", "created_at", "drafter", "kind",
"previous", "sequence"}`; `previous` is null in the first event and `created_at` is ISO 8601 in UTC with microseconds.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from registry.documents.canonical import canonical_bytes, sha256_of
from registry.domain.digests import Digest
from registry.domain.errors import IntegrityMismatch
from registry.services.records import Event


def event_digest(
    *,
    drafter: str,
    sequence: int,
    kind: str,
    actor: str,
    body: Mapping[str, object],
    created_at: datetime,
    previous: Digest | None,
) -> Digest:
    """Return the digest of one event.

    Raises:
        Invalid: a text holds half a surrogate pair, which has no canonical bytes.
    """
    covered = {
        "actor": actor,
        "body": body,
        "created_at": created_at.astimezone(UTC).isoformat(timespec="microseconds"),
        "drafter": drafter,
        "kind": kind,
        "previous": previous,
        "sequence": sequence,
    }
    return sha256_of(canonical_bytes(covered))


def verify_chain(events: Iterable[Event]) -> None:
    """Check all events of one drafter, oldest first.

    Raises:
        IntegrityMismatch: an event is missing, out of order or not what was written; it names the first such event.
    """
    previous: Digest | None = None
    for expected, event in enumerate(events, start=1):
        if event.sequence != expected:
            raise IntegrityMismatch(f"Event {expected} of {event.drafter} is missing: {event.sequence} follows.")
        digest = event_digest(
            drafter=event.drafter,
            sequence=event.sequence,
            kind=event.kind,
            actor=event.actor,
            body=event.body,
            created_at=event.created_at,
            previous=previous,
        )
        if digest != event.digest:
            raise IntegrityMismatch(f"Event {expected} of {event.drafter} is not what was written.")
        previous = digest
