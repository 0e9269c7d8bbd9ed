"""What rules look up about a drafter: tensors under either spelling of their names, sizes, and places in the config."""

from collections.abc import Mapping
from typing import Final

from registry.domain.case import Case
from registry.domain.profile import DraftFacts

LAYER_NAMES: Final = ("midlayer.", "layers.")
"""How files spell the decoder layer: SafeAILab's and SpecForge's name, and the one of speculators and ModelOpt."""


def whole(config: Mapping[str, object], key: str) -> int | None:
    """Return the whole number under a top-level key, or None."""
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def target_hidden(case: Case) -> int | None:
    """Return the width of one captured state: the trained target's, else the target's, else the config's."""
    for target in (case.trained_target, case.target):
        if target is not None and target.hidden_size is not None:
            return target.hidden_size
    return whole(case.config, "target_hidden_size") or whole(case.config, "hidden_size")


def fc_states(case: Case) -> int | None:
    """Return how many states `fc` takes, or None where that is no whole number or cannot be known."""
    fc, hidden = case.inventory.find("fc.weight"), target_hidden(case)
    if fc is None or len(fc.shape) != 2 or not hidden or fc.shape[1] % hidden:  # noqa: PLR2004  # a matrix
        return None
    return fc.shape[1] // hidden


def target_vocab(case: Case) -> int | None:
    """Return the target's vocabulary size, else the one that the draft config names."""
    for target in (case.target, case.trained_target):
        if target is not None and target.vocab_size is not None:
            return target.vocab_size
    return whole(case.config, "vocab_size")


def draft_vocab(case: Case) -> int | None:
    """Return the drafter's vocabulary size: as configured, else the rows of its head."""
    configured = whole(case.config, "draft_vocab_size")
    if configured is not None:
        return configured
    head = case.inventory.find("lm_head.weight")
    return head.shape[0] if head is not None and head.shape else None


def is_reduced(case: Case) -> bool:
    """Tell whether the drafter's vocabulary is known to be smaller than the target's."""
    own, whole_vocab = draft_vocab(case), target_vocab(case)
    return own is not None and whole_vocab is not None and own < whole_vocab


def layer_input(case: Case) -> int | None:
    """Return how many columns the first layer's attention reads, or None where the projection is not stored."""
    endings = ("self_attn.q_proj.weight", "self_attn.q_a_proj.weight", "self_attn.qkv_proj.weight")
    for tensor in case.inventory.tensors:
        name = tensor.bare_name
        if name.startswith(("midlayer.", "layers.0.")) and name.endswith(endings) and len(tensor.shape) > 1:
            return tensor.shape[1]
    return None


def fitting_class(case: Case) -> str | None:
    """Return the first draft class of the build whose parameters the tensors fill, or None.

    An EAGLE-3 layer attends over embedding and hidden state side by side, so its projection takes twice the columns.
    """
    hidden, columns = whole(case.config, "hidden_size"), layer_input(case)
    if hidden is None or columns != 2 * hidden or case.inventory.find("fc.weight") is None:
        return None
    stored = frozenset(_canonical(tensor.bare_name) for tensor in case.inventory.tensors)
    drafts = case.profile.drafts if case.profile else ()
    return next((draft.architectures[0] for draft in drafts if stored.issuperset(_needed(draft))), None)


def _canonical(name: str) -> str:
    return f"layers.0.{name.removeprefix('midlayer.')}" if name.startswith("midlayer.") else name


def _needed(draft: DraftFacts) -> frozenset[str]:
    return frozenset(draft.parameters) - {"lm_head.weight", "embed_tokens.weight"}


def used_at(case: Case) -> str:
    """Return where in the proposal the ids are that the build reads, or the draft config where there are none."""
    used = case.reading.used if case.reading else None
    return f"/draft_config{used.pointer}" if used else "/draft_config"


def build_name(case: Case) -> str:
    """Return the build as proposals name it, or `this build`."""
    return str(case.proposal.build) if case.proposal else "this build"


def class_name(case: Case) -> str:
    """Return the target's class, or `the target class`."""
    return (case.target.target_class if case.target else None) or "the target class"
