"""Provenance: how a checkpoint was trained, and the taps that follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from registry.domain.digests import Digest
from registry.domain.semantics import DraftSemantics
from registry.domain.standardization import RECIPES
from registry.domain.taps import Norm, Tap, Taps


class Grade(StrEnum):
    """How well a fact is established."""

    DECLARED = "declared"
    """Someone said so."""
    DERIVED = "derived"
    """Read from the dump patch's source."""
    MEASURED = "measured"
    """Shown by numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRef:
    """The target a drafter was trained for, by name; revision and digest where somebody recorded them."""

    name: str
    revision: str | None = None
    digest: Digest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierState:
    """The last state, given to the verifier's head; counted like the layers of the dump."""

    layer: int
    norm: Norm = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What the dump patch was asked for, in its own counting."""

    tool: str
    counting: str
    """`before_layer`, `after_layer`, or an engine dialect such as `sglang==0.5.9`."""
    layers: tuple[int, ...]
    version: str | None = None
    source: str | None = None
    """File name of the dump patch, relative to the provenance file."""
    source_digest: Digest | None = None
    """SHA-256 of that file as stored; set by the registry."""
    stream: str = "residual"
    verifier_state: VerifierState | Literal["separate"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standardization:
    """The step that turned the dump into training features."""

    name: str
    tool: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The training run, as far as serving or retraining needs it."""

    trainer: str | None = None
    version: str | None = None
    commit: str | None = None
    max_length: int | None = None
    rope_theta: float | None = None
    steps: int | None = None
    draft_depth: int | None = None
    """Draft steps the head was unrolled for in training."""
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The training data."""

    samples: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    digest: Digest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How one checkpoint was trained. Facts nobody has are None; nothing is defaulted."""

    target: TargetRef
    capture: Capture
    standardization: Standardization
    tokenizer_digest: Digest | None = None
    chat_template_digest: Digest | None = None
    training: Training = field(default_factory=Training)
    data: Data = field(default_factory=Data)
    semantics: DraftSemantics = field(default_factory=DraftSemantics)
    grades: Mapping[str, Grade] = field(default_factory=dict)
    """JSON Pointer into the provenance document -> grade; facts without an entry are `declared`."""

    def grade(self, pointer: str) -> Grade:
        """Return the grade of the fact at `pointer`."""
        return self.grades.get(pointer, Grade.DECLARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedTaps:
    """The taps a checkpoint was trained on, or the reason why they are not known."""

    taps: Taps | None
    verifier: Tap | Literal["separate"] | None = None
    """The last state, where the record names it."""
    why_unknown: str = ""
    captured: frozenset[int] | None = None
    """Every depth that the dump holds, the verifier's included; None where the counting is unknown."""
    features: tuple[int, ...] = ()
    """Depths of `capture.layers` in order, whatever became of them; empty where the counting is unknown."""
    impossible: tuple[int, ...] = ()
    """Of those and the verifier's, the depths that the target does not have: the record is wrong."""


def plain_counting(counting: str) -> int | None:
    """Return what to add to a layer number of a plain counting to get its depth, or None for an engine's dialect."""
    return {"before_layer": 0, "after_layer": 1}.get(counting)


def trained_taps(
    provenance: Provenance, depths: tuple[int, ...] | None, *, verifier_depth: int | None, layers: int | None = None
) -> TrainedTaps:
    """Apply the standardization recipe to the dump's depths.

    Args:
        provenance: The record.
        depths: The depths of `capture.layers`, in order; None when the counting cannot be read.
        verifier_depth: The depth of `capture.verifier_state`, if the record names one.
        layers: Decoder layers of the target that the record names; None where that is not known.

    Returns:
        The taps; none where the recipe is not known, or where a depth is one that the target does not have.
    """
    capture = provenance.capture
    if depths is None:
        return TrainedTaps(taps=None, why_unknown=f"the counting {capture.counting!r} is not known here")
    captured = frozenset(depths) | ({verifier_depth} if verifier_depth is not None else frozenset())
    found = TrainedTaps(
        taps=None,
        verifier=_verifier(capture, verifier_depth),
        captured=captured,
        features=depths,
        impossible=tuple(sorted(depth for depth in captured if depth < 0 or (layers is not None and depth > layers))),
    )
    wrong = set(found.impossible) & set(depths)
    if wrong:
        named = ", ".join(str(depth) for depth in sorted(wrong))
        limit = "" if layers is None else f", and its target has {layers} layers"
        return replace(found, why_unknown=f"the record names depth {named}{limit}")
    if provenance.standardization.name not in RECIPES:
        return replace(found, why_unknown=f"the standardization {provenance.standardization.name!r} is not known here")
    return replace(found, taps=tuple(Tap(depth=depth, stream=capture.stream) for depth in depths))


def _verifier(capture: Capture, depth: int | None) -> Tap | Literal["separate"] | None:
    state = capture.verifier_state
    if state is None or state == "separate":
        return state
    return Tap(depth=depth, stream=capture.stream, norm=state.norm) if depth is not None else None
