"""Probe ids, what each of them did on a class, and the facts that fit every one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from registry.domain import dialects
from registry.domain.profile import Probe, TargetFacts
from registry.engines.capture import left_captured
from registry.engines.scan.capture_runs import Ids

_ARITY: Final = "positional argument"
"""Part of what the evaluator raises where a function is given more arguments than it takes."""

LAYERS: Final = 61
OTHER_LAYERS: Final = 36

PROBES: Final[tuple[tuple[Ids, int], ...]] = (
    (None, LAYERS),
    ((2, 30, 58), LAYERS),
    ((1, 29, 57), LAYERS),
    ((0, 29, 57), LAYERS),
    ((-1, 29, 57), LAYERS),
    ((57, 29, 1), LAYERS),
    ((2, 30, 60), LAYERS),
    ((2, 30, 61), LAYERS),
    ((1, 30, 61), LAYERS),
    ((3, 30, 62), LAYERS),
    ((-3, 2, 30), LAYERS),
    ((5, 5, 7), LAYERS),
    ((1,), LAYERS),
    ((), LAYERS),
    (None, OTHER_LAYERS),
    ((2, 18, 33), OTHER_LAYERS),
    ((1, 17, 32), OTHER_LAYERS),
    ((1, 9, 17, 25, 33), OTHER_LAYERS),
)
"""Ids with the number of layers of the target. Together they tell every dialect from every other, in order and out of
it, at both ends: depth 0, the last layer's output, beyond it, and counted from the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one probe did."""

    ids: Ids
    layers: int
    listed: tuple[int, ...] | None = None
    """Layer numbers that the setter asked for, where it left a list."""
    depths: tuple[int, ...] | None = None
    """Depths that the forward pass captured; None where something raised."""
    whole: frozenset[bool] = frozenset()
    """Of captured depths above 0, whether they are the residual stream."""
    setter_raises: str = ""
    pass_raises: str = ""

    def probe(self) -> Probe:
        """Return the outcome as the profile keeps it."""
        return Probe(
            ids=self.ids,
            layers=self.layers,
            depths=None if self.setter_raises or self.pass_raises else self.depths,
            asked=(self.listed or ()) if self.pass_raises else (),
            setter_raises=self.setter_raises,
            pass_raises=self.pass_raises,
        )

    def __str__(self) -> str:
        ids = "no ids" if self.ids is None else f"ids {list(self.ids)}"
        effect = self.setter_raises or self.pass_raises or f"depths {list(self.depths or ())}"
        return f"{ids} at {self.layers} layers: {effect}"


def fit(facts: TargetFacts, outcomes: Sequence[Outcome]) -> tuple[TargetFacts, str]:
    """Return facts that give every outcome, or unresolved ones with the first outcome that nothing gives.

    Args:
        facts: What is known already: names, methods, places.
        outcomes: One per probe.

    Returns:
        The facts, and the reason why they are not resolved; empty where they are.
    """
    failures = {outcome.setter_raises for outcome in outcomes if outcome.ids}
    if all(_ARITY in failure for failure in failures):
        return _fit_fixed(facts, outcomes)
    if all(failures):
        return _unresolved(facts), f"the setter raises with any ids: {min(failures)}"
    candidates = [name for name in dialects.READERS if _spells(name, outcomes)]
    if len(candidates) != 1:
        return _unresolved(facts), f"the ids fit {candidates or 'no dialect'}"
    fitted = replace(facts, dialect=candidates[0], default=_default(outcomes), **_limits(candidates[0], outcomes))
    for outcome in outcomes:
        if not agrees(fitted, outcome):
            return _unresolved(facts), f"no facts give every probe; seen: {outcome}"
    return fitted, ""


