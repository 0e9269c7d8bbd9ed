"""Draft semantics: what else, beside its taps, a drafter was trained to expect."""

from dataclasses import dataclass
from typing import Literal

Flag = bool | None
"""True, False, or None: nobody said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSemantics:
    """The trained meaning of a draft's flags; engines spell them differently (`docs/concepts.md`)."""

    norm_before_fc: Flag = None
    """One norm over the whole concatenation before `fc`."""
    fc_norm: Flag = None
    """One norm per tap before `fc`."""
    norm_output: Flag = None
    """The state fed back is the one after the final norm (the meaning of vLLM and speculators, not SpecForge's)."""
    norm_before_residual: Flag = None
    """The residual is taken after `hidden_norm`."""
    embedding: Literal["own", "target"] | None = None
    head: Literal["own", "target"] | None = None


def seen_in_tensors(names: frozenset[str]) -> DraftSemantics:
    """Derive what tensor names alone show: norms and an embedding or head that are stored were trained."""
    return DraftSemantics(
        norm_before_fc=_stored(names, "input_norm.weight"),
        fc_norm=any(".fc_norm." in f".{name}" or "aux_norm_" in name for name in names),
        embedding="own" if _stored(names, "embed_tokens.weight") else "target",
        head="own" if _stored(names, "lm_head.weight") else "target",
    )


def _stored(names: frozenset[str], ending: str) -> bool:
    return any(name == ending or name.endswith("." + ending) for name in names)
