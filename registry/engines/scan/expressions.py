"""Expressions of the restricted evaluator."""

import ast
from collections.abc import Callable, Mapping
from typing import ClassVar

from registry.engines.scan import known_functions
from registry.engines.scan.displays import Displays
from registry.engines.scan.limits import DEEPEST, LARGEST_VALUE, Exhausted, Raised, Unfollowed
from registry.engines.scan.operators import NotPlain, TooLarge, binary, contains, equal, host, key_of, ordered
from registry.engines.scan.scope import Scope
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
    is_unknown,
)


class Expressions(Displays):
    """Evaluating expressions; each kind of node that is not listed is an `Unfollowed`."""

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression.

        Raises:
            Raised: the evaluated code raises.
            Unfollowed: something in it is not followed.
            Exhausted: a limit is reached.
        """
        budget = self.budget
        budget.steps -= 1
        if budget.steps < 0 or budget.cells < 0:
            raise self._spent(node, scope)
        handler = self._expressions.get(type(node))
        if handler is None:
            raise Unfollowed(scope.path, node.lineno, f"{type(node).__name__} is not followed")
        budget.depth += 1
        try:
            if budget.depth > DEEPEST:
                raise Exhausted(scope.path, node.lineno, "expressions are nested too deeply")
            return handler(self, node, scope)
        except (TooLarge, NotPlain) as reason:
            what = (
                "a value is too large" if isinstance(reason, TooLarge) else "an operation on values that are not plain"
            )
            raise Unfollowed(scope.path, node.lineno, what) from None
        except Unfollowed as reason:
            raise reason if reason.file else type(reason)(scope.path, node.lineno, reason.what) from None
        except Raised as raised:
            if not raised.file:
                raised.file, raised.line = scope.path, node.lineno
            raise
        finally:
            budget.depth -= 1

    def evaluate_in_module(self, node: ast.expr, path: str) -> Value:
        """Evaluate an expression at the top level of a module."""
        return self.evaluate(node, Scope(path=path))

    def tick(self, node: ast.AST, scope: Scope) -> None:
        """Count one step.

        Raises:
            Exhausted: there are none left.
        """
        if not self.budget.step() or self.budget.cells < 0:
            raise self._spent(node, scope)

    def _spent(self, node: ast.AST, scope: Scope) -> Exhausted:
        return Exhausted(scope.path, getattr(node, "lineno", 0), "the limit on steps or on memory is reached")

    def truth(self, value: Value, node: ast.AST, scope: Scope) -> bool:
        """Return whether a value counts as true.

        Raises:
            Unfollowed: that is unknown, and unknown conditions are not passed over.
        """
        if isinstance(value, Opaque):
            known = value.truth()
            if known is not None:
                return known
            line = getattr(node, "lineno", 0)
            if not self.lenient:
                raise Unfollowed(scope.path, line, f"the condition depends on {value.label}")
            self.assumed.append((scope.path, line))
            return False
        if isinstance(value, Instance | Function | ClassValue | ModuleValue | Native | Super):
            return True
        return bool(value)

    def elements(self, value: Value, node: ast.AST, scope: Scope) -> list[Value]:
        """Return the elements that iterating over a value gives.

        Raises:
            Raised: the value cannot be iterated over.
            Unfollowed: its elements are unknown.
        """
        if isinstance(value, Opaque):
            if self.lenient:
                return []
            raise Unfollowed(scope.path, getattr(node, "lineno", 0), f"a loop over {value.label}")
        if isinstance(value, list | tuple | dict | set | range | str):
            if len(value) > LARGEST_VALUE or not self.budget.hold(len(value)):
                raise TooLarge
            # Sets are taken in a fixed order, so that the same source always gives the same profile.
            return (
                sorted(value, key=lambda item: (str(type(item)), str(item))) if isinstance(value, set) else list(value)
            )
        if is_scalar(value):
            raise Raised("TypeError", f"{type(value).__name__!r} object is not iterable")
        raise Unfollowed(scope.path, getattr(node, "lineno", 0), f"a loop over a {type(value).__name__}")

    def name_value(self, name: str, scope: Scope) -> Value:
        """Return what a name stands for; unknown where nothing in the source says."""
        if name in scope.names:
            return scope.names[name]
        if name in scope.outer:
            return scope.outer[name]
        found = self.index.resolve(scope.path, name)
        if found is not None:
            return self.found_value(found)
        known = known_functions.find(name)
        if known is None:
            return Opaque(name)
        return Native(name, lambda args, kwargs: known(self, scope, args, kwargs))

    def call_value(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Return the result of a call.

        Raises:
            Raised: the called code raises, or the value cannot be called.
            Unfollowed: the call is not followed.
        """
        if isinstance(function, Native):
            return function.run(args, kwargs)
        if isinstance(function, Opaque):
            return function.call(self, args, kwargs)  # type: ignore[arg-type]  # every instance is an Evaluator
        if isinstance(function, ClassValue):
            return self._made(function, args, kwargs)
        if isinstance(function, Function):
            return self._called(function, args, kwargs)
        if isinstance(function, Instance):
            if function.called is not None:
                return function.called(self, args, kwargs)  # type: ignore[arg-type]  # the same
            return self.call_value(self.attribute(function, "forward"), args, kwargs)
        if is_scalar(function) or isinstance(function, list | tuple | dict | set):
            raise Raised("TypeError", f"{type(function).__name__!r} object is not callable")
        raise Unfollowed("", 0, f"a call of a {type(function).__name__}")

    def _made(self, function: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
        info = function.info
        if self.on_unknown_call is not None:
            answer = self.on_unknown_call(Opaque(info.name), args, kwargs)
            if answer is not None:
                return answer
        init = self.index.method(info, "__init__")
        rest = "missing" if init is None or self.enter(init[0].path) else "opaque"
        return Instance(label=info.name, cls=info, args=args, kwargs=kwargs, pending=True, rest=rest)

    def _called(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if self.enter(function.path) or isinstance(function.node, ast.Lambda):
            return self.call_function(function, args, kwargs)
        return Opaque(function.node.name).call(self, args, kwargs)  # type: ignore[arg-type]  # every instance is an Evaluator

    # One method per kind of node.

    def _constant(self, node: ast.Constant, _scope: Scope) -> Value:
        value = node.value
        if isinstance(value, str | int | float) or value is None:
            return value
        return Opaque(type(value).__name__)

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        return self.name_value(node.id, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.evaluate(node.func, scope)
        args: list[Value] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                args.extend(self.elements(self.evaluate(arg.value, scope), node, scope))
            else:
                args.append(self.evaluate(arg, scope))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, dict):
                kwargs.update({key: held for key, held in value.items() if isinstance(key, str)})
        return self.call_value(function, args, kwargs)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        holder = self.evaluate(node.value, scope)
        key = self._slice(node.slice, scope) if isinstance(node.slice, ast.Slice) else self.evaluate(node.slice, scope)
        return self.item(holder, key)

    def item(self, holder: Value, key: Value) -> Value:
        """Return `holder[key]`.

        Raises:
            Raised: there is no such element.
            NotPlain: the holder or the key is none that is followed.
        """
        if isinstance(holder, Opaque):
            return holder.item(key)
        if is_unknown(key) and isinstance(holder, list | tuple | dict | str):
            return Opaque("an element at an unknown place")
        if isinstance(holder, dict):
            plain = key_of(key)
            if plain not in holder:
                raise Raised("KeyError", repr(plain)[:80])
            return holder[plain]
        if isinstance(holder, list | tuple | str | range):
            if isinstance(key, slice) and not self.budget.hold(len(holder)):
                raise TooLarge
            if not isinstance(key, int | slice):
                raise Raised("TypeError", f"indices must be integers or slices, not {type(key).__name__}")
            return host(lambda: holder[key])
        if is_scalar(holder):
            raise Raised("TypeError", f"{type(holder).__name__!r} object is not subscriptable")
        if isinstance(holder, ClassValue):
            return holder  # a generic class with its parameters
        raise NotPlain

    def _slice(self, node: ast.Slice, scope: Scope) -> Value:
        parts = [self.evaluate(part, scope) if part else None for part in (node.lower, node.upper, node.step)]
        if any(is_unknown(part) for part in parts):
            return Opaque("a slice with unknown ends")
        if not all(part is None or isinstance(part, int) for part in parts):
            raise Raised("TypeError", "slice indices must be integers or None")
        return slice(*parts)

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        return self.operate(type(node.op).__name__, self.evaluate(node.left, scope), self.evaluate(node.right, scope))

    def operate(self, symbol: str, left: Value, right: Value) -> Value:
        """Return `left symbol right`, symbols being asked first."""
        if isinstance(left, Opaque):
            return left.binary(symbol, right, reflected=False)
        if isinstance(right, Opaque):
            return right.binary(symbol, left, reflected=True)
        return binary(symbol, left, right, self.budget)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not) and (self.lenient or not is_unknown(value)):
            return not self.truth(value, node, scope)
        if is_unknown(value):
            return Opaque(f"{type(node.op).__name__} {value.label}")
        if not isinstance(value, int | float):
            raise Raised("TypeError", f"bad operand type for unary {type(node.op).__name__}")
        if isinstance(node.op, ast.Invert):
            return host(lambda: ~value)  # type: ignore[operator]  # a float raises, which `host` takes
        return -value if isinstance(node.op, ast.USub) else +value

    def _logical(self, node: ast.BoolOp, scope: Scope) -> Value:
        """Follow `and` and `or`; after an unknown operand, a later one can still decide the whole."""
        decisive = isinstance(node.op, ast.Or)
        unknown: Opaque | None = None
        value: Value = None
        for operand in node.values:
            if unknown is None:
                value = self.evaluate(operand, scope)
            else:
                try:
                    value = self.evaluate(operand, scope)
                except Raised:
                    return unknown  # the unknown operand may have been there to prevent this
            if isinstance(value, Opaque):
                unknown = unknown or value
            elif self.truth(value, node, scope) is decisive:
                return value if unknown is None else decisive
        return value if unknown is None else unknown

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.evaluate(node.left, scope)
        for symbol, operand in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(operand, scope)
            result = self._compared(type(symbol).__name__, left, right)
            if is_unknown(result) or not result:
                return result
            left = right
        return True

    def _compared(self, symbol: str, left: Value, right: Value) -> Value:  # noqa: PLR0911  # one per kind of comparison
        if symbol in ("Is", "IsNot"):
            same = _same(left, right)
            return Opaque("identity of an unknown value") if same is None else same is (symbol == "Is")
        if symbol in ("In", "NotIn"):
            if is_unknown(right) or (is_unknown(left) and not isinstance(right, list | tuple)):
                return Opaque("membership of an unknown value")
            if isinstance(right, Instance | Function | ClassValue):
                raise NotPlain
            inside = contains(right, left, self.budget)
            if not inside and (is_unknown(left) or (isinstance(right, list | tuple) and any(map(is_unknown, right)))):
                return Opaque("membership of an unknown value")
            return inside is (symbol == "In")
        if is_unknown(left) or is_unknown(right):
            return Opaque(f"({symbol})", parts=(left, right))
        if symbol in ("Eq", "NotEq"):
            return equal(left, right, self.budget) is (symbol == "Eq")
        return ordered(symbol, left, right)

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        chosen = self.truth(self.evaluate(node.test, scope), node, scope)
        return self.evaluate(node.body if chosen else node.orelse, scope)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Function:
        return Function(node=node, path=scope.path, owner=scope.owner, closure=scope.seen())

    def _named(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a value to a target.

        Raises:
            Raised: Python would raise.
            Unfollowed: the target is none that is followed.
        """
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            self.store(self.evaluate(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, scope)
        elif isinstance(target, ast.Subscript):
            self._store_item(target, value, scope)
        else:
            raise Unfollowed(scope.path, target.lineno, f"assignment to {type(target).__name__}")

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, scope: Scope) -> None:
        targets = target.elts
        if isinstance(value, Opaque):
            names = [entry.id if isinstance(entry, ast.Name) else getattr(entry, "attr", "_") for entry in targets]
            values = value.unpack(names)
        else:
            values = self.elements(value, target, scope)
        if any(isinstance(entry, ast.Starred) for entry in targets):
            raise Unfollowed(scope.path, target.lineno, "unpacking with a starred target")
        if len(values) != len(targets):
            raise Raised("ValueError", f"expected {len(targets)} values to unpack, got {len(values)}")
        for entry, part in zip(targets, values, strict=True):
            self.assign(entry, part, scope)

    def _store_item(self, target: ast.Subscript, value: Value, scope: Scope) -> None:
        holder = self.evaluate(target.value, scope)
        if isinstance(holder, Opaque) or isinstance(target.slice, ast.Slice):
            if isinstance(holder, Opaque):
                return
            raise Unfollowed(scope.path, target.lineno, "assignment to a slice")
        key = self.evaluate(target.slice, scope)
        if isinstance(holder, dict):
            if not self.budget.hold(1):
                raise TooLarge
            holder[key_of(key)] = value
        elif isinstance(holder, list) and isinstance(key, int):
            host(lambda: holder.__setitem__(key, value))
        elif is_scalar(holder) or isinstance(holder, tuple):
            raise Raised("TypeError", f"{type(holder).__name__!r} object does not support item assignment")
        else:
            raise NotPlain

    _expressions: ClassVar[Mapping[type[ast.AST], Callable[..., Value]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.BoolOp: _logical,
        ast.Compare: _compare,
        ast.IfExp: _choice,
        ast.List: Displays.list_display,
        ast.Tuple: Displays.tuple_display,
        ast.Set: Displays.set_display,
        ast.Dict: Displays.dict_display,
        ast.JoinedStr: Displays.formatted,
        ast.ListComp: Displays.list_built,
        ast.GeneratorExp: Displays.list_built,
        ast.SetComp: Displays.set_built,
        ast.DictComp: Displays.dict_built,
        ast.Lambda: _lambda,
        ast.NamedExpr: _named,
    }


def _same(left: Value, right: Value) -> bool | None:
    """Return whether two values are the same object, None where that is unknown."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Opaque):
            if value is other:
                return True
            # An object of an unknown class is certainly not None, True or False.
            return False if value.made and (other is None or isinstance(other, bool)) else None
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left is right or (is_scalar(left) and is_scalar(right) and type(left) is type(right) and left == right)
