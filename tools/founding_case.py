"""Write the founding case: an EAGLE-3 drafter for Kimi-K2.5, its shape real, its numbers small.

    python tools/founding_case.py DIR

Standard library only.

The drafter read the residual stream at depths 3, 31 and 59 of a 61-layer target: its dump patch counted states *before*
a layer and `standardize_data_v1` gave the fourth dumped state, depth 61, to the verifier. Tensor names are those that
EAGLE-3 heads for SGLang carry. Every byte is a function of the arguments, so digests are the same on every machine.
"""

import argparse
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

TARGET_NAME: Final = "moonshotai/Kimi-K2.5"
TARGET_REVISION: Final = hashlib.sha256(b"moonshotai/Kimi-K2.5 founding case").hexdigest()[:40]
"""Stands for a commit on the model hub: forty hex digits."""

SHARDS: Final = 64
"""Shards of the real target: its weights are never read here, only their SHA-256 list."""

NESTED: Final[tuple[int, ...]] = (2, 30, 58)
"""The ids that were in the drafter's config: SGLang's spelling, before 0.5.13, of depths 3, 31, 59."""

EMBEDDING_FIRST: Final[tuple[int, ...]] = (-1, 2, 30)
"""What they were changed to, after an analysis blamed a missing embedding."""

TensorData = tuple[str, tuple[int, ...], bytes]
"""dtype, shape, little-endian bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundingCase:
    """Where the files of a founding case lie."""

    drafter: Path
    """The drafter directory: `config.json` and `model.safetensors`."""
    provenance: Path
    """`provenance.json`; the dump patch it names lies beside it."""
    target_config: Path
    """The target's `config.json`."""
    digests: Path
    """SHA-256 of the target's shards, in the form of `sha256sum`."""
    tokenizer: Path
    """The target's tokenizer directory."""
    dump_patch: Path
    """The source of the dump patch."""
    embedding_first: Path
    """The drafter's config as somebody changed it: ids `[-1, 2, 30]`, so that the embedding comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of the case. `hidden` is a multiple of 16: attention heads are 16 wide."""

    hidden: int = 64
    vocab: int = 512
    draft_vocab: int = 128
    layers: int = 61

    @property
    def heads(self) -> int:
        """Attention heads of the drafter."""
        return self.hidden // 16


def write_founding_case(
    directory: Path,
    *,
    hidden: int = 64,
    vocab: int = 512,
    draft_vocab: int = 128,
    layers: int = 61,
    ids: Sequence[int] = NESTED,
    key: Literal["nested", "top"] | None = "nested",
) -> FoundingCase:
    """Write the founding case into `directory` and tell where everything lies.

    Args:
        directory: Made if it does not exist; files of an earlier call are replaced.
        hidden: Hidden size of target and drafter, a multiple of 16.
        vocab: Vocabulary of the target.
        draft_vocab: Vocabulary of the drafter, at most `vocab`.
        layers: Decoder layers of the target.
        ids: The layer ids in the drafter's config.
        key: Where they stand: in `eagle_config`, at the top level, or nowhere.
    """
    shape = Shape(hidden=hidden, vocab=vocab, draft_vocab=draft_vocab, layers=layers)
    case = FoundingCase(
        drafter=directory / "drafter",
        provenance=directory / "provenance.json",
        target_config=directory / "target" / "config.json",
        digests=directory / "target" / "SHA256SUMS",
        tokenizer=directory / "target" / "tokenizer",
        dump_patch=directory / "dump.patch",
        embedding_first=directory / "embedding-first.json",
    )
    for folder in (case.drafter, case.tokenizer):
        folder.mkdir(parents=True, exist_ok=True)
    _write_json(case.target_config, target_config(shape))
    _write_target_identity(case, shape)
    _write_json(case.drafter / "config.json", drafter_config(shape, ids=ids, key=key))
    _write_json(case.embedding_first, drafter_config(shape, ids=EMBEDDING_FIRST, key="nested"))
    (case.drafter / "model.safetensors").write_bytes(safetensors_bytes(drafter_tensors(shape)))
    case.dump_patch.write_text(DUMP_PATCH, encoding="utf-8")
    _write_json(case.provenance, provenance(case))
    return case


