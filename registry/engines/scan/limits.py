"""Limits of evaluation, and the three ways in which it ends early.

Source is data, possibly hostile: it must not run anything, hang or fill the memory. Every step and every element of
a container that evaluation makes is counted against one budget.
"""

from dataclasses import dataclass
from typing import Final

LARGEST_TEXT: Final = 2_000_000
"""Characters of a source file that is parsed at all; SGLang's largest has about 400,000."""
LARGEST_VALUE: Final = 100_000
"""Elements of one list, tuple, set or dict, and characters of one string."""
LARGEST_NUMBER_BITS: Final = 256
DEEPEST: Final = 60
"""Nested expressions within one call."""
DEEPEST_CALLS: Final = 24


class Unfollowed(Exception):
    """The evaluator does not follow this construct."""

    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(file, line, what)
        self.file, self.line, self.what = file, line, what[:300]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class Exhausted(Unfollowed):
    """The budget is used up. Unlike other constructs that are not followed, this one is never passed over."""


class Raised(Exception):
    """The evaluated code raises an exception of its own."""

    def __init__(self, kind: str, message: str, *, file: str = "", line: int = 0) -> None:
        super().__init__(kind, message)
        self.kind, self.message, self.file, self.line = kind, message[:300], file, line

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


@dataclass(slots=True, kw_only=True)
class Budget:
    """What is left: steps of evaluation, and elements of containers."""

    steps: int = 300_000
    cells: int = 1_000_000
    depth: int = 0
    """Expressions that are being evaluated inside one another."""
    calls: int = 0
    """Calls that are being followed inside one another."""

    def step(self, count: int = 1) -> bool:
        """Use up steps; False when there are none left."""
        self.steps -= count
        return self.steps >= 0

    def hold(self, count: int) -> bool:
        """Use up elements; False when there are none left or when a single value is too large."""
        self.cells -= count
        return count <= LARGEST_VALUE and self.cells >= 0
