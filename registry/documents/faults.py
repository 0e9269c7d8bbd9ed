"""Faults of a document: what is wrong with it and where, all of them at once."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from registry.domain.errors import Invalid

MOST_FAULTS: Final = 100
"""Faults listed per document; a hostile one could have millions."""

_LONGEST_SHOWN = 60
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of a document."""

    pointer: str
    """JSON Pointer (RFC 6901) to the place, empty for the whole document. A missing key is pointed at where it
    would be."""
    message: str
    """What was seen and what was expected, so that `POINTER: MESSAGE` reads as a line."""
    hint: str = ""
    """What to do about it; empty where nothing is known."""

    def __str__(self) -> str:
        """Return the fault as one line."""
        place = self.pointer or "the document"
        return f"{place}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class DocumentError(Invalid):
    """The document is not what its kind must be.

    Attributes:
        kind: the kind of document that was expected, such as `provenance`; `json` where it is not even JSON.
        faults: every fault, ordered by place.
    """

    def __init__(self, kind: str, faults: Iterable[Fault]) -> None:
        self.kind = kind
        self.faults = in_order(faults)
        listed = "; ".join(str(fault) for fault in self.faults)
        many = f"{len(self.faults)} faults: " if len(self.faults) > 1 else ""
        super().__init__(f"{_titled(kind)}: {many}{listed}", pointer=self.faults[0].pointer)


def _titled(kind: str) -> str:
    return "not usable as JSON" if kind == "json" else f"not a valid {kind} document"


def in_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the first `MOST_FAULTS` faults, each once, ordered by place; numbers in pointers count as numbers."""
    unique = dict.fromkeys(faults)
    return tuple(sorted(unique, key=lambda fault: (_place(fault.pointer), fault.message))[:MOST_FAULTS])


def _place(pointer: str) -> tuple[tuple[int, int, str], ...]:
    parts = pointer.split("/")[1:]
    return tuple((0, int(part), "") if re.fullmatch("[0-9]{1,9}", part) else (1, 0, part) for part in parts)


def moved(faults: Iterable[Fault], prefix: str) -> Iterable[Fault]:
    """Yield faults of a part as faults of the document that holds it at `prefix`."""
    for fault in faults:
        yield Fault(pointer=prefix + fault.pointer, message=fault.message, hint=fault.hint)


def escape(key: str) -> str:
    """Return `key` as one JSON Pointer segment (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def printable(text: str) -> str:
    """Return `text` with control characters and lone surrogates escaped, so that any terminal or encoder takes it."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def show(value: object) -> str:
    """Describe a JSON value in words that fit in a sentence."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {_cut(repr(value))}"
        case str():
            return f"the text {_cut(printable(json.dumps(value, ensure_ascii=False)))}" if value else "empty text"
        case list():
            return f"a list of {len(value)}" if value else "an empty list"
        case _:
            return "an object"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
