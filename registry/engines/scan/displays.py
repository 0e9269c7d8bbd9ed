"""Displays and comprehensions of the restricted evaluator: lists, tuples, sets, dicts and formatted text."""

import ast
from abc import abstractmethod
from collections.abc import Iterator

from registry.engines.scan.attributes import Attributes
from registry.engines.scan.limits import Unfollowed
from registry.engines.scan.operators import NotPlain, TooLarge, key_of, text_of
from registry.engines.scan.scope import Scope
from registry.engines.scan.values import Opaque, Value, is_scalar


class Displays(Attributes):
    """Building values from their parts; every cell that is held counts against the budget."""

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression."""

    @abstractmethod
    def tick(self, node: ast.AST, scope: Scope) -> None:
        """Count one step."""

    @abstractmethod
    def truth(self, value: Value, node: ast.AST, scope: Scope) -> bool:
        """Return whether a value counts as true."""

    @abstractmethod
    def elements(self, value: Value, node: ast.AST, scope: Scope) -> list[Value]:
        """Return what iterating over a value gives."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a value to a target."""

    def list_display(self, node: ast.List, scope: Scope) -> list[Value]:
        """Return the list of a list display."""
        return self._several(node.elts, scope)

    def tuple_display(self, node: ast.Tuple, scope: Scope) -> tuple[Value, ...]:
        """Return the tuple of a tuple display."""
        return tuple(self._several(node.elts, scope))

    def set_display(self, node: ast.Set, scope: Scope) -> set[Value]:
        """Return the set of a set display."""
        return {key_of(value) for value in self._several(node.elts, scope)}

    def _several(self, nodes: list[ast.expr], scope: Scope) -> list[Value]:
        if not self.budget.hold(len(nodes)):
            raise TooLarge
        values: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self.elements(self.evaluate(node.value, scope), node, scope))
            else:
                values.append(self.evaluate(node, scope))
        return values

    def dict_display(self, node: ast.Dict, scope: Scope) -> dict[Value, Value]:
        """Return the dict of a dict display."""
        result: dict[Value, Value] = {}
        for key, held in zip(node.keys, node.values, strict=True):
            value = self.evaluate(held, scope)
            if key is None:
                if not isinstance(value, dict):
                    raise NotPlain
                result.update(value)
            else:
                result[key_of(self.evaluate(key, scope))] = value
        if not self.budget.hold(len(result)):
            raise TooLarge
        return result

    def formatted(self, node: ast.JoinedStr, scope: Scope) -> Value:
        """Return formatted text; text with a width or an unknown part is opaque."""
        parts: list[str] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
                continue
            if not isinstance(part, ast.FormattedValue) or part.format_spec is not None or part.conversion != -1:
                return Opaque("formatted text")  # a width in it could be as large as memory
            value = self.evaluate(part.value, scope)
            if not is_scalar(value):
                return Opaque("formatted text")
            parts.append(text_of(value))
        if not self.budget.hold(sum(len(part) for part in parts)):
            raise TooLarge
        return "".join(parts)

    def list_built(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> list[Value]:
        """Return what a list comprehension or generator gives."""
        values: list[Value] = []
        for inner in self._generated(node.generators, scope):
            if not self.budget.hold(1):
                raise TooLarge
            values.append(self.evaluate(node.elt, inner))
        return values

    def set_built(self, node: ast.SetComp, scope: Scope) -> set[Value]:
        """Return what a set comprehension gives."""
        return {key_of(self.evaluate(node.elt, inner)) for inner in self._generated(node.generators, scope)}

    def dict_built(self, node: ast.DictComp, scope: Scope) -> dict[Value, Value]:
        """Return what a dict comprehension gives."""
        built: dict[Value, Value] = {}
        for inner in self._generated(node.generators, scope):
            if not self.budget.hold(1):
                raise TooLarge
            built[key_of(self.evaluate(node.key, inner))] = self.evaluate(node.value, inner)
        return built

    def _generated(self, generators: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        first, *rest = generators
        if first.is_async:
            raise Unfollowed(scope.path, first.target.lineno, "an asynchronous comprehension")
        inner = Scope(path=scope.path, outer=scope.seen(), owner=scope.owner, me=scope.me)
        for element in self.elements(self.evaluate(first.iter, scope), first.iter, scope):
            self.tick(first.target, scope)
            self.assign(first.target, element, inner)
            if all(self.truth(self.evaluate(test, inner), test, inner) for test in first.ifs):
                if rest:
                    yield from self._generated(rest, inner)
                else:
                    yield inner
