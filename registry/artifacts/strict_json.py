"""JSON from strangers: repeated keys are seen, hostile nesting and numbers are refused instead of crashing.

Python's parser keeps the last of two equal keys, so two readers of one file could see different tensors. Here every
repeated key is reported with its JSON Pointer. What a document must contain is its reader's business.
"""

import json
import math
from dataclasses import dataclass
from typing import Literal

MOST_DEPTH = 64
"""Nesting beyond this is refused; real configs stay below 10."""

_MOST_DIGITS = 309  # no double is longer
_EXACT = 2**53  # beyond it RFC 8785 and most JSON readers round to doubles


class MalformedJsonError(ValueError):
    """The bytes are not JSON that can be exchanged safely; the message says why and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed document and the JSON Pointers of keys that occur more than once."""

    value: object
    repeated: tuple[str, ...] = ()


class _Repeated(dict[str, object]):
    """An object that had equal keys; `names` lists them."""

    names: tuple[str, ...] = ()


def parse(data: bytes, *, numbers: Literal["exact", "interchange"] = "exact") -> Document:
    """Parse `data` as one UTF-8 JSON document.

    Args:
        data: the whole document.
        numbers: `exact` keeps every integer and refuses NaN and Infinity. `interchange` is for configs that Python
            tools wrote: integers beyond 2**53 become doubles, and NaN and Infinity become these words as text, since
            neither canonical JSON nor Postgres can hold them.

    Raises:
        MalformedJsonError: not UTF-8, not JSON, too deep, or holding numbers or characters that cannot be exchanged.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJsonError(f"not UTF-8 at byte {error.start}") from None
    decoder = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_int=None if numbers == "exact" else _interchange_integer,  # a function here costs time per number
        parse_float=_finite,
        parse_constant=_refuse_constant if numbers == "exact" else str,
    )
    try:
        value = decoder.decode(text)
    except RecursionError:
        raise MalformedJsonError(f"nested deeper than {MOST_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"not JSON: {error.msg} at character {error.pos}") from None
    except MalformedJsonError:
        raise
    except ValueError:  # Python's own limit on the digits of an integer
        raise MalformedJsonError("a number with thousands of digits") from None
    return Document(value=value, repeated=_walk(value, check_text=_may_hold_odd_text(data)))


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    repeated = _Repeated(members)
    repeated.names = tuple(dict.fromkeys(name for name, _ in pairs if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
    return repeated


def _interchange_integer(text: str) -> int | float:
    if len(text) > _MOST_DIGITS:
        raise MalformedJsonError(f"a number of {len(text)} digits")
    value = int(text)
    return value if -_EXACT <= value <= _EXACT else _finite(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise MalformedJsonError(f"the number {text[:40]} is beyond every double")
    return value


def _refuse_constant(name: str) -> object:
    raise MalformedJsonError(f"{name} is not JSON")


def _may_hold_odd_text(data: bytes) -> bool:
    # A lone surrogate or U+0000 can only get in as an escape: UTF-8 has no surrogates, JSON no bare control characters.
    return b"\\ud" in data or b"\\uD" in data or b"\\u0000" in data


def _walk(value: object, *, check_text: bool) -> tuple[str, ...]:
    """Check depth and text of the whole tree without recursion; return the pointers of repeated keys."""
    repeated: list[str] = []
    pending: list[tuple[object, str, int]] = [(value, "", 1)]
    while pending:
        node, pointer, depth = pending.pop()
        if depth > MOST_DEPTH and not isinstance(node, str):
            raise MalformedJsonError(f"nested deeper than {MOST_DEPTH} levels")
        if isinstance(node, dict):
            if isinstance(node, _Repeated):
                repeated.extend(f"{pointer}/{escape(name)}" for name in node.names)
            if check_text:
                _check_texts(node, pointer)
            children = ((child, f"{pointer}/{escape(key)}") for key, child in node.items() if _holds(child))
        elif isinstance(node, list):
            children = ((child, f"{pointer}/{place}") for place, child in enumerate(node) if _holds(child))
        else:
            if check_text and isinstance(node, str):
                _check_texts((node,), pointer)
            continue
        pending.extend((child, place, depth + 1) for child, place in children)
    return tuple(sorted(repeated))


def _holds(value: object) -> bool:
    return isinstance(value, (dict, list, str))


def _check_texts(texts: "dict[str, object] | tuple[str, ...]", pointer: str) -> None:
    for text in texts:
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise MalformedJsonError(f"text with U+0000 or half a surrogate pair at {pointer or 'the top'}")


def escape(key: str) -> str:
    """Return `key` as one JSON Pointer segment (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
