"""The restricted evaluator: follows functions of somebody's source on stub values, and can do nothing else.

It knows the statements and expressions that small functions are made of. It reads no file, imports nothing, and runs
no code of the source: trees are walked, and every step and element is counted. Whatever it does not know is an
`Unfollowed` with file and line.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Final

from registry.engines.scan.classes import imported_names
from registry.engines.scan.expressions import Expressions
from registry.engines.scan.limits import DEEPEST_CALLS, Exhausted, Raised, Unfollowed
from registry.engines.scan.operators import NotPlain, TooLarge, key_of
from registry.engines.scan.parsing import dotted
from registry.engines.scan.scope import Scope
from registry.engines.scan.values import Function, ModuleValue, Opaque, Value


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _Broken(Exception):
    pass


class _Continued(Exception):
    pass


_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "LookupError": ("KeyError", "IndexError"),
    "ArithmeticError": ("ZeroDivisionError", "OverflowError"),
    "ImportError": ("ModuleNotFoundError",),
    "OSError": ("FileNotFoundError",),
}
_CALLS_KEPT: Final = 200
_CATCH_ALL: Final = ("Exception", "BaseException")


class Evaluator(Expressions):
    """Follows statements and calls."""

    def run(self, function: Value, args: list[Value] | None = None, kwargs: dict[str, Value] | None = None) -> Value:
        """Call a function of the source and return its result.

        Raises:
            Raised: the function raises.
            Unfollowed: something in it is not followed, or a limit is reached.
        """
        try:
            return self.call_value(function, args or [], kwargs or {})
        except RecursionError:
            raise Exhausted(getattr(function, "path", ""), 0, "calls are nested too deeply") from None

    def run_statements(self, statements: list[ast.stmt], scope: Scope) -> None:
        """Follow statements that are not a whole function, in names of the caller's choice.

        Raises:
            Raised: they raise.
            Unfollowed: something in them is not followed, or a limit is reached.
        """
        try:
            self._block(statements, scope)
        except _Returned:
            return
        except RecursionError:
            raise Exhausted(scope.path, 0, "calls are nested too deeply") from None

    def call_function(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Follow a call of a function of the source.

        Raises:
            Raised: it raises.
            Unfollowed: something in it is not followed.
        """
        node = function.node
        scope = Scope(path=function.path, outer=function.closure, owner=function.owner)
        if isinstance(node, ast.AsyncFunctionDef):
            raise Unfollowed(function.path, node.lineno, "an asynchronous function")
        if function.is_bound and len(self.calls_followed) < _CALLS_KEPT:
            self.calls_followed.append(function)
        self._bind(function, [function.bound, *args] if function.is_bound else args, kwargs, scope)
        depth, self.budget.depth = self.budget.depth, 0
        self.budget.calls += 1
        try:
            if self.budget.calls > DEEPEST_CALLS:
                raise Exhausted(function.path, node.lineno, "calls are nested too deeply")
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            self._block(node.body, scope)
        except _Returned as returned:
            return returned.value
        finally:
            self.budget.depth = depth
            self.budget.calls -= 1
        return None

    def _bind(self, function: Function, args: list[Value], kwargs: dict[str, Value], scope: Scope) -> None:
        spec = function.node.args
        names = [entry.arg for entry in (*spec.posonlyargs, *spec.args)]
        scope.me = args[0] if args else None
        values = dict(zip(names, args, strict=False))
        if len(args) > len(names) and spec.vararg is None:
            raise Raised("TypeError", f"takes {len(names)} positional arguments but {len(args)} were given")
        if spec.vararg is not None:
            values[spec.vararg.arg] = tuple(args[len(names) :])
        rest: dict[str, Value] = {}
        allowed = {*names, *(entry.arg for entry in spec.kwonlyargs)}
        for name, value in kwargs.items():
            if name in allowed:
                values[name] = value
            elif spec.kwarg is not None:
                rest[name] = value
            else:
                raise Raised("TypeError", f"got an unexpected keyword argument {name!r}")
        if spec.kwarg is not None:
            values[spec.kwarg.arg] = rest
        self._defaults(function, names, values)
        scope.names.update(values)

    def _defaults(self, function: Function, names: list[str], values: dict[str, Value]) -> None:
        spec = function.node.args
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        keyword = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        defaults.update({entry.arg: default for entry, default in keyword if default is not None})
        for name in (*names, *(entry.arg for entry in spec.kwonlyargs)):
            if name in values:
                continue
            if name not in defaults:
                raise Raised("TypeError", f"missing a required argument: {name!r}")
            values[name] = self.evaluate_in_module(defaults[name], function.path)

    def _block(self, statements: list[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        self.tick(node, scope)
        handler = self._statements.get(type(node))
        if handler is None:
            self._pass_over(node, scope, Unfollowed(scope.path, node.lineno, f"{type(node).__name__} is not followed"))
            return
        try:
            handler(self, node, scope)
        except (TooLarge, NotPlain):
            self._pass_over(node, scope, Unfollowed(scope.path, node.lineno, "a value that is not followed"))
        except Exhausted:
            raise
        except Unfollowed as reason:
            self._pass_over(node, scope, reason)
        except Raised as raised:
            if not raised.file:
                raised.file, raised.line = scope.path, node.lineno
            if not self.passing_raised or isinstance(node, ast.Raise):
                raise
            self._pass_over(node, scope, Unfollowed(scope.path, node.lineno, str(raised)))

    def _pass_over(self, node: ast.stmt, scope: Scope, reason: Unfollowed) -> None:
        """Leave out a statement that is not followed, where that is allowed: what it assigns becomes unknown."""
        if not self.lenient:
            raise reason if reason.file else type(reason)(scope.path, node.lineno, reason.what)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name | ast.Attribute):
                self.assign(target, Opaque(dotted(target) or "unfollowed"), scope)
            elif isinstance(target, ast.Tuple | ast.List):
                self.assign(target, Opaque("unfollowed"), scope)

    # One method per kind of statement.

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, scope), scope)

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        load = ast.copy_location(_loaded(node.target), node.target)
        held = self.evaluate(load, scope)
        value = self.evaluate(node.value, scope)
        if isinstance(held, list) and isinstance(node.op, ast.Add) and isinstance(value, list | tuple):
            self.call_value(self.attribute(held, "extend"), [list(value)], {})
            return
        self.assign(node.target, self.operate(type(node.op).__name__, held, value), scope)

    def _expression(self, node: ast.Expr, scope: Scope) -> None:
        if isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Await):
            raise Unfollowed(scope.path, node.lineno, "a generator")
        self.evaluate(node.value, scope)

    def _return(self, node: ast.Return, scope: Scope) -> None:
        raise _Returned(self.evaluate(node.value, scope) if node.value else None)

    def _if(self, node: ast.If, scope: Scope) -> None:
        chosen = self.truth(self.evaluate(node.test, scope), node, scope)
        self._block(node.body if chosen else node.orelse, scope)

    def _for(self, node: ast.For, scope: Scope) -> None:
        for element in self.elements(self.evaluate(node.iter, scope), node, scope):
            self.tick(node, scope)
            self.assign(node.target, element, scope)
            try:
                self._block(node.body, scope)
            except _Broken:
                return
            except _Continued:
                continue
        self._block(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> None:
        while self.truth(self.evaluate(node.test, scope), node, scope):
            self.tick(node, scope)
            try:
                self._block(node.body, scope)
            except _Broken:
                return
            except _Continued:
                continue
        self._block(node.orelse, scope)

    def _break(self, _node: ast.Break, _scope: Scope) -> None:
        raise _Broken

    def _continue(self, _node: ast.Continue, _scope: Scope) -> None:
        raise _Continued

    def _pass(self, _node: ast.Pass, _scope: Scope) -> None:
        return

    def _raise(self, node: ast.Raise, scope: Scope) -> None:
        if node.exc is None:
            raise Raised(*scope.names.get(_CURRENT, ("Exception", "")), file=scope.path, line=node.lineno)
        call = node.exc if isinstance(node.exc, ast.Call) else None
        name = dotted(call.func if call else node.exc) or "Exception"
        raise Raised(name.rpartition(".")[2], self._message(call, scope), file=scope.path, line=node.lineno)

    def _message(self, call: ast.Call | None, scope: Scope) -> str:
        """Return what an exception says, as far as it is known."""
        if call is None or not call.args:
            return ""
        try:
            text = self.evaluate(call.args[0], scope)
        except Exhausted:
            raise
        except (Unfollowed, Raised):
            return ""
        return text if isinstance(text, str) else ""

    def _assert(self, node: ast.Assert, scope: Scope) -> None:
        value = self.evaluate(node.test, scope)
        if not isinstance(value, Opaque) and not self.truth(value, node, scope):
            raise Raised("AssertionError", "", file=scope.path, line=node.lineno)

    def _guarded(self, node: ast.Try, scope: Scope) -> None:
        """Follow what is inside a `try`: there, exceptions are how the code decides."""
        before, self.passing_raised = self.passing_raised, False
        try:
            self._block(node.body, scope)
        finally:
            self.passing_raised = before

    def _try(self, node: ast.Try, scope: Scope) -> None:
        try:
            self._guarded(node, scope)
        except Raised as raised:
            handler = next((entry for entry in node.handlers if _catches(entry.type, raised.kind)), None)
            if handler is None:
                self._block(node.finalbody, scope)
                raise
            scope.names[_CURRENT] = (raised.kind, raised.message)
            if handler.name:
                scope.names[handler.name] = Opaque(raised.kind)
            self._block(handler.body, scope)
        else:
            self._block(node.orelse, scope)
        self._block(node.finalbody, scope)

    def _with(self, node: ast.With, scope: Scope) -> None:
        for item in node.items:
            context = self.evaluate(item.context_expr, scope)
            if item.optional_vars is not None:
                label = context.label if isinstance(context, Opaque) else "a context"
                self.assign(item.optional_vars, Opaque(label), scope)
        self._block(node.body, scope)

    def _define(self, node: ast.FunctionDef, scope: Scope) -> None:
        # The scope itself, not a copy: an inner function sees later assignments of the outer one.
        closure = scope.names if not scope.outer else _Chained(scope.names, scope.outer)
        scope.names[node.name] = Function(node=node, path=scope.path, owner=scope.owner, closure=closure)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for local, (module, name) in imported_names(scope.path, node):
            path = self.index.module_path(module)
            if path is None:
                scope.names[local] = Opaque(f"{module}.{name}" if name else module)
            elif name is None:
                scope.names[local] = ModuleValue(path=path)
            else:
                found = self.index.resolve(path, name)
                scope.names[local] = self.found_value(found) if found else Opaque(f"{module}.{name}")

    def _delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                holder = self.evaluate(target.value, scope)
                getattr(holder, "attrs", {}).pop(target.attr, None)
            elif isinstance(target, ast.Subscript):
                self._delete_item(target, scope)

    def _delete_item(self, target: ast.Subscript, scope: Scope) -> None:
        holder, key = self.evaluate(target.value, scope), self.evaluate(target.slice, scope)
        if not isinstance(holder, dict):
            raise NotPlain
        if key_of(key) not in holder:
            raise Raised("KeyError", repr(key)[:80], file=scope.path, line=target.lineno)
        del holder[key]

    _statements: ClassVar[Mapping[type[ast.AST], Callable[..., None]]] = {
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.Expr: _expression,
        ast.Return: _return,
        ast.If: _if,
        ast.For: _for,
        ast.While: _while,
        ast.Break: _break,
        ast.Continue: _continue,
        ast.Pass: _pass,
        ast.Raise: _raise,
        ast.Assert: _assert,
        ast.Try: _try,
        ast.With: _with,
        ast.FunctionDef: _define,
        ast.Import: _import,
        ast.ImportFrom: _import,
        ast.Delete: _delete,
    }


class _Chained(Mapping[str, Value]):
    """Names of a function, then of those around it."""

    def __init__(self, first: Mapping[str, Value], then: Mapping[str, Value]) -> None:
        self._first, self._then = first, then

    def __getitem__(self, name: str) -> Value:
        return self._first[name] if name in self._first else self._then[name]

    def __iter__(self) -> Iterator[str]:
        yield from {**self._then, **self._first}

    def __len__(self) -> int:
        return len({**self._then, **self._first})


_CURRENT: Final = "<exception>"
"""Where the exception that is being handled is kept among the names; no source can spell it."""


def _loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(id=target.id, ctx=ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(value=target.value, attr=target.attr, ctx=ast.Load())
    return ast.Subscript(value=target.value, slice=target.slice, ctx=ast.Load())


def _catches(node: ast.expr | None, kind: str) -> bool:
    if node is None:
        return True
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    names = [(dotted(entry) or "").rpartition(".")[2] for entry in nodes]
    return any(name in _CATCH_ALL or name == kind or kind in _FAMILIES.get(name, ()) for name in names)
