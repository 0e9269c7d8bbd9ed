"""SGLang's draft classes from the `draft_arch` rows; parameter names as their constructors make them."""

from typing import Final, Literal

from registry.domain.profile import DraftFacts, Rename
from tools.profiles_from_facts.parameters import BUFFERS, FC_NORMS, INPUT_NORM, LLAMA, LLAMA_BIASES, MLA
from tools.profiles_from_facts.rows import FactsError, Row

_UNMATCHED: Final[dict[str, Literal["dropped", "warned"]]] = {
    "dropped silently": "dropped",
    "dropped with a warning": "warned",
}
_FLAGS: Final = ("fc_norm", "norm_output", "norm_before_fc")


def draft_facts(row: Row) -> DraftFacts:
    """Return the facts of one `draft_arch` row.

    Raises:
        FactsError: the row describes a class or a behavior that is not known here.
    """
    name, unmatched = row["architecture"], row["unmatched_names"]
    if name not in _PARAMETERS or unmatched not in _UNMATCHED:
        raise FactsError(f"sglang {row['version']} {name}: cannot be described (unmatched names: {unmatched!r})")
    both = any(spelling.startswith("layers.") for spelling in row["layer_weight_names"])
    own_is_layers = row["renames"].get("midlayer") == "layers.0"
    return DraftFacts(
        architectures=(name,),
        parameters=_PARAMETERS[name],
        optional=_optional(row),
        renames=tuple(_rename(old, new) for old, new in row["renames"].items()),
        layer_prefixes=("midlayer.", "layers.0.") if both else ("midlayer.",),
        legacy_names=("midlayer.",) if own_is_layers else (),
        model_prefix="accepted" if row.get("model_prefix_accepted") else "doubled",
        unknown_tensor=_UNMATCHED[unmatched],
        many_layers=row["num_hidden_layers"] == "any",
        tap_count=_tap_count(row),
        flags={flag: "honored" if row[flag] else "ignored" for flag in _FLAGS} | {"norm_before_residual": "ignored"},
        head_shared="null_draft_vocab",
        embedding_shared="always",
        fc_bypass=True,
        at=row["file"],
    )


_PARAMETERS: Final = {"LlamaForCausalLMEagle3": LLAMA, "Eagle3DeepseekV2ForCausalLM": MLA}


def _optional(row: Row) -> tuple[str, ...]:
    biases = LLAMA_BIASES if row["architecture"] == "LlamaForCausalLMEagle3" else ()
    norms = (*(FC_NORMS if row["fc_norm"] else ()), *(INPUT_NORM if row["norm_before_fc"] else ()))
    return (*BUFFERS, "fc.bias", *biases, *norms)


def _rename(old: str, new: str) -> Rename:
    return Rename(old=old.removeprefix("^"), new=new, anchored=old.startswith("^"))


def _tap_count(row: Row) -> tuple[str, ...]:
    text = row["num_aux"]
    if text == "fixed 3":
        return ()
    if text.startswith("config.num_aux_hidden_states, else len(eagle_config"):
        return ("num_aux_hidden_states", "nested")
    if text.startswith("len(eagle_config ids) else len(top-level"):
        return ("nested", "top_level")
    raise FactsError(f"sglang {row['version']} {row['architecture']}: no known source of the tap count: {text!r}")
