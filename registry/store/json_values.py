"""How JSON values enter and leave Postgres."""

import json
from collections.abc import Mapping
from typing import Final

from registry.domain.errors import Invalid

_INEXACT: Final = 2**53
"""From here on not every whole number is a double."""


def dumps(value: object) -> str:
    """Write a JSON value, read-only mappings included.

    Raises:
        Invalid: the value holds NaN or an infinity, which JSON has no words for, or has no end.
    """
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"A value cannot be stored as JSON: {error}.") from error


def loads(text: str | bytes) -> object:
    """Read a JSON value as Postgres gives it back.

    `jsonb` writes 1e300 as a whole number of 301 digits. Whole numbers that a double cannot hold exactly become
    floats again: RFC 8785 knows no others, so canonical bytes survive the way through the database.
    """
    return json.loads(text, parse_int=_whole)


def stored(value: object) -> object:
    """Return `value` as it will be read back, to compare it with what is stored."""
    return loads(dumps(value))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    msg = f"{type(value).__name__} is not a JSON value"
    raise TypeError(msg)


def _whole(digits: str) -> int | float:
    # Every integer of 15 digits is exact, and int() refuses strings of several thousand digits.
    if len(digits) <= 15:  # noqa: PLR2004  # explained above
        return int(digits)
    number = float(digits)
    return int(digits) if abs(number) < _INEXACT else number
