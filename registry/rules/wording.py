"""Wording: how numbers, lists and ids are spelled in messages."""

from collections.abc import Iterable, Sequence
from typing import Final

_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six")
_MOST_NAMED: Final = 4


def number(count: int) -> str:
    """Spell a small count: `three`; larger ones as digits."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def counted(count: int, noun: str) -> str:
    """Spell a count with its noun: `one tap`, `three taps`."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def id_list(ids: Sequence[int]) -> str:
    """Spell ids as a config holds them: `[3,31,59]`."""
    return "[" + ",".join(str(one) for one in ids) + "]"


def listing(names: Iterable[str]) -> str:
    """List names, a few of them: `a, b, c, d and 7 more`."""
    every = list(names)
    rest = len(every) - _MOST_NAMED
    return ", ".join(every) if rest <= 0 else f"{', '.join(every[:_MOST_NAMED])} and {rest} more"


def plural(count: int, one: str, many: str) -> str:
    """Choose a verb or noun by count."""
    return one if count == 1 else many