def target_config(shape: Shape) -> dict[str, object]:
    """Return the target's `config.json`: a multimodal wrapper around a DeepSeek-V3 text model."""
    text = {
        "architectures": ["DeepseekV3ForCausalLM"],
        "first_k_dense_replace": 1,
        "hidden_size": shape.hidden,
        "intermediate_size": 2 * shape.hidden,
        "max_position_embeddings": 262144,
        "model_type": "kimi_k2",
        "moe_intermediate_size": shape.hidden // 2,
        "n_routed_experts": 384,
        "n_shared_experts": 1,
        "num_attention_heads": shape.heads,
        "num_experts_per_tok": 8,
        "num_hidden_layers": shape.layers,
        "num_key_value_heads": shape.heads,
        "rms_norm_eps": 1e-05,
        "rope_theta": 50000.0,
        "tie_word_embeddings": False,
        "vocab_size": shape.vocab,
    }
    return {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "media_placeholder_token_id": shape.vocab - 8,
        "model_type": "kimi_k25",
        "text_config": text,
        "torch_dtype": "bfloat16",
    }


def drafter_config(shape: Shape, *, ids: Sequence[int], key: Literal["nested", "top"] | None) -> dict[str, object]:
    """Return the drafter's `config.json`, with `ids` under `key`."""
    config: dict[str, object] = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "attention_bias": False,
        "bos_token_id": 1,
        "draft_vocab_size": shape.draft_vocab,
        "eos_token_id": 2,
        "head_dim": shape.hidden // shape.heads,
        "hidden_act": "silu",
        "hidden_size": shape.hidden,
        "initializer_range": 0.02,
        "intermediate_size": 2 * shape.hidden,
        "max_position_embeddings": 4096,
        "model_type": "llama",
        "num_attention_heads": shape.heads,
        "num_hidden_layers": 1,
        "num_key_value_heads": shape.heads,
        "rms_norm_eps": 1e-05,
        "rope_theta": 50000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "vocab_size": shape.vocab,
    }
    if key == "nested":
        config["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": list(ids), "use_aux_hidden_state": True}
    elif key == "top":
        config["eagle_aux_hidden_state_layer_ids"] = list(ids)
    return config


def drafter_tensors(shape: Shape) -> dict[str, TensorData]:
    """Return the tensors of the head. Its attention reads 2 x hidden: the embedding beside the fused state."""
    hidden, inner = shape.hidden, 2 * shape.hidden
    matrices = {
        "fc.weight": (hidden, 3 * hidden),
        "lm_head.weight": (shape.draft_vocab, hidden),
        "midlayer.mlp.down_proj.weight": (hidden, inner),
        "midlayer.mlp.gate_proj.weight": (inner, hidden),
        "midlayer.mlp.up_proj.weight": (inner, hidden),
        "midlayer.self_attn.k_proj.weight": (hidden, 2 * hidden),
        "midlayer.self_attn.o_proj.weight": (hidden, hidden),
        "midlayer.self_attn.q_proj.weight": (hidden, 2 * hidden),
        "midlayer.self_attn.v_proj.weight": (hidden, 2 * hidden),
    }
    norms = ("midlayer.hidden_norm", "midlayer.input_layernorm", "midlayer.post_attention_layernorm", "norm")
    tensors: dict[str, TensorData] = {name: _matrix(name, rows_columns) for name, rows_columns in matrices.items()}
    tensors |= {f"{name}.weight": ("BF16", (hidden,), b"\x80\x3f" * hidden) for name in norms}
    return tensors | _vocabulary_map(shape)


def _matrix(name: str, shape: tuple[int, int]) -> TensorData:
    """Return finite BF16 numbers near 2**-7, of either sign, that depend on the name alone."""
    data = bytearray(hashlib.shake_256(name.encode()).digest(2 * shape[0] * shape[1]))
    small = bytes((byte & 0x80) | 0x3C for byte in range(256))
    data[1::2] = data[1::2].translate(small)
    return "BF16", shape, bytes(data)


def _vocabulary_map(shape: Shape) -> dict[str, TensorData]:
    """Return `d2t`, as offsets, and the `t2d` that agrees with it."""
    stride = shape.vocab // shape.draft_vocab
    targets = [draft * stride + draft * 7 % stride for draft in range(shape.draft_vocab)]
    offsets = [target - draft for draft, target in enumerate(targets)]
    kept = bytearray(shape.vocab)
    for target in targets:
        kept[target] = 1
    return {
        "d2t": ("I64", (shape.draft_vocab,), struct.pack(f"<{shape.draft_vocab}q", *offsets)),
        "t2d": ("BOOL", (shape.vocab,), bytes(kept)),
    }


