"""Attributes of values, and the stubs of objects behind them."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from registry.engines.scan import plain_methods
from registry.engines.scan.classes import ClassInfo, Found, FunctionNode, Index
from registry.engines.scan.limits import Budget, Exhausted, Raised, Unfollowed
from registry.engines.scan.operators import NotPlain, TooLarge
from registry.engines.scan.parsing import dotted
from registry.engines.scan.values import (
    ClassValue,
    Function,
    Instance,
    ModuleValue,
    Native,
    Opaque,
    Super,
    Value,
    is_scalar,
)

_MISSING = object()
UnknownCall = Callable[[Opaque, list[Value], dict[str, Value]], Value]


def _anywhere(_path: str) -> bool:
    return True


class Attributes(ABC):
    """Loading and storing attributes; what an object's class and constructor give it."""

    def __init__(
        self,
        index: Index,
        *,
        budget: Budget | None = None,
        enter: Callable[[str], bool] = _anywhere,
        on_unknown_call: UnknownCall | None = None,
        lenient: bool = False,
    ) -> None:
        self.index = index
        self.budget = budget or Budget()
        self.enter = enter
        """Tells of a path whether functions and constructors in it are followed; calls of others are unknown."""
        self.on_unknown_call = on_unknown_call
        """Asked first what a call of an unknown function gives; None means: nothing special."""
        self.lenient = lenient
        """Pass over what is not followed: unknown conditions count as false, statements are left out."""
        self.forgiving = False
        """Pass over statements of constructors that raise: a stub may lack what a real object has."""
        self.passing_raised = False
        """Whether that holds just now."""
        self.assumed: list[tuple[str, int]] = []
        """Where an unknown condition counted as false."""
        self.calls_followed: list[Function] = []
        """Methods of stubs that were followed, in order; the first few."""
        self.told: Mapping[str, Value] = {}
        """Attributes of unknown values that are known by their name, such as the place in a pipeline."""
        self.on_constructed: Callable[[Instance], None] | None = None
        """Called after a constructor was followed: puts in what only the engine's runtime would know."""

    @abstractmethod
    def call_function(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Follow a function of the source."""

    @abstractmethod
    def evaluate_in_module(self, node: ast.expr, path: str) -> Value:
        """Evaluate an expression at the top level of a module."""

    @contextmanager
    def leniently(self) -> Iterator[None]:
        """Be lenient for a while."""
        before, self.lenient = self.lenient, True
        try:
            yield
        finally:
            self.lenient = before

    def attribute(self, holder: Value, name: str) -> Value:
        """Return `holder.name`.

        Raises:
            Raised: there is no such attribute.
            Unfollowed: the attribute is not one that is followed.
        """
        value = self._lookup(holder, name)
        if value is _MISSING:
            if isinstance(holder, Instance) and (holder.rest != "missing" or self._has_unknown_parts(holder)):
                return Opaque(f"{holder.label}.{name}")
            raise Raised("AttributeError", f"{_label(holder)!r} object has no attribute {name!r}")
        return value

    def has_attribute(self, holder: Value, name: str) -> bool | None:
        """Tell whether a value has an attribute; None where that is unknown."""
        if isinstance(holder, Opaque):
            return True if name in holder.attrs else None
        try:
            has = self._lookup(holder, name) is not _MISSING
        except Raised:
            return False
        return None if not has and isinstance(holder, Instance) and holder.rest == "opaque" else has

    def default_attribute(self, holder: Value, name: str, default: Value) -> Value:
        """Return `getattr(holder, name, default)`."""
        try:
            value = self._lookup(holder, name)
        except Raised as raised:
            if raised.kind != "AttributeError":
                raise
            return default
        if value is _MISSING and isinstance(holder, Instance) and holder.rest == "opaque":
            return Opaque(f"{holder.label}.{name}")
        return default if value is _MISSING else value

    def store(self, holder: Value, name: str, value: Value) -> None:
        """Do `holder.name = value`.

        Raises:
            Raised: the holder takes no attributes.
            Unfollowed: storing there is not followed.
        """
        if not self.budget.hold(1):
            raise Exhausted("", 0, "too many values")
        if isinstance(holder, Instance):
            self.construct(holder)
            holder.attrs[name] = value
        elif isinstance(holder, Opaque):
            holder.attrs[name] = value
        elif is_scalar(holder) or isinstance(holder, list | tuple | dict | set):
            raise Raised("AttributeError", f"{_label(holder)!r} object has no attribute {name!r}")
        else:
            raise Unfollowed("", 0, f"storing the attribute {name!r} on a {type(holder).__name__}")

    def _lookup(self, holder: Value, name: str) -> Value:  # noqa: PLR0911  # one per kind of holder
        if isinstance(holder, Instance):
            return self._of_instance(holder, name)
        if isinstance(holder, Opaque):
            if name in holder.attrs:
                return holder.attrs[name]
            return self.told[name] if name in self.told else holder.attribute(name)
        if isinstance(holder, ClassValue):
            value = self._of_class(self.index.lineage(holder.info), name, bound=None, of=holder)
            return Opaque(f"{holder.info.name}.{name}") if value is _MISSING else value
        if isinstance(holder, ModuleValue):
            found = self.index.resolve(holder.path, name)
            return self.found_value(found) if found else Opaque(f"{holder.path}.{name}")
        if isinstance(holder, Super):
            value = self._of_class(holder.lineage, name, bound=holder.of, of=holder.of)
            return Opaque(f"super().{name}") if value is _MISSING else value
        return self._of_plain(holder, name)

    def _of_plain(self, holder: Value, name: str) -> Value:
        if not (is_scalar(holder) or isinstance(holder, list | tuple | dict | set)):
            raise Unfollowed("", 0, f"the attribute {name!r} of a {type(holder).__name__}")
        method = plain_methods.find(holder, name)
        if method is None:
            raise Unfollowed("", 0, f"the method {name!r} of a {type(holder).__name__}")

        def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
            if kwargs:
                raise Unfollowed("", 0, f"{name} with keyword arguments")
            try:
                return method(holder, args, self.budget)
            except IndexError:
                raise Raised("TypeError", f"{name}: arguments are missing") from None
            except (NotPlain, TooLarge) as reason:
                raise Unfollowed("", 0, f"{name}: {type(reason).__name__}") from None

        return Native(name, run)

    def _of_instance(self, holder: Instance, name: str) -> Value:
        lineage = self.index.lineage(holder.cls) if holder.cls else ()
        if name not in ("__init__", "forward") and not (lineage and _is_method(lineage, name)):
            self.construct(holder)
        getter = next((entry.methods[name] for entry in lineage if name in entry.methods), None)
        if name in holder.attrs and not (getter is not None and _decorated(getter, ("property",))):
            return holder.attrs[name]
        if name == "__dict__":
            return holder.attrs
        value = self._of_class(lineage, name, bound=holder, of=holder)
        return holder.attrs[name] if value is _MISSING and name in holder.attrs else value

    def _of_class(self, lineage: Sequence[ClassInfo], name: str, *, bound: Value, of: Value) -> Value:
        for info in lineage:
            if name in info.methods:
                return self._bound(info, info.methods[name], bound=bound, of=of)
            if name in info.values:
                return self.evaluate_in_module(info.values[name], info.path)
        return _MISSING

    def _bound(self, info: ClassInfo, node: FunctionNode, *, bound: Value, of: Value) -> Value:
        if _decorated(node, ("staticmethod",)):
            return Function(node=node, path=info.path, owner=info)
        if _decorated(node, ("classmethod",)):
            first = of if isinstance(of, ClassValue) else ClassValue(info=info)
            return Function(node=node, path=info.path, owner=info, bound=first, is_bound=True)
        function = Function(node=node, path=info.path, owner=info, bound=bound, is_bound=bound is not None)
        if bound is not None and _decorated(node, ("property", "cached_property")):
            return self.call_function(function, [], {})
        return function

    def found_value(self, found: Found) -> Value:
        """Return the value of what a name was found to stand for."""
        if found.kind == "class":
            info = self.index.find_class(found.path, found.name)
            return ClassValue(info=info) if info else Opaque(found.name)
        if found.kind == "function" and isinstance(found.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return Function(node=found.node, path=found.path)
        if found.kind == "module":
            return ModuleValue(path=found.path)
        if found.kind == "value" and isinstance(found.node, ast.expr):
            return self._module_value(found, found.node)
        return Opaque(found.path if found.kind == "external" else found.name)

    def _module_value(self, found: Found, node: ast.expr) -> Value:
        """Evaluate a constant of a module; most others come from calls that only a running engine can make."""
        if not self.enter(found.path) and not isinstance(
            node, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Dict
        ):
            return Opaque(found.name)
        try:
            with self.leniently():
                return self.evaluate_in_module(node, found.path)
        except Exhausted:
            raise
        except (Unfollowed, Raised):
            return Opaque(found.name)

    def construct(self, holder: Instance) -> None:
        """Follow the constructor of a stub, once, as far as it goes."""
        if not holder.pending:
            return
        holder.pending = False
        method = self.index.method(holder.cls, "__init__") if holder.cls else None
        if method is None:
            holder.attrs.update(holder.kwargs)
        elif self.enter(method[0].path):
            owner, node = method
            init = Function(node=node, path=owner.path, owner=owner, bound=holder, is_bound=True)
            before, self.passing_raised = self.passing_raised, self.forgiving
            try:
                with self.leniently():
                    self.call_function(init, list(holder.args), dict(holder.kwargs))
            finally:
                self.passing_raised = before
        if self.on_constructed is not None:
            self.on_constructed(holder)

    def _has_unknown_parts(self, holder: Instance) -> bool:
        """Tell whether an attribute may come from a base that the build does not define."""
        return self.lenient and holder.cls is not None and self.index.external_bases(holder.cls)


def _is_method(lineage: Sequence[ClassInfo], name: str) -> bool:
    node = next((entry.methods[name] for entry in lineage if name in entry.methods), None)
    return node is not None and not _decorated(node, ("property", "cached_property"))


def _decorated(node: FunctionNode, names: tuple[str, ...]) -> bool:
    written = (dotted(entry) or "" for entry in node.decorator_list)
    return any(name.rpartition(".")[2] in names for name in written)


def _label(holder: Value) -> str:
    if isinstance(holder, Instance | Opaque):
        return holder.label
    return "NoneType" if holder is None else type(holder).__name__
