"""The chain over a drafter's events: its bytes are specified, and every change of an event shows."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from registry.domain.errors import IntegrityMismatch, Invalid
from registry.services.records import Event
from registry.store.chain import event_digest, verify_chain

WHEN = datetime(2026, 1, 31, 12, 0, 0, 5, tzinfo=UTC)


def chain(length: int) -> list[Event]:
    events, previous = [], None
    for sequence in range(1, length + 1):
        covered = {
            "drafter": "kimi", "sequence": sequence, "kind": "verdict.stored", "actor": "ada",
            "body": {"n": sequence}, "created_at": WHEN,
        }  # fmt: skip
        previous = event_digest(**covered, previous=previous)
        events.append(Event(**covered, digest=previous))
    return events


def test_the_digest_is_over_the_specified_bytes():
    written = (
        b'{"actor":"ada","body":{"n":1},"created_at":"2026-01-31T12:00:00.000005+00:00","drafter":"kimi",'
        b'"kind":"verdict.stored","previous":null,"sequence":1}'
    )
    assert chain(1)[0].digest == f"sha256:{hashlib.sha256(written).hexdigest()}"


def test_a_sound_chain_is_sound_and_so_is_none():
    verify_chain(chain(5))
    verify_chain([])


@pytest.mark.parametrize(
    "change",
    [{"actor": "eve"}, {"body": {"n": 9}}, {"drafter": "other"}, {"created_at": WHEN + timedelta(microseconds=1)}],
)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_changed_event_is_named(change, at):
    events = chain(3)
    events[at] = replace(events[at], **change)
    with pytest.raises(IntegrityMismatch, match=f"Event {at + 1} of"):
        verify_chain(events)


def test_an_event_cannot_be_replaced_together_with_its_digest():
    events, other = chain(3), chain(3)
    covered = {
        "drafter": "kimi",
        "sequence": 2,
        "kind": "verdict.stored",
        "actor": "eve",
        "body": {},
        "created_at": WHEN,
    }
    other[1] = Event(**covered, digest=event_digest(**covered, previous=events[0].digest))
    with pytest.raises(IntegrityMismatch, match="Event 3 of"):
        verify_chain(other)


@pytest.mark.parametrize("left", [(0, 2), (1, 2), (0, 1, 1), (1, 0, 2)])
def test_a_missing_repeated_or_moved_event_is_noticed(left):
    events = chain(3)
    with pytest.raises(IntegrityMismatch):
        verify_chain([events[index] for index in left])


def test_the_same_instant_in_another_zone_is_the_same():
    moved = [replace(e, created_at=e.created_at.astimezone(timezone(timedelta(hours=9)))) for e in chain(2)]
    verify_chain(moved)


def test_text_without_canonical_bytes_is_invalid():
    with pytest.raises(Invalid):
        event_digest(
            drafter="kimi", sequence=1, kind="verdict.stored", actor="\ud800", body={}, created_at=WHEN, previous=None
        )