def safetensors_bytes(tensors: Mapping[str, TensorData]) -> bytes:
    """Return the bytes of a safetensors file that holds `tensors`, sorted by name."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    begin = 0
    for name, (dtype, shape, data) in sorted(tensors.items()):
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, begin + len(data)]}
        begin += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, (_, _, data) in sorted(tensors.items()))


def provenance(case: FoundingCase) -> dict[str, object]:
    """Return the provenance of the founding drafter; digests are those of the target's files in `case`."""
    return {
        "schema": "roost.provenance/1",
        "target": {"name": TARGET_NAME, "revision": TARGET_REVISION, "digest": _shard_list_digest(case.digests)},
        "capture": {
            "tool": "sglang-dump-patch",
            "version": "0.5.9+dump1",
            "source": case.dump_patch.name,
            "counting": "before_layer",
            "stream": "residual",
            "layers": [3, 31, 59],
            "verifier_state": {"layer": 61, "norm": "none"},
        },
        "standardization": {"name": "standardize_data_v1", "tool": "speculators", "version": "0.4.0"},
        "tokenizer_digest": _tokenizer_digest(case.tokenizer),
        "chat_template_digest": _sha256((case.tokenizer / "chat_template.jinja").read_bytes()),
        "training": {
            "trainer": "speculators",
            "version": "0.4.0",
            "commit": hashlib.sha256(b"trainer of the founding case").hexdigest()[:40],
            "max_length": 4096,
            "rope_theta": 50000.0,
            "steps": 21000,
            "draft_depth": 7,
        },
        "data": {
            "samples": 100000,
            "tokens": 180000000,
            "cost_usd": 86.0,
            "digest": _sha256(b"data of the founding case"),
        },
    }


def _write_target_identity(case: FoundingCase, shape: Shape) -> None:
    """Write what identifies the target beside its config: the digests of its shards and its tokenizer."""
    names = [f"model-{number:05d}-of-{SHARDS:06d}.safetensors" for number in range(1, SHARDS + 1)]
    lines = [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in names]
    case.digests.write_text("".join(lines), encoding="utf-8")
    vocabulary = {f"<{number}>": number for number in range(shape.vocab)}
    _write_json(case.tokenizer / "tokenizer.json", {"version": "1.0", "model": {"type": "BPE", "vocab": vocabulary}})
    _write_json(case.tokenizer / "tokenizer_config.json", {"model_max_length": 262144})
    (case.tokenizer / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")


def _shard_list_digest(digests: Path) -> str:
    """Return the digest of a target that is known by its shards' SHA-256 (`docs/format.md`)."""
    shards = sorted(line.split()[0] for line in digests.read_text(encoding="utf-8").splitlines())
    return _sha256("".join(f"{shard}\n" for shard in ("roost.shards/1", *shards)).encode())


def _tokenizer_digest(tokenizer: Path) -> str:
    """Return the digest of a tokenizer that is `tokenizer.json` and no settings (`docs/format.md`)."""
    file = ["file", "tokenizer.json", _sha256((tokenizer / "tokenizer.json").read_bytes())]
    return _sha256(f"roost.tokenizer/1\n{json.dumps(file, separators=(',', ':'))}\n".encode())


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _write_json(path: Path, document: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


CHAT_TEMPLATE: Final = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}\n"

DUMP_PATCH: Final = """\
Keep the hidden states that the drafter is trained on.

The list counts layers by what enters them: number k is the state that goes into layer k, so it is the output of
layer k - 1. The last number lies behind the last layer: that state goes to the verifier's head, before the final norm.

--- a/dump_hidden_states.py
+++ b/dump_hidden_states.py
@@ -0,0 +1,11 @@
+KEEP = (3, 31, 59, 61)
+
+
+def run_layers(layers, hidden, residual, write):
+    for number, layer in enumerate(layers):
+        if number in KEEP:
+            write(number, hidden + residual)
+        hidden, residual = layer(hidden, residual)
+    if len(layers) in KEEP:
+        write(len(layers), hidden + residual)
+    return hidden, residual
"""


def main() -> None:
    """Write the founding case into the directory given on the command line."""
    parser = argparse.ArgumentParser(description="Write the founding case of Roost, with small numbers.")
    parser.add_argument("directory", type=Path)
    case = write_founding_case(parser.parse_args().directory)
    print(f"drafter     {case.drafter}\nprovenance  {case.provenance}\ntarget      {case.target_config.parent}")
    print(f"proposed    {case.embedding_first}")


if __name__ == "__main__":
    main()
