"""Differences between two JSON values, member by member: what a conflict shows and what twins disagree about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.domain.errors import Conflict

_ABSENT = None
"""A member that is null says nothing, so it equals a member that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where two documents say different things. None: that side says nothing."""

    pointer: str
    """JSON Pointer (RFC 6901) into both documents; empty for the whole."""
    registered: object
    given: object


class FactsDiffer(Conflict):
    """A record of that identity exists with other facts.

    Attributes:
        difference: where the registered facts and the given ones differ, by pointer.
    """

    def __init__(
        self, detail: str = "", *, difference: tuple[Difference, ...], hint: str = "", pointer: str | None = None
    ) -> None:
        super().__init__(detail, hint=hint, pointer=pointer)
        self.difference = difference


def differences(registered: object, given: object, *, at: str = "") -> tuple[Difference, ...]:
    """Return where two JSON values differ, ordered by pointer.

    Objects are compared member by member, arrays as a whole: `[3, 31, 59]` beside `[2, 30, 58]` tells more than
    three pairs of numbers. A member that is null counts as absent. Numbers are equal by value (1 and 1.0), and a
    boolean never equals a number.

    Args:
        registered: The value on record.
        given: The value to compare with it.
        at: JSON Pointer of both values.
    """
    return tuple(sorted(_differences(registered, given, at=at), key=lambda difference: difference.pointer))


def _differences(registered: object, given: object, *, at: str) -> Iterator[Difference]:
    if isinstance(registered, Mapping) and isinstance(given, Mapping):
        for key in registered.keys() | given.keys():
            place = f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}"
            yield from _differences(registered.get(key, _ABSENT), given.get(key, _ABSENT), at=place)
    elif not _equal(registered, given):
        yield Difference(pointer=at, registered=registered, given=given)


def _equal(one: object, other: object) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return not differences(one, other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other
