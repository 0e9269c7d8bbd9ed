"""vLLM's draft classes, read in the wheels: llama_eagle3.py, qwen3_eagle3.py, deepseek_eagle3.py, registry.py."""

from dataclasses import replace
from typing import Final

from registry.domain.profile import DraftFacts, Rename
from tools.profiles_from_facts.parameters import (
    BUFFERS,
    FC_NORMS,
    INPUT_NORM,
    LLAMA,
    LLAMA_BIASES,
    MLA,
    QKV_BIASES,
    QWEN3,
)

_FILES: Final = "vllm/model_executor/models/"

_USE_AUX: Final = "use_aux_hidden_state"
"""False in `eagle_config`: the Llama class makes no `fc` and skips its tensors (from 0.14.1)."""

_LLAMA_0_11: Final = DraftFacts(
    # A name that neither starts nor ends with Eagle3 gets that prefix (transformers_utils/configs/eagle.py), so the
    # plain one loads too.
    architectures=(
        "LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM", "LlamaForCausalLM", "Eagle3Qwen2_5vlForCausalLM",
    ),
    parameters=LLAMA,
    optional=(*BUFFERS, *LLAMA_BIASES),
    renames=(Rename(old="midlayer.", new="layers.0."),),
    model_prefix="doubled",
    unknown_tensor="refused",
    many_layers=True,
    flags={"norm_before_residual": "honored", "norm_before_fc": "ignored", "fc_norm": "ignored",
           "norm_output": "ignored"},
    head_shared="absent",
    embedding_shared="absent_or_equal",
    at=f"{_FILES}llama_eagle3.py",
)  # fmt: skip

_LLAMA_0_18: Final = replace(
    _LLAMA_0_11,
    architectures=(*_LLAMA_0_11.architectures, "Eagle3Qwen3vlForCausalLM"),
    optional=(*_LLAMA_0_11.optional, *QKV_BIASES, *INPUT_NORM),
    flags={**_LLAMA_0_11.flags, "norm_before_fc": "honored", _USE_AUX: "honored"},
)

_HONORED: Final = {"norm_before_residual", "norm_before_fc", "fc_norm", "norm_output"}
_TAP_COUNT: Final = ("num_aux_hidden_states", "nested")

_LLAMA_0_28: Final = replace(
    _LLAMA_0_18,
    architectures=(
        *_LLAMA_0_18.architectures, "Eagle3MiniMaxM2ForCausalLM", "MiniMaxM2ForCausalLM", "PEagleDraftModel",
        "PeagleLlamaForCausalLM",
    ),
    optional=(*_LLAMA_0_18.optional, *FC_NORMS),
    flags=dict.fromkeys(sorted({*_HONORED, _USE_AUX}), "honored"),
    tap_count=_TAP_COUNT,
)  # fmt: skip

_QWEN3: Final = replace(
    _LLAMA_0_28,
    architectures=("Eagle3Qwen3ForCausalLM", "Qwen3ForCausalLM", "PeagleQwen3ForCausalLM"),
    parameters=QWEN3,
    # Whether this class skips fc for a head of no taps was not read.
    flags=dict.fromkeys(sorted(_HONORED), "honored"),
    tap_count=("num_aux_hidden_states", "top_level", "nested"),
    at=f"{_FILES}qwen3_eagle3.py",
)

_DEEPSEEK_0_18: Final = replace(
    _LLAMA_0_11,
    architectures=(
        "Eagle3DeepseekV2ForCausalLM", "Eagle3DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM",
    ),
    parameters=MLA,
    optional=BUFFERS,
    at=f"{_FILES}deepseek_eagle3.py",
)  # fmt: skip

_DEEPSEEK_0_28: Final = replace(
    _DEEPSEEK_0_18,
    optional=(*BUFFERS, *FC_NORMS),
    flags={**_DEEPSEEK_0_18.flags, "fc_norm": "honored", "norm_output": "honored"},
    tap_count=_TAP_COUNT,
)

_FROM_0_28: Final = (_LLAMA_0_28, _QWEN3, _DEEPSEEK_0_28)

DRAFTS: Final[dict[str, tuple[DraftFacts, ...]]] = {
    "0.11.2": (_LLAMA_0_11,),
    "0.18.0": (_LLAMA_0_18, _DEEPSEEK_0_18),
    "0.28.0": _FROM_0_28,
    "0.33.0": _FROM_0_28,
}
"""Version -> its EAGLE-3 draft classes."""
