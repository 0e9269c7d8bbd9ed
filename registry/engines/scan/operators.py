"""Operations on plain values, each bounded: no result larger than the limits, no comparison that runs away."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from registry.engines.scan.limits import LARGEST_NUMBER_BITS, LARGEST_VALUE, Budget, Raised
from registry.engines.scan.values import Value, is_scalar


class TooLarge(Exception):
    """A result would be larger than the limits allow."""


class NotPlain(Exception):
    """The operation needs plain values and was given others."""


_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "FloorDiv": operator.floordiv,
    "Div": operator.truediv, "Mod": operator.mod, "BitAnd": operator.and_, "BitOr": operator.or_,
    "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift, "Pow": operator.pow,
}  # fmt: skip
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip

_NUMBERS = (int, float)
_SIZED = (str, list, tuple)
_HOST_ERRORS = (TypeError, ValueError, ZeroDivisionError, OverflowError, IndexError, KeyError)


def host(action: Callable[[], Value]) -> Value:
    """Run an operation on plain values; an error of Python's own becomes the evaluated code's error."""
    try:
        return action()
    except _HOST_ERRORS as error:
        raise Raised(type(error).__name__, str(error)) from None


def binary(symbol: str, left: Value, right: Value, budget: Budget) -> Value:
    """Return `left symbol right` for plain values.

    Raises:
        Raised: Python would raise.
        TooLarge: the result would exceed the limits.
        NotPlain: the operation is not one that is followed.
    """
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        _check_number(symbol, left, right)
        return host(lambda: _ARITHMETIC[symbol](left, right))
    if symbol == "Mult" and (isinstance(left, _SIZED) or isinstance(right, _SIZED)):
        sized, times = (left, right) if isinstance(left, _SIZED) else (right, left)
        if not isinstance(times, int):
            raise Raised("TypeError", f"can't multiply sequence by non-int of type {_kind(times)!r}")
        _hold(len(sized) * max(times, 0), budget)
        return sized * times
    if symbol == "Add" and isinstance(left, _SIZED) and type(left) is type(right):
        _hold(len(left) + len(right), budget)
        return _ARITHMETIC[symbol](left, right)
    if symbol in ("BitOr", "BitAnd", "Sub", "BitXor") and isinstance(left, set) and isinstance(right, set):
        _hold(len(left) + len(right), budget)
        return _ARITHMETIC[symbol](left, right)
    if symbol == "BitOr" and isinstance(left, dict) and isinstance(right, dict):
        _hold(len(left) + len(right), budget)
        return left | right
    if symbol == "Mod" and isinstance(left, str):
        raise NotPlain  # formatting widths are a way to fill the memory
    raise Raised("TypeError", f"unsupported operand type(s): {_kind(left)!r} and {_kind(right)!r}")


def _check_number(symbol: str, left: Any, right: Any) -> None:
    if isinstance(left, float) or isinstance(right, float):
        if symbol == "Pow":
            raise TooLarge
        return
    bits = max(left.bit_length(), right.bit_length())
    grows = {
        "Mult": left.bit_length() + right.bit_length(),
        "LShift": left.bit_length() + max(right, 0),
        "Pow": max(left.bit_length(), 1) * max(right, 1),
    }.get(symbol, bits)
    if grows > LARGEST_NUMBER_BITS or (symbol == "Pow" and right < 0):
        raise TooLarge


def _hold(count: int, budget: Budget) -> None:
    if count > LARGEST_VALUE or not budget.hold(count):
        raise TooLarge


def ordered(symbol: str, left: Value, right: Value) -> bool:
    """Return `left < right` and the like, for numbers and strings.

    Raises:
        Raised: the values have no order.
        NotPlain: they are containers.
    """
    if (isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS)) or (
        isinstance(left, str) and isinstance(right, str)
    ):
        return _ORDER[symbol](left, right)
    if is_scalar(left) or is_scalar(right):
        raise Raised("TypeError", f"'<' not supported between instances of {_kind(left)!r} and {_kind(right)!r}")
    raise NotPlain


def equal(left: Value, right: Value, budget: Budget, *, depth: int = 0) -> bool:
    """Return `left == right` by content, counting every element: shared parts could make it exponential.

    Raises:
        TooLarge: more was compared than the budget has left, or the values are nested too deeply.
    """
    if not budget.step() or depth > 20:  # noqa: PLR2004  # no config or id list is nested like that
        raise TooLarge
    if left is right:
        return True
    if isinstance(left, list | tuple) and type(left) is type(right):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(equal(a, b, budget, depth=depth + 1) for a, b in pairs)
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            key in right and equal(value, right[key], budget, depth=depth + 1) for key, value in left.items()
        )
    if isinstance(left, set) and isinstance(right, set):
        return budget.step(len(left)) and left == right
    return is_scalar(left) and is_scalar(right) and bool(left == right)


def contains(holder: Value, item: Value, budget: Budget) -> bool:
    """Return `item in holder`.

    Raises:
        Raised: Python would raise.
        TooLarge: the budget is used up.
        NotPlain: an element or a key is not plain.
    """
    if isinstance(holder, str):
        if not isinstance(item, str):
            raise Raised("TypeError", f"'in <string>' requires string as left operand, not {_kind(item)}")
        if not budget.step(len(holder) // 64):
            raise TooLarge
        return item in holder
    if isinstance(holder, dict | set | frozenset):
        return key_of(item) in holder
    if isinstance(holder, range):
        return is_scalar(item) and item in holder
    if isinstance(holder, list | tuple):
        return any(equal(item, entry, budget) for entry in holder)
    raise Raised("TypeError", f"argument of type {_kind(holder)!r} is not iterable")


def key_of(value: Value) -> Value:
    """Return a value that may be a key of a dict or an element of a set: plain, or a flat tuple of plain ones.

    Raises:
        Raised: a list, dict or set is no key.
        NotPlain: the value is none that is followed as a key.
    """
    if is_scalar(value) or (isinstance(value, tuple) and all(is_scalar(part) for part in value)):
        return value
    if isinstance(value, list | dict | set):
        raise Raised("TypeError", f"unhashable type: {_kind(value)!r}")
    raise NotPlain


def text_of(value: Value) -> str:
    """Return `str(value)` for a plain value.

    Raises:
        NotPlain: the value has parts: its text could be far larger than itself.
    """
    if not is_scalar(value):
        raise NotPlain
    return str(value)


def _kind(value: Value) -> str:
    return "NoneType" if value is None else type(value).__name__
