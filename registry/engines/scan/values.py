"""Values of evaluated code that are not plain Python values: unknown ones, stubs of objects, functions and classes.

Numbers, strings, None, lists, tuples, dicts and sets are themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from registry.engines.scan import known_externals
from registry.engines.scan.classes import ClassInfo, FunctionNode

if TYPE_CHECKING:
    from registry.engines.scan.evaluator import Evaluator

Value = Any
"""A plain Python value or one of the classes below."""

_LONGEST_LABEL: Final = 160
LAYER: Final = "layers["
"""How the labels of stubs of decoder layers begin."""


class Opaque:
    """A value of which nothing is known but where it came from.

    Subclasses are symbols: values that stand for something in the engine and say what operations make of it.
    """

    def __init__(self, label: str, *, parts: Sequence[Value] = (), named: Mapping[str, Value] | None = None) -> None:
        self.label = label[:_LONGEST_LABEL]
        self.parts = tuple(parts)
        """What it was made from: the arguments of a call, the operands of an operation."""
        self.named = dict(named or {})
        """Keyword arguments of the call that made it."""
        self.attrs: dict[str, Value] = {}
        """Attributes that evaluated code stored on it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.label}>"

    @property
    def tail(self) -> str:
        """The last name of the label."""
        return self.label.rpartition(".")[2]

    @property
    def made(self) -> bool:
        """Whether it looks like an object of an unknown class: a call of a capitalized name. Such a one is not None."""
        return self.tail.endswith("()") and self.tail[:1].isupper()

    def truth(self) -> bool | None:
        """Return whether it counts as true, or None where that is unknown."""
        return None

    def attribute(self, name: str) -> Value:
        """Return an attribute that evaluated code did not store."""
        return Opaque(f"{self.label}.{name}")

    def binary(self, symbol: str, other: Value, *, reflected: bool) -> Value:
        """Return the result of an operation with another value."""
        return Opaque(f"({symbol})", parts=(other, self) if reflected else (self, other))

    def call(self, evaluator: Evaluator, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Return the result of calling it."""
        known = known_externals.answer(self.label, args)
        if known is not known_externals.UNKNOWN:
            return known
        if evaluator.on_unknown_call is not None:
            answer = evaluator.on_unknown_call(self, args, kwargs)
            if answer is not None:
                return answer
        return Opaque(f"{self.label}()", parts=args, named=kwargs)

    def unpack(self, names: Sequence[str]) -> list[Value]:
        """Return one value per target of an unpacking; `names` are the targets' names."""
        return [Opaque(f"{self.label}[{place}]") for place in range(len(names))]

    def item(self, key: Value) -> Value:
        """Return what an index gives."""
        return Opaque(f"{self.label}[{key if isinstance(key, int | str) else '...'}]")


@dataclass(slots=True, kw_only=True, eq=False)
class Instance:
    """A stub of an object: its class where the build defines it, and what is stored on it."""

    label: str
    cls: ClassInfo | None = None
    attrs: dict[str, Value] = field(default_factory=dict)
    args: list[Value] = field(default_factory=list)
    kwargs: dict[str, Value] = field(default_factory=dict)
    """Arguments of its constructor."""
    pending: bool = False
    """The constructor has not been followed yet; it is when an attribute is first asked for."""
    rest: str = "missing"
    """What an attribute is that nobody stored: `missing` raises AttributeError; `opaque` gives an unknown value; `open`
    gives one too, but counts as absent for `hasattr` and for `getattr` with a default, as in a config."""
    called: Callable[[Evaluator, list[Value], dict[str, Value]], Value] | None = None
    """What calling it does, for stubs; None follows `forward` of the class."""


@dataclass(slots=True, kw_only=True, eq=False)
class Function:
    """A function of the source, or a lambda, with what it is bound to and what it closes over."""

    node: FunctionNode | ast.Lambda
    path: str
    owner: ClassInfo | None = None
    bound: Value = None
    is_bound: bool = False
    closure: Mapping[str, Value] = field(default_factory=dict)


@dataclass(slots=True, frozen=True, kw_only=True, eq=False)
class ClassValue:
    """A class of the source."""

    info: ClassInfo


@dataclass(slots=True, frozen=True, kw_only=True, eq=False)
class ModuleValue:
    """A module of the source."""

    path: str


@dataclass(slots=True, frozen=True, kw_only=True, eq=False)
class Super:
    """What `super()` gives: the lineage of an object after one of its classes."""

    of: Value
    lineage: tuple[ClassInfo, ...]


@dataclass(slots=True, frozen=True, eq=False)
class Native:
    """A function that is known here: a builtin, a method of a plain value, or a stub's."""

    name: str
    run: Callable[[list[Value], dict[str, Value]], Value]


Scalar = str | int | float | bool | None


def is_scalar(value: Value) -> bool:
    """Tell whether a value is plain and without parts."""
    return value is None or isinstance(value, str | int | float)


def is_unknown(value: Value) -> bool:
    """Tell whether nothing definite can be computed from a value."""
    return isinstance(value, Opaque)
