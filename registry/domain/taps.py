"""Taps: which hidden states of the target a drafter reads, counted in depths and never in bare layer ids.

Depth is the number of decoder layers already applied: 0 is the embedding output, N the output of the last layer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Norm = Literal["none", "final"]

RESIDUAL = "residual"
"""The stream that carries hidden state plus residual; what EAGLE-3 reads unless an engine does otherwise."""

BRANCH = "branch"
"""The layer's own output without the residual (SGLang's Gemma3 from 0.5.17 captures this by oversight)."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Tap:
    """One captured hidden state."""

    depth: int
    stream: str = RESIDUAL
    norm: Norm = "none"


Taps = tuple[Tap, ...]
"""An ordered list of taps: the order is the order of the column blocks of `fc`."""


def at_depths(depths: Iterable[int], *, stream: str = RESIDUAL) -> Taps:
    """Return plain taps at `depths`, in that order."""
    return tuple(Tap(depth=depth, stream=stream) for depth in depths)


def depths_of(taps: Taps) -> tuple[int, ...]:
    """Return the depths of `taps`, in order."""
    return tuple(tap.depth for tap in taps)


def spell(taps: Taps) -> str:
    """Spell taps for people: `3, 31, 59`, with stream and norm only where they are not the usual ones."""
    return ", ".join(_spell_one(tap) for tap in taps) if taps else "none"


def _spell_one(tap: Tap) -> str:
    unusual = [word for word, usual in ((tap.stream, RESIDUAL), (tap.norm, "none")) if word != usual]
    return f"{tap.depth} ({', '.join(unusual)})" if unusual else str(tap.depth)
