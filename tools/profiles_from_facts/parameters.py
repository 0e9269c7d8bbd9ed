"""Parameter names of one-layer EAGLE-3 heads in the canonical spelling: `layers.0.` for the layer, no `model.`."""

from typing import Final

_LAYER: Final = "layers.0."
_NORMS: Final = ("hidden_norm", "input_layernorm", "post_attention_layernorm")
_MLP: Final = ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
_OUTSIDE: Final = ("norm.weight", "lm_head.weight", "embed_tokens.weight")
_MHA: Final = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
_LATENT: Final = (
    "self_attn.q_a_proj", "self_attn.q_a_layernorm", "self_attn.q_b_proj", "self_attn.kv_a_proj_with_mqa",
    "self_attn.kv_a_layernorm", "self_attn.kv_b_proj", "self_attn.o_proj",
)  # fmt: skip


def _head(*attention: str) -> tuple[str, ...]:
    inner = tuple(f"{_LAYER}{part}.weight" for part in (*_NORMS, *attention, *_MLP))
    return ("fc.weight", *inner, *_OUTSIDE)


LLAMA: Final = _head(*_MHA)
"""Multi-head or grouped-query attention."""

QWEN3: Final = _head(*_MHA, "self_attn.q_norm", "self_attn.k_norm")
"""The same with norms on queries and keys."""

MLA: Final = _head(*_LATENT)
"""Multi-head latent attention, as in DeepSeek V2 and V3."""

BUFFERS: Final = ("d2t", "t2d")
FC_NORMS: Final = ("fc_norm.0.weight",)
"""One norm per tap; the first stands for all."""
INPUT_NORM: Final = ("input_norm.weight",)
LLAMA_BIASES: Final = (f"{_LAYER}self_attn.o_proj.bias",)
QKV_BIASES: Final = tuple(f"{_LAYER}self_attn.{part}_proj.bias" for part in "qkv")
