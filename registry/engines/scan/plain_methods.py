"""Methods of plain values that evaluated code may call: those whose cost and result are bounded."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from registry.engines.scan.limits import LARGEST_VALUE, Budget, Raised
from registry.engines.scan.operators import NotPlain, TooLarge, equal, host, key_of, ordered
from registry.engines.scan.values import Value, is_scalar

Method = Callable[[Any, list[Value], Budget], Value]


def find(holder: Value, name: str) -> Method | None:
    """Return the method of a plain value, or None where it is not followed.

    Raises:
        Raised: the value has no attribute of that name.
    """
    kind = next((kind for kind in (str, list, dict, set, tuple) if isinstance(holder, kind)), None)
    if kind is None or not hasattr(kind, name):
        raise Raised("AttributeError", f"{type(holder).__name__!r} object has no attribute {name!r}")
    return _METHODS[kind].get(name)


def ranked(values: list[Value], budget: Budget, *, backwards: bool = False) -> list[Value]:
    """Return values in order.

    Raises:
        Raised: they have no common order.
        NotPlain: they are not plain.
        TooLarge: the budget is used up.
    """
    hold(len(values) * 4, budget)
    if not all(is_scalar(value) for value in values):
        raise NotPlain
    return list(host(lambda: sorted(values, reverse=backwards)))


def hold(count: int, budget: Budget) -> None:
    """Count elements of a new or growing container.

    Raises:
        TooLarge: that is more than the limits allow.
    """
    if not budget.hold(count):
        raise TooLarge


def _grow(holder: list[Value], more: list[Value], budget: Budget) -> None:
    if len(holder) + len(more) > LARGEST_VALUE:
        raise TooLarge
    hold(len(more), budget)
    holder.extend(more)


def _as_list(value: Value) -> list[Value]:
    if isinstance(value, list | tuple | dict | set | range | str):
        if len(value) > LARGEST_VALUE:
            raise TooLarge
        return list(value)
    if is_scalar(value):
        raise Raised("TypeError", f"{type(value).__name__!r} object is not iterable")
    raise NotPlain


def _insert(holder: list[Value], args: list[Value], budget: Budget) -> None:
    place, item = _whole(args[0]), args[1]
    _grow(holder, [], budget)
    hold(1, budget)
    holder.insert(place, item)


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise Raised("TypeError", f"{type(value).__name__!r} object cannot be interpreted as an integer")
    return value


def _index(holder: list[Value], args: list[Value], budget: Budget) -> int:
    for place, entry in enumerate(holder):
        if equal(entry, args[0], budget):
            return place
    raise Raised("ValueError", "the value is not in the list")


def _remove(holder: list[Value], args: list[Value], budget: Budget) -> None:
    del holder[_index(holder, args, budget)]


def _sort(holder: list[Value], args: list[Value], budget: Budget) -> None:
    if args:
        raise NotPlain
    holder[:] = ranked(holder, budget)


def _reverse(holder: list[Value], _args: list[Value], budget: Budget) -> None:
    hold(len(holder), budget)
    holder.reverse()


def _pop(holder: list[Value], args: list[Value], _budget: Budget) -> Value:
    return host(lambda: holder.pop(*[_whole(arg) for arg in args]))


def _copy(holder: Any, _args: list[Value], budget: Budget) -> Value:
    hold(len(holder), budget)
    return holder.copy()


def _get(holder: dict[Value, Value], args: list[Value], _budget: Budget) -> Value:
    return holder.get(key_of(args[0]), args[1] if len(args) > 1 else None)


def _dict_pop(holder: dict[Value, Value], args: list[Value], _budget: Budget) -> Value:
    key = key_of(args[0])
    if key not in holder and len(args) < 2:  # noqa: PLR2004  # no default
        raise Raised("KeyError", repr(key)[:80])
    return holder.pop(key, args[1] if len(args) > 1 else None)


def _setdefault(holder: dict[Value, Value], args: list[Value], budget: Budget) -> Value:
    hold(1, budget)
    return holder.setdefault(key_of(args[0]), args[1] if len(args) > 1 else None)


def _update(holder: Any, args: list[Value], budget: Budget) -> None:
    for other in args:
        if isinstance(holder, dict):
            if not isinstance(other, dict):
                raise NotPlain
            hold(len(other), budget)
            holder.update(other)
        else:
            items = [key_of(item) for item in _as_list(other)]
            hold(len(items), budget)
            holder.update(items)


def _items(holder: dict[Value, Value], _args: list[Value], budget: Budget) -> list[Value]:
    hold(len(holder) * 3, budget)
    return list(holder.items())


def _keys(holder: dict[Value, Value], _args: list[Value], budget: Budget) -> list[Value]:
    hold(len(holder), budget)
    return list(holder)


def _values(holder: dict[Value, Value], _args: list[Value], budget: Budget) -> list[Value]:
    hold(len(holder), budget)
    return list(holder.values())


def _add(holder: set[Value], args: list[Value], budget: Budget) -> None:
    hold(1, budget)
    holder.add(key_of(args[0]))


def _combined(name: str) -> Method:
    def run(holder: set[Value], args: list[Value], budget: Budget) -> Value:
        others = [{key_of(item) for item in _as_list(arg)} for arg in args]
        hold(len(holder) + sum(len(other) for other in others), budget)
        return getattr(holder, name)(*others)

    return run


def _clear(holder: Any, _args: list[Value], _budget: Budget) -> None:
    holder.clear()


def _replace(holder: str, args: list[Value], budget: Budget) -> str:
    old, new = _text(args[0]), _text(args[1])
    hold((len(holder) + (holder.count(old) + 1) * len(new)) // 16 + 1, budget)
    if (holder.count(old) + 1) * len(new) + len(holder) > LARGEST_VALUE:
        raise TooLarge
    return holder.replace(old, new)


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise Raised("TypeError", f"expected a string, got {type(value).__name__}") if is_scalar(value) else NotPlain
    return value


def _join(holder: str, args: list[Value], budget: Budget) -> str:
    parts = [_text(part) for part in _as_list(args[0])]
    hold(sum(len(part) + len(holder) for part in parts) + 1, budget)
    return holder.join(parts)


def _string(name: str) -> Method:
    """Return a method of strings that takes plain arguments and gives at most its own length of plain results."""

    def run(holder: str, args: list[Value], budget: Budget) -> Value:
        for arg in args:
            _plain(arg)
        hold(len(holder) // 4 + 1, budget)
        result = host(lambda: getattr(holder, name)(*args))
        if isinstance(result, list):
            hold(len(result), budget)
        return result

    return run


def _plain(value: Value) -> None:
    if not (is_scalar(value) or (isinstance(value, tuple) and all(is_scalar(part) for part in value))):
        raise NotPlain


def _count(holder: list[Value], args: list[Value], budget: Budget) -> int:
    return sum(equal(entry, args[0], budget) for entry in holder)


_STRING_METHODS: Final = (
    "startswith", "endswith", "split", "rsplit", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "lower",
    "upper", "isdigit", "isnumeric", "partition", "rpartition", "find", "rfind", "count", "splitlines",
)  # fmt: skip

_METHODS: Final[Mapping[type, Mapping[str, Method]]] = {
    str: {"replace": _replace, "join": _join, **{name: _string(name) for name in _STRING_METHODS}},
    tuple: {"index": _index, "count": _count},
    list: {
        "append": lambda holder, args, budget: _grow(holder, args[:1], budget),
        "extend": lambda holder, args, budget: _grow(holder, _as_list(args[0]), budget),
        "insert": _insert,
        "pop": _pop,
        "remove": _remove,
        "index": _index,
        "count": _count,
        "copy": _copy,
        "clear": _clear,
        "sort": _sort,
        "reverse": _reverse,
    },
    dict: {
        "get": _get, "items": _items, "keys": _keys, "values": _values, "pop": _dict_pop, "update": _update,
        "setdefault": _setdefault, "copy": _copy, "clear": _clear,
    },
    set: {
        "add": _add,
        "update": _update,
        "discard": lambda holder, args, _budget: holder.discard(key_of(args[0])),
        "copy": _copy,
        "clear": _clear,
        **{name: _combined(name) for name in ("union", "intersection", "difference", "issubset", "issuperset")},
    },
}  # fmt: skip


def extreme(values: list[Value], budget: Budget, *, largest: bool) -> Value:
    """Return the largest or smallest of plain values.

    Raises:
        Raised: there is none, or they have no common order.
        NotPlain: they are not plain.
        TooLarge: the budget is used up.
    """
    if not values:
        raise Raised("ValueError", "min() or max() of an empty sequence")
    best = values[0]
    for value in values:
        if not budget.step():
            raise TooLarge
        if not is_scalar(value):
            raise NotPlain
        if ordered("Gt" if largest else "Lt", value, best):
            best = value
    return best
