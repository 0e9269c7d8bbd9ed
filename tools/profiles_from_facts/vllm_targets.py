"""vLLM's target classes: from the model body a class runs to its facts, and what earlier builds refuse.

Up to 0.18.0 the speculative config holds a list of model types and refuses every target whose text model type contains
none of them, whatever its class can do (0.11.2 config/speculative.py:618, 0.18.0 :780).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from registry.domain.dialects import UNRESOLVED
from registry.domain.profile import TargetFacts

_INTERFACE: Final = "vllm/model_executor/models/interfaces.py"
"""The setter that every class inherits from 0.18.0 on hands its ids to `EagleModelMixin`, where depth = id."""

_ALLOWED: Final[Mapping[str, tuple[str, ...]]] = {
    "0.11.2": ("llama", "qwen", "minicpm", "gpt_oss"),
    "0.18.0": (
        "llama", "qwen", "minicpm", "gpt_oss", "hunyuan_vl", "hunyuan_v1_dense", "afmoe", "nemotron_h", "deepseek_v2",
        "deepseek_v3", "kimi_k2", "kimi_k25",
    ),
}  # fmt: skip

_MODEL_TYPES: Final[Mapping[str, str]] = {
    "AfmoeForCausalLM": "afmoe", "ApertusForCausalLM": "apertus", "AquilaForCausalLM": "aquila",
    "ArceeForCausalLM": "arcee", "CwmForCausalLM": "cwm", "DeepseekForCausalLM": "deepseek",
    "DeepseekV2ForCausalLM": "deepseek_v2", "DeepseekV32ForCausalLM": "deepseek_v32",
    "DeepseekV3ForCausalLM": "deepseek_v3", "Ernie4_5ForCausalLM": "ernie4_5", "Fairseq2LlamaForCausalLM": "llama",
    "GlmForCausalLM": "glm", "GlmMoeDsaForCausalLM": "glm_moe_dsa", "GptOssForCausalLM": "gpt_oss",
    "HunYuanDenseV1ForCausalLM": "hunyuan_v1_dense", "HunYuanMoEV1ForCausalLM": "hunyuan_v1_moe",
    "InternLM3ForCausalLM": "internlm3", "InternLMForCausalLM": "internlm",
    "KimiK25ForConditionalGeneration": "kimi_k2",
    "LLaMAForCausalLM": "llama", "Llama4ForCausalLM": "llama4_text", "Llama4ForConditionalGeneration": "llama4_text",
    "LlamaForCausalLM": "llama", "MiMoForCausalLM": "mimo", "MiniCPM3ForCausalLM": "minicpm3",
    "MiniCPMForCausalLM": "minicpm", "MistralForCausalLM": "mistral", "Phi3ForCausalLM": "phi3",
    "Qwen2ForCausalLM": "qwen2", "Qwen2_5_VLForConditionalGeneration": "qwen2_5_vl", "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3_moe", "Qwen3VLForConditionalGeneration": "qwen3_vl_text",
    "Qwen3VLMoeForConditionalGeneration": "qwen3_vl_moe_text", "Qwen3_5ForConditionalGeneration": "qwen3_5_text",
    "Qwen3_5MoeForConditionalGeneration": "qwen3_5_moe_text", "SmolLM3ForCausalLM": "smollm3",
    "XverseForCausalLM": "xverse",
}  # fmt: skip
"""Text model type of architectures that fix it; the others wrap whatever text model their config names."""

_STREAMS: Final[Mapping[tuple[str, str], str]] = {("0.33.0", "DeepseekV4ForCausalLM"): "hyper_connection_mean"}
"""Bodies whose state is no plain residual stream: 0.33.0 models/deepseek_v4/nvidia/model.py:1006."""

_OTHER_STREAMS: Final = frozenset({"DeepseekV4ForCausalLM", "DeepseekV41ForCausalLM", "KimiK3ForConditionalGeneration"})
"""Classes with several streams: what a depth names there is not established where `_STREAMS` does not say."""


def target_facts(version: str, name: str, entry: Mapping[str, Any], bodies: Mapping[str, TargetFacts]) -> TargetFacts:
    """Return the facts of one architecture: its body's where that was executed, else what the shared setter says."""
    body = bodies.get(entry.get("body", ""))
    # A class that runs an executed body was itself only read: it may differ in what surrounds the loop.
    facts = replace(body, target_class=name) if body else _by_interface(version, name, entry["at"])
    own = body is not None and entry["at"].split("/")[-1].split(".")[0] in _OWN_FILES.get(name, ())
    return replace(
        facts,
        refused=_refused(version, name),
        delegates_to=entry.get("delegates_to"),
        note=facts.note or _note(version, name, entry),
        at=entry["at"],
        established=facts.established if own else "read",
        **_uncertain(version, name),
    )


