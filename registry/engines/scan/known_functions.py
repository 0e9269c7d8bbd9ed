"""Builtin functions that evaluated code may call, each on plain values and stubs and within the limits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from registry.engines.scan.limits import Raised
from registry.engines.scan.operators import NotPlain, TooLarge, host, key_of, text_of
from registry.engines.scan.plain_methods import extreme, ranked
from registry.engines.scan.values import (
    LAYER,
    ClassValue,
    Function,
    Instance,
    Native,
    Opaque,
    Super,
    Value,
    is_scalar,
    is_unknown,
)

if TYPE_CHECKING:
    from registry.engines.scan.expressions import Expressions
from registry.engines.scan.scope import Scope

Known = Callable[["Expressions", "Scope", list[Value], dict[str, Value]], Value]

_LONGEST_NUMBER: Final = 64
"""Characters of a number in text."""


def find(name: str) -> Known | None:
    """Return a builtin by name, or None where it is none that is followed."""
    return _FUNCTIONS.get(name)


def _elements(ev: Expressions, scope: Scope, value: Value) -> list[Value]:
    return ev.elements(value, _NOWHERE, scope)


_NOWHERE: Final = ast.Pass(lineno=0)
"""Stands for the place of a builtin's own loops."""


def _unknown_among(args: list[Value]) -> Opaque | None:
    return next((arg for arg in args if isinstance(arg, Opaque)), None)


def _passing_unknown(function: Known) -> Known:
    """Return the function with unknown arguments giving an unknown result."""

    def run(ev: Expressions, scope: Scope, args: list[Value], kwargs: dict[str, Value]) -> Value:
        unknown = _unknown_among(args)
        if unknown is not None:
            return Opaque(f"a result from {unknown.label}", parts=args)
        try:
            return function(ev, scope, args, kwargs)
        except IndexError:
            raise Raised("TypeError", "arguments are missing") from None

    return run


