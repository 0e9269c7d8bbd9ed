"""A reading: what one build makes of a draft config, a checkpoint and launch options. Effects, not opinions."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.domain.taps import Taps


class Outcome(StrEnum):
    """How a start with this proposal ends."""

    SERVES = "serves"
    CRASHES = "crashes"
    """Becomes healthy, then fails on a pass."""
    REFUSES = "refuses"
    """Does not become healthy, whatever the exception."""
    DEFAULTS = "defaults"
    """Serves with the configured ids ignored."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTaps:
    """Effective taps per phase: they can differ."""

    prefill: Taps
    decode: Taps

    def items(self) -> tuple[tuple[str, Taps], ...]:
        """Return (phase, taps) pairs."""
        return (("prefill", self.prefill), ("decode", self.decode))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundIds:
    """One list of ids found in the draft config."""

    pointer: str
    ids: tuple[int, ...] | None
    """None where the value is not a list of whole numbers."""
    used: bool
    """This is the list that the build hands to the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a build would refuse or crash: a stable word, and the reason for people."""

    code: Literal[
        "no_setter", "setter_raises", "depth_zero", "captures_nothing", "draft_class", "shape", "too_few", "bad_value",
        "tensor_refused", "layers", "launch",
    ]  # fmt: skip
    message: str
    when: Literal["start", "pass"]
    """`start`: before healthy; `pass`: on a forward pass after it."""
    pointer: str = ""
    """JSON Pointer to the one value of the draft config that is to blame, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Where the drafter's tensors go, by name as stored."""

    landed: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Unknown to the build and passed over, silently or with a warning."""
    refused: tuple[str, ...] = ()
    """Unknown to the build, which then refuses to start."""
    untouched: tuple[str, ...] = ()
    """Parameters (canonical names) that nothing fills: they keep what they were built with."""
    shared: tuple[str, ...] = ()
    """Parameters that the build takes from the target."""
    legacy: tuple[str, ...] = ()
    """Tensors that load under a name the build keeps only for old checkpoints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReading:
    """What the build's draft class makes of the drafter."""

    architecture: str | None
    supported: bool
    tap_count: int | None = None
    """Taps the build sizes `fc` for."""
    tap_count_from: str = ""
    """Where that count came from, in words or as a JSON Pointer."""
    load: Load = Load()
    fc_built: tuple[int, int] | None = None
    """Shape of `fc` as the build makes it: (hidden, taps times target hidden)."""
    fc_bypassed: bool = False
    """`fc` is skipped without a word, because what is captured is as wide as the embedding."""
    naming_understood: bool = True
    """False: the layer's tensors carry names that the build does not map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one build makes of a proposal."""

    outcome: Outcome
    runner: str | None
    runner_why: str = ""
    """Why this runner: asked for, or the build's default for the target."""
    taps: PhaseTaps | None
    """What is really left captured; None when there is no setter, it raises, or build or class are unknown."""
    found: tuple[FoundIds, ...] = ()
    requested: tuple[int, ...] = ()
    """Depths that the used ids ask for, existing or not; empty when the default holds."""
    lost: tuple[int, ...] = ()
    """Requested depths that this build never captures."""
    decode_graphs: Literal["ids", "default", "off"] = "ids"
    """What the decode graphs hold; `off` when they are disabled."""
    expressible: bool | None = None
    """Whether some id list reads as the trained taps here, in every phase, with an option or without.

    None: not asked."""
    captures: bool = True
    """False: capturing is switched off, by the config or by the launch options."""
    off_because: str = ""
    """What switches capturing off, in words."""
    failures: tuple[Failure, ...] = ()
    draft: DraftReading | None = None

    @property
    def used(self) -> FoundIds | None:
        """The list of ids that is handed to the target, if any."""
        return next((found for found in self.found if found.used), None)

    @property
    def ignored(self) -> tuple[FoundIds, ...]:
        """Lists of ids that are there and not used."""
        return tuple(found for found in self.found if not found.used)

    def failure(self, code: str) -> Failure | None:
        """Return the failure called `code`, or None."""
        return next((failure for failure in self.failures if failure.code == code), None)
