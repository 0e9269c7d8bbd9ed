"""The rules: what can be wrong with a drafter, its record or a proposal, one rule per file.

Importing this package loads no rule; `catalogue()` finds them by walking the package, once per process.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.rules.collection import Catalogue

__all__ = ["catalogue"]


@cache
def catalogue() -> "Catalogue":
    """Return every rule of this package."""
    from registry.rules.collection import load  # noqa: PLC0415  # commands that judge nothing must not pay for 50 modules

    return load()