_OWN_FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "LlamaForCausalLM": ("llama", "interfaces"),
    "Qwen2ForCausalLM": ("qwen2", "interfaces"),
    "Qwen3ForCausalLM": ("qwen3", "interfaces"),
    "Qwen3MoeForCausalLM": ("qwen3_moe", "interfaces"),
    "GptOssForCausalLM": ("gpt_oss", "interfaces"),
    "MiniCPMForCausalLM": ("minicpm", "interfaces"),
    "ApertusForCausalLM": ("apertus", "interfaces"),
    "MiniMaxM2ForCausalLM": ("minimax_m2", "interfaces"),
    "DeepseekV2ForCausalLM": ("deepseek_v2",),
    "DeepseekV3ForCausalLM": ("deepseek_v2",),
}
"""Classes that the executed rows name themselves."""


def _by_interface(version: str, name: str, at: str) -> TargetFacts:
    known = at.startswith(_INTERFACE) or (version, name) in _STREAMS
    return TargetFacts(
        target_class=name,
        dialect="identity" if known else UNRESOLVED,
        default="early_middle_late" if known else UNRESOLVED,
        captures="listed" if known else "unresolved",
        stream=_STREAMS.get((version, name), "residual"),
        depth_zero="unresolved",
        depth_n="unresolved",
        established="read",
    )


def _uncertain(version: str, name: str) -> dict[str, Any]:
    """Return what fails closed: a wrapper whose text model decides, or a stream that is not established."""
    unknown_type = version in _ALLOWED and name not in _MODEL_TYPES
    unknown_stream = name in _OTHER_STREAMS and (version, name) not in _STREAMS
    return {"captures": "unresolved"} if unknown_type or unknown_stream else {}


def _note(version: str, name: str, entry: Mapping[str, Any]) -> str:
    if version in _ALLOWED and name not in _MODEL_TYPES:
        return f"served only where the text model type contains one of: {', '.join(_ALLOWED[version])}"
    if name in _OTHER_STREAMS:
        return "the state is gathered from several streams: a depth alone does not name it"
    return f"the class is at {entry['class_at']}" if "class_at" in entry else ""


def _refused(version: str, name: str) -> str:
    model_type = _MODEL_TYPES.get(name)
    allowed = _ALLOWED.get(version)
    if allowed is None or model_type is None or any(word in model_type for word in allowed):
        return ""
    return f"model type {model_type!r} contains none of the names this build takes for EAGLE-3: {', '.join(allowed)}"


def unsupported(version: str) -> tuple[TargetFacts, ...]:
    """Return classes that people ask about and that a build cannot serve, whatever a wrapper is given."""
    if version != "0.11.2":
        return ()
    lacks = "its model body captures no states, and its model type is not one this build takes for EAGLE-3"
    absent = f"this build does not have the class; {lacks}"
    return (
        _hopeless("KimiK25ForConditionalGeneration", absent, "vllm/model_executor/models/registry.py"),
        *(
            _hopeless(name, lacks, "vllm/model_executor/models/deepseek_v2.py")
            for name in ("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM")
        ),
        _hopeless(
            "ApertusForCausalLM",
            "its body can capture states, but the class does not declare SupportsEagle3 and its model type is not one"
            " this build takes for EAGLE-3",
            "vllm/model_executor/models/apertus.py:494",
        ),
    )


def _hopeless(name: str, why: str, at: str) -> TargetFacts:
    return TargetFacts(
        target_class=name,
        dialect=UNRESOLVED,
        default=UNRESOLVED,
        captures="unresolved",
        depth_zero="unresolved",
        depth_n="unresolved",
        refused=why,
        at=at,
        established="read",
    )
