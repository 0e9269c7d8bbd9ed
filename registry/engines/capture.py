"""What a target class really leaves captured for a list of layer ids: the dialect, then the class's own limits.

A dialect says which depths are asked for. Here the facts of the class decide which of them the forward pass
delivers: always in ascending order and each once, without those it never reaches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from registry.domain import dialects
from registry.domain.profile import TargetFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The effect of one call of a class's setter."""

    depths: tuple[int, ...] | None
    """Depths that the forward pass captures, ascending and each once. None where the setter raises, where the class
    has no setter, or where its behavior is not established."""
    requested: tuple[int, ...] = ()
    """Depths that the ids ask for, in the order of the ids, existing or not; without ids, the class's default."""
    lost: tuple[int, ...] = ()
    """Requested depths that are never captured, in the order of the ids, each once."""
    raises: str = ""
    """Why the setter fails; empty where it does not."""
    unresolved: bool = False
    """The class's behavior is not established: nothing may be concluded from `depths` being None."""


def left_captured(
    facts: TargetFacts, ids: Sequence[int] | None, *, layers: int, after_default: bool = False
) -> Captured:
    """Return what the setter of a class leaves captured on a target of `layers` decoder layers.

    Args:
        facts: What the build does with the class.
        ids: The layer ids handed to the setter; None when it is called without ids. An empty list is a list.
        layers: The target's number of decoder layers (N).
        after_default: The setter was called once without ids before, as it is where CUDA graphs are captured before
            the ids are set. It matters on classes whose calls add up.

    Returns:
        The captured depths. A depth whose capture fails later, on the forward pass (`facts.depth_zero == "raises"`),
        is among them: the setter did ask for it.
    """
    if not facts.supported:
        return Captured(depths=None, raises=_why_unsupported(facts))
    if ids is not None and facts.dialect == dialects.FIXED_DEFAULT:
        return Captured(depths=None, raises=f"the setter of {facts.target_class} takes no ids")
    asked = _asked(facts, ids, layers=layers)
    if asked is None or facts.captures == "unresolved" or (facts.depth_n == "unresolved" and layers in asked):
        return Captured(depths=None, requested=asked or (), unresolved=True)
    if facts.captures == "nothing":
        return Captured(depths=(), requested=asked, lost=tuple(dict.fromkeys(asked)))
    captured = _limited(facts, asked, layers=layers)
    return _added_to_default(facts, captured, layers=layers) if after_default and facts.accumulates else captured


def _why_unsupported(facts: TargetFacts) -> str:
    return facts.refused or f"{facts.target_class} lacks {', '.join(facts.needed_methods)}"


def _asked(facts: TargetFacts, ids: Sequence[int] | None, *, layers: int) -> tuple[int, ...] | None:
    if ids is None:
        return dialects.default_depths(facts.default, layers=layers)
    return dialects.read(facts.dialect, ids, layers=layers)


def _limited(facts: TargetFacts, asked: tuple[int, ...], *, layers: int) -> Captured:
    """Apply the class's limits: what is dropped, what raises, and what Python's negative indexing makes of it."""
    reached: set[int] = set()
    lost: dict[int, None] = {}  # in order, each once; a list would make long lists of ids slow
    for depth in asked:
        place = depth + layers if depth < 0 and facts.negative == "from_end" else depth
        if 0 <= place < layers or (place == layers and facts.depth_n == "captured"):
            reached.add(place)
        elif facts.out_of_range == "raises" and (place >= layers or facts.negative == "from_end"):
            why = f"the setter of {facts.target_class} indexes its {layers} layers with {depth}"
            return Captured(depths=None, requested=asked, raises=why)
        else:
            lost[depth] = None
    return Captured(depths=tuple(sorted(reached)), requested=asked, lost=tuple(lost))


def _added_to_default(facts: TargetFacts, captured: Captured, *, layers: int) -> Captured:
    earlier = left_captured(facts, None, layers=layers)
    if captured.depths is None or earlier.depths is None:
        return captured
    return replace(captured, depths=tuple(sorted({*captured.depths, *earlier.depths})))