def _fit_fixed(facts: TargetFacts, outcomes: Sequence[Outcome]) -> tuple[TargetFacts, str]:
    """Fit a setter that takes no ids at all."""
    defaults = [outcome for outcome in outcomes if outcome.ids is None]
    if not all(outcome.depths for outcome in defaults):
        return _unresolved(facts), f"the setter raises: {outcomes[0].setter_raises or outcomes[1].setter_raises}"
    fitted = replace(facts, dialect=dialects.FIXED_DEFAULT, default=_default(outcomes), depth_zero="unresolved")
    return replace(fitted, stream=_stream(outcomes), depth_n="unresolved"), ""


def _spells(name: str, outcomes: Sequence[Outcome]) -> bool:
    """Tell whether a dialect reads the ids of every probe as the setter did."""
    listed = [outcome for outcome in outcomes if outcome.ids is not None and outcome.listed is not None]
    return bool(listed) and all(
        sorted(set(dialects.read(name, outcome.ids or (), layers=outcome.layers) or ()))
        == sorted(set(outcome.listed or ()))
        for outcome in listed
    )


def _default(outcomes: Sequence[Outcome]) -> str:
    defaults = [outcome for outcome in outcomes if outcome.ids is None]
    for name in sorted(dialects.DEFAULTS - {dialects.UNRESOLVED}):
        if all(
            (outcome.listed or outcome.depths) == dialects.default_depths(name, layers=outcome.layers)
            for outcome in defaults
        ):
            return name
    return dialects.UNRESOLVED


def _limits(dialect: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    def asked(outcome: Outcome) -> tuple[int, ...]:
        return dialects.read(dialect, outcome.ids or (), layers=outcome.layers) or ()

    explicit = [outcome for outcome in outcomes if outcome.ids is not None]
    last = [outcome for outcome in explicit if outcome.layers in asked(outcome)]
    zero = [outcome for outcome in explicit if 0 in asked(outcome)]
    below = [outcome for outcome in explicit if min(asked(outcome), default=0) < 0]
    beyond = [outcome for outcome in explicit if max(asked(outcome), default=0) > outcome.layers]
    plain = [outcome for outcome in explicit if all(0 < depth < outcome.layers for depth in asked(outcome))]
    nothing = all(outcome.depths == () for outcome in plain)
    ends = {
        "depth_zero": "raises" if any(outcome.pass_raises for outcome in zero) else "captured",
        "depth_n": "captured" if any(outcome.layers in (outcome.depths or ()) for outcome in last) else "dropped",
        "negative": "from_end" if any(_wrapped(outcome, asked(outcome)) for outcome in below) else "dropped",
        "out_of_range": "raises" if any(outcome.setter_raises for outcome in (*last, *beyond)) else "dropped",
    }
    return ends | {
        "captures": "nothing" if nothing else "listed",
        "stream": "residual" if nothing else _stream(outcomes),
    }


def _wrapped(outcome: Outcome, asked: tuple[int, ...]) -> bool:
    places = {depth + outcome.layers for depth in asked if depth < 0}
    return places <= set(outcome.depths or ())


def _stream(outcomes: Sequence[Outcome]) -> str:
    kinds = {kind for outcome in outcomes for kind in outcome.whole}
    return {frozenset({True}): "residual", frozenset({False}): "branch"}.get(frozenset(kinds), "unresolved")


def agrees(facts: TargetFacts, outcome: Outcome) -> bool:
    """Tell whether the facts give what a probe did."""
    captured = left_captured(replace(facts, needed_methods=()), outcome.ids, layers=outcome.layers)
    if outcome.setter_raises:
        return bool(captured.raises)
    if captured.depths is None or (outcome.depths is None and not outcome.pass_raises):
        return False
    fails = facts.depth_zero == "raises" and 0 in captured.depths
    return fails if outcome.pass_raises else not fails and captured.depths == outcome.depths


def _unresolved(facts: TargetFacts) -> TargetFacts:
    return replace(
        facts,
        dialect=dialects.UNRESOLVED,
        default=dialects.UNRESOLVED,
        captures="unresolved",
        depth_zero="unresolved",
        depth_n="unresolved",
    )


def unresolved(facts: TargetFacts) -> TargetFacts:
    """Return facts of a class whose behavior is not established."""
    return _unresolved(facts)
