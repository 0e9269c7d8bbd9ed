"""The names that are visible while a function, a class body or a comprehension is followed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.engines.scan.classes import ClassInfo
from registry.engines.scan.values import Value


@dataclass(slots=True, kw_only=True, eq=False)
class Scope:
    """Names while a function, a class body or a comprehension is followed."""

    path: str
    names: dict[str, Value] = field(default_factory=dict)
    outer: Mapping[str, Value] = field(default_factory=dict)
    """Names of the functions around it."""
    owner: ClassInfo | None = None
    """The class that defines the method, for `super()`."""
    me: Value = None
    """The first argument of the method."""

    def seen(self) -> dict[str, Value]:
        """Return every name that an inner function can see."""
        return {**self.outer, **self.names}