def _len(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if isinstance(value, str | list | tuple | dict | set | range):
        return host(lambda: len(value))
    if is_scalar(value):
        raise Raised("TypeError", f"object of type {type(value).__name__!r} has no len()")
    raise NotPlain


def _extreme(*, largest: bool) -> Known:
    def run(ev: Expressions, scope: Scope, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if "key" in kwargs:
            raise NotPlain
        values = _elements(ev, scope, args[0]) if len(args) == 1 else args
        if not values and "default" in kwargs:
            return kwargs["default"]
        if _unknown_among(values):
            return Opaque("an extreme of unknown values")
        return extreme(values, ev.budget, largest=largest)

    return run


def _sum(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    total: Value = args[1] if len(args) > 1 else 0
    for value in _elements(ev, scope, args[0]):
        total = ev.operate("Add", total, value)
    return total


def _sorted(ev: Expressions, scope: Scope, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if "key" in kwargs:
        raise NotPlain
    values = _elements(ev, scope, args[0])
    if _unknown_among(values):
        return Opaque("unknown values in order")
    backwards = kwargs.get("reverse", False)
    return ranked(values, ev.budget, backwards=bool(backwards) if is_scalar(backwards) else False)


def _list(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return _elements(ev, scope, args[0]) if args else []


def _tuple(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return tuple(_elements(ev, scope, args[0])) if args else ()


def _set(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return {key_of(value) for value in _elements(ev, scope, args[0])} if args else set()


def _dict(ev: Expressions, scope: Scope, args: list[Value], kwargs: dict[str, Value]) -> Value:
    built: dict[Value, Value] = {}
    if args and isinstance(args[0], dict):
        if not ev.budget.hold(len(args[0])):
            raise TooLarge
        built.update(args[0])
    elif args:
        for pair in _elements(ev, scope, args[0]):
            if not isinstance(pair, tuple | list) or len(pair) != 2:  # noqa: PLR2004  # key and value
                raise NotPlain
            built[key_of(pair[0])] = pair[1]
    return built | kwargs


def _range(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    if not all(isinstance(arg, int) for arg in args):
        raise Raised("TypeError", "range() takes integers")
    return host(lambda: range(*args))


def _enumerate(ev: Expressions, scope: Scope, args: list[Value], kwargs: dict[str, Value]) -> Value:
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if not isinstance(start, int):
        raise NotPlain
    return [(place + start, value) for place, value in enumerate(_elements(ev, scope, args[0]))]


def _zip(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return list(zip(*[_elements(ev, scope, arg) for arg in args], strict=False))


def _reversed(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return _elements(ev, scope, args[0])[::-1]


def _abs(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    if not isinstance(args[0], int | float):
        raise Raised("TypeError", f"bad operand type for abs(): {type(args[0]).__name__!r}")
    return abs(args[0])


def _number(kind: type[int | float]) -> Known:
    def run(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
        value = args[0] if args else 0
        if isinstance(value, str) and len(value) > _LONGEST_NUMBER:
            raise TooLarge
        if not isinstance(value, str | int | float):
            raise Raised("TypeError", f"{kind.__name__}() argument must be a string or a real number")
        return host(lambda: kind(value))

    return run


def _str(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return text_of(args[0]) if args else ""


def _bool(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return ev.truth(args[0], _NOWHERE, scope) if args else False


def _any(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    values = _elements(ev, scope, args[0])
    known = [value for value in values if not is_unknown(value)]
    if any(ev.truth(value, _NOWHERE, scope) for value in known):
        return True
    return False if len(known) == len(values) else Opaque("any() of unknown values")


def _all(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    values = _elements(ev, scope, args[0])
    known = [value for value in values if not is_unknown(value)]
    if not all(ev.truth(value, _NOWHERE, scope) for value in known):
        return False
    return True if len(known) == len(values) else Opaque("all() of unknown values")


def _hasattr(ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    has = ev.has_attribute(args[0], _name(args[1]))
    return Opaque(f"hasattr({args[0].label}, {args[1]!r})") if has is None else has


def _getattr(ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    name = _name(args[1])
    return ev.default_attribute(args[0], name, args[2]) if len(args) > 2 else ev.attribute(args[0], name)  # noqa: PLR2004


def _setattr(ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    ev.store(args[0], _name(args[1]), args[2])


def _name(value: Value) -> str:
    if not isinstance(value, str):
        raise NotPlain if is_unknown(value) else Raised("TypeError", "attribute name must be string")
    return value


def _isinstance(ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    value, kinds = args[0], args[1] if isinstance(args[1], tuple) else (args[1],)
    answers = [_is_a(ev, value, kind) for kind in kinds]
    if any(answer is True for answer in answers):
        return True
    return Opaque("the kind of an unknown value") if None in answers else False


def _is_a(ev: Expressions, value: Value, kind: Value) -> bool | None:
    if isinstance(value, Instance):
        return _is_instance(ev, value, kind)
    if isinstance(kind, Native):
        plain = _TYPES.get(kind.name)
        return None if plain is None or is_unknown(value) else isinstance(value, plain)
    return False if is_scalar(value) or isinstance(value, list | tuple | dict | set) else None


def _is_instance(ev: Expressions, value: Instance, kind: Value) -> bool | None:
    if isinstance(kind, ClassValue) and value.cls is not None:
        return kind.info in ev.index.lineage(value.cls)
    if value.label.startswith(LAYER):
        # A stub of a layer stands for a layer of whatever kind is asked for, but never for a missing one.
        return not (isinstance(kind, Opaque) and kind.tail == "PPMissingLayer")
    return False if isinstance(kind, Native) and kind.name in _TYPES else None


def _callable(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    if isinstance(args[0], Function | Native | ClassValue):
        return True
    return Opaque("callable()") if isinstance(args[0], Opaque | Instance) else False


def _super(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    owner, me = (scope.owner, scope.me) if not args else (getattr(args[0], "info", None), args[-1])
    if owner is None or not isinstance(me, Instance) or me.cls is None:
        return Opaque("super()")
    lineage = ev.index.lineage(me.cls)
    after = lineage[lineage.index(owner) + 1 :] if owner in lineage else ()
    return Super(of=me, lineage=after)


def _map(ev: Expressions, scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return [ev.call_value(args[0], [value], {}) for value in _elements(ev, scope, args[1])]


def _nothing(_ev: Expressions, _scope: Scope, _args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return None


def _type_of(_ev: Expressions, _scope: Scope, args: list[Value], _kwargs: dict[str, Value]) -> Value:
    value = args[0] if args else None
    return ClassValue(info=value.cls) if isinstance(value, Instance) and value.cls else Opaque("type()")


_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "int": int, "str": str, "float": float, "bool": bool, "list": list, "tuple": tuple, "dict": dict, "set": set,
}  # fmt: skip

_PLAIN: Final[Mapping[str, Known]] = {
    "len": _len, "sum": _sum, "sorted": _sorted, "list": _list, "tuple": _tuple, "set": _set, "frozenset": _set,
    "range": _range, "enumerate": _enumerate, "zip": _zip, "reversed": _reversed, "abs": _abs, "int": _number(int),
    "float": _number(float), "str": _str, "bool": _bool, "any": _any, "all": _all, "dict": _dict,
    "min": _extreme(largest=False), "max": _extreme(largest=True),
}  # fmt: skip

_FUNCTIONS: Final[Mapping[str, Known]] = {
    **{name: _passing_unknown(function) for name, function in _PLAIN.items()},
    "hasattr": _hasattr, "getattr": _getattr, "setattr": _setattr, "isinstance": _isinstance, "callable": _callable,
    "super": _super, "map": _map, "print": _nothing, "type": _type_of,
}  # fmt: skip
