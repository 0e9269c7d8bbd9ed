"""JSON in and out: strict reading of bytes from strangers, and canonical bytes (RFC 8785) for everything we publish.

What a document must contain is the business of `validation` and of the module of its kind.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import rfc8785

from registry.documents.faults import MOST_FAULTS, DocumentError, Fault, escape, printable
from registry.domain.digests import Digest

MOST_BYTES: Final = 8 << 20
"""Larger documents are refused unread; the largest configs seen are below 1 MiB."""

MOST_DEPTH: Final = 64
"""Nesting beyond this is refused; real documents stay below 12."""

_SAFE_INTEGER = 2**53 - 1
_SAFE_DIGITS = 16
_ALLOWED_CONTROLS = "\t\n\r"

_Place = tuple["_Place", str | int] | None
"""Where a value sits, as a linked list: pointers are spelled only for faults."""


class _BadNumber(float):
    """A number that JSON readers would not agree on; `why` says what is wrong with it."""

    why: str = ""


class _Repeated(dict[str, object]):
    """An object that had equal keys; `names` lists them."""

    names: tuple[str, ...] = ()


def parse_json(data: bytes) -> object:
    """Parse `data` as one JSON document that every reader understands alike.

    Raises:
        DocumentError: not UTF-8, not JSON, too large or too deep; or, all at once and each with its place: repeated
            keys, numbers that doubles cannot hold, control characters, half surrogate pairs.
    """
    value, faults = read(data)
    if faults:
        raise DocumentError("json", faults)
    return value


def read(data: bytes) -> tuple[object, tuple[Fault, ...]]:
    """Parse `data` like `parse_json`, but hand back the faults that leave something to look at.

    Raises:
        DocumentError: nothing can be made of the bytes at all.
    """
    if len(data) > MOST_BYTES:
        raise _unreadable(f"{len(data)} bytes; expected at most {MOST_BYTES}")
    if data.startswith(b"\xef\xbb\xbf"):
        raise _unreadable("starts with a byte order mark", hint="save the file as UTF-8 without one")
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _unreadable(f"not UTF-8 at byte {error.start}", hint="save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise _unreadable(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise _unreadable(f"nested deeper than {MOST_DEPTH} levels") from None
    return _plain(value)


def canonical_bytes(document: object) -> bytes:
    """Return `document` as RFC 8785 canonical JSON. Mappings, tuples and enums of text or numbers are fine.

    Raises:
        DocumentError: it holds something that JSON cannot carry: NaN, an integer beyond 2**53 that is not exactly a
            double, half a surrogate pair, a key that is no text, an object of another type, or nesting without end.
    """
    return rfc8785.dumps(plain(document))  # type: ignore[arg-type]  # plain() returns JSON values only


def plain(value: object) -> object:
    """Return `value` as a copy made of dict, list, str, int, float, bool and None only.

    Raises:
        DocumentError: as for `canonical_bytes`.
    """
    copied, faults = _plain(value)
    if faults:
        raise DocumentError("json", faults)
    return copied


def sha256_of(data: bytes) -> Digest:
    """Return the SHA-256 of `data` in its written form."""
    import hashlib  # noqa: PLC0415  # most client commands digest nothing

    return Digest(f"sha256:{hashlib.sha256(data).hexdigest()}")


def read_mapping(document: Mapping[str, object]) -> tuple[object, tuple[Fault, ...]]:
    """Copy an object that did not come from bytes, with the same checks as `read`."""
    return _plain(document)


def _unreadable(message: str, *, hint: str = "") -> DocumentError:
    return DocumentError("json", [Fault(pointer="", message=message, hint=hint)])


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= _SAFE_DIGITS and abs(int(text)) <= _SAFE_INTEGER else _large_integer(text)


def _large_integer(text: str) -> float:
    """Take a large integer if it is spelled exactly as its double is: then no reader gets another number."""
    value = _finite(text)
    if isinstance(value, _BadNumber) or rfc8785.dumps(value).decode() == text:
        return value
    return _bad(value, f"the integer {_start_of(text)} is beyond 2**53, where JSON readers round")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _bad(0.0, f"the number {_start_of(text)} is beyond every double")


def _constant(name: str) -> float:
    return _bad(0.0, f"{name} is not JSON")


def _bad(value: float, why: str) -> float:
    number = _BadNumber(value)
    number.why = why
    return number


def _start_of(text: str) -> str:
    return text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}..."


_LONGEST_NUMBER = 40


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    names: dict[str, None] = {}
    for name, _ in pairs:
        if name in seen:
            names[name] = None
        seen.add(name)
    repeated = _Repeated(members)
    repeated.names = tuple(names)
    return repeated


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_finite,
    parse_constant=_constant,
)


@dataclass(frozen=True, slots=True)
class _Copy:
    """One copying of a value into plain JSON, and the faults found on the way."""

    faults: list[Fault] = field(default_factory=list)

    def of(self, value: object, place: _Place, depth: int) -> object:
        """Copy `value`, which sits at `place`; recursion is bounded by `MOST_DEPTH`."""
        if value is None or isinstance(value, bool):
            return value
        if type(value) is int and -_SAFE_INTEGER <= value <= _SAFE_INTEGER:  # most of any large document
            return value
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, int | float):
            return self._number(value, place)
        return self._branch(value, place, depth)

    def _branch(self, value: object, place: _Place, depth: int) -> object:
        if depth >= MOST_DEPTH:
            self._fault(place, f"nested deeper than {MOST_DEPTH} levels")
        elif isinstance(value, Mapping):
            return self._members(value, place, depth)
        elif isinstance(value, list | tuple):
            return [self.of(item, (place, index), depth + 1) for index, item in enumerate(value)]
        else:
            self._fault(place, f"a {type(value).__name__} has no place in JSON")
        return None

    def _members(self, value: Mapping[object, object], place: _Place, depth: int) -> dict[str, object]:
        if isinstance(value, _Repeated):
            for name in value.names:
                hint = "keep one of them; readers differ in which one they take"
                self._fault((place, name), f"the key {json.dumps(printable(name))} occurs more than once", hint=hint)
        copied: dict[str, object] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                self._fault(place, f"the key {key!r} is no text")
                continue
            copied[self._text(key, place, noun="a key")] = self.of(item, (place, key), depth + 1)
        return copied

    def _text(self, value: str, place: _Place, *, noun: str = "text") -> str:
        text = str.__str__(value)  # an enum of text as its value
        odd = None if text.isascii() and text.isprintable() else next(filter(_is_odd, text), None)
        if odd is not None:
            name = "half a surrogate pair" if odd > "\x7f" else f"the control character U+{ord(odd):04X}"
            self._fault(place, f"{noun} with {name}")
        return text

    def _number(self, value: float, place: _Place) -> float:
        if isinstance(value, _BadNumber):
            self._fault(place, value.why)
            return float(value)
        if isinstance(value, int):
            number = int(value)
            return number if abs(number) <= _SAFE_INTEGER else self._large(number, place)
        if not math.isfinite(value):
            self._fault(place, f"{value} is not JSON")
            return 0.0
        return float(value)

    def _large(self, number: int, place: _Place) -> float:
        # Converting a huge integer to text takes quadratic time; past 309 digits no double holds it anyway.
        text = str(number) if number.bit_length() < _DOUBLE_BITS else "1" * 400
        checked = _large_integer(text)
        return self._number(checked, place)

    def _fault(self, place: _Place, message: str, *, hint: str = "") -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(pointer=_pointer(place), message=message, hint=hint))


_DOUBLE_BITS = 1025


def _is_odd(character: str) -> bool:
    control = character < " " or character == "\x7f"
    return (control and character not in _ALLOWED_CONTROLS) or "\ud800" <= character <= "\udfff"


def _plain(value: object) -> tuple[object, tuple[Fault, ...]]:
    copying = _Copy()
    copied = copying.of(value, None, 0)
    return copied, tuple(copying.faults)


def _pointer(place: _Place) -> str:
    parts: list[str] = []
    while place is not None:
        place, key = place
        parts.append(printable(escape(str(key))))
    return "".join(f"/{part}" for part in reversed(parts))


def pointer_of(path: Iterable[str | int]) -> str:
    """Spell a path of keys and indices as a JSON Pointer."""
    return "".join(f"/{printable(escape(str(part)))}" for part in path)
