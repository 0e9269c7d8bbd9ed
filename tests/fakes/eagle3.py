"""EAGLE-3 heads in the shapes of public reports: their configs, their tensors by name and shape, and their records."""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.domain.digests import Digest
from registry.domain.proposal import Proposal, parse_build
from registry.domain.provenance import Capture, Data, Provenance, Standardization, TargetRef, Training, VerifierState
from registry.domain.target import Target
from registry.domain.tensors import Inventory, Tensor, VocabMap
from registry.engines.launch import parse_launch
from registry.services.cases import Subject

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"
DIGEST = Digest("sha256:" + "3" * 64)
OTHER_DIGEST = Digest("sha256:" + "4" * 64)

LAYER = {
    "hidden_norm.weight": (1,),
    "input_layernorm.weight": (1,),
    "post_attention_layernorm.weight": (1,),
    "self_attn.q_proj.weight": (1, 2),
    "self_attn.k_proj.weight": (1, 2),
    "self_attn.v_proj.weight": (1, 2),
    "self_attn.o_proj.weight": (1, 1),
    "mlp.gate_proj.weight": (2, 1),
    "mlp.up_proj.weight": (2, 1),
    "mlp.down_proj.weight": (1, 2),
}
"""The decoder layer of a Llama-like head; sizes are multiples of the hidden size."""


def target(target_class: str, *, layers: int, hidden: int, vocab: int = 128256, **changes: Any) -> Target:
    made: dict[str, Any] = {"name": "made/target", "dense": True, "digest": DIGEST, **changes}
    return Target(target_class=target_class, layers=layers, hidden_size=hidden, vocab_size=vocab, **made)


def tensors(
    *,
    hidden: int,
    taps: int = 3,
    rows: int = 32000,
    vocab: int = 128256,
    target_hidden: int | None = None,
    layer: str = "midlayer.",
    without: Sequence[str] = (),
    adding: Mapping[str, tuple[int, ...]] | None = None,
) -> tuple[Tensor, ...]:
    """Return the tensors of a head; `taps` 1 with `use_aux_hidden_state` off is a head of the last state only."""
    wide = target_hidden or hidden
    shapes = {f"{layer}{name}": tuple(hidden * factor for factor in shape) for name, shape in LAYER.items()}
    shapes |= {"fc.weight": (hidden, taps * wide), "norm.weight": (hidden,), "lm_head.weight": (rows, hidden)}
    if rows != vocab:
        shapes |= {"d2t": (rows,), "t2d": (vocab,)}
    shapes = {name: shape for name, shape in shapes.items() if name not in without} | dict(adding or {})
    return tuple(Tensor(name=name, dtype=_dtype(name), shape=shape) for name, shape in sorted(shapes.items()))


def _dtype(name: str) -> str:
    return {"d2t": "I64", "t2d": "BOOL"}.get(name, "BF16")


def vocab_map(*, rows: int = 32000, vocab: int = 128256, **changes: Any) -> VocabMap:
    """Return the facts of a map whose last kept token is the last of the vocabulary."""
    facts: dict[str, Any] = {
        "rows": rows, "offset_min": 0, "offset_max": vocab - 1, "offset_increasing": True, "absolute_min": 0,
        "absolute_max": vocab - rows, "absolute_increasing": False, "all_zero": False, "t2d_rows": vocab,
        "t2d_true": rows, "t2d_agrees": True,
    }  # fmt: skip
    return VocabMap(**{**facts, **changes})


def config(
    ids: Sequence[int] | None = None, *, key: str = NESTED, hidden: int, rows: int | None = 32000, **more: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "hidden_size": hidden,
        "num_hidden_layers": 1,
        "vocab_size": 128256,
        "draft_vocab_size": rows,
        "tie_word_embeddings": False,
    }
    if ids is not None and key == NESTED:
        made["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": list(ids), "use_aux_hidden_state": True}
    elif ids is not None:
        made[key.removeprefix("/")] = list(ids)
    return {**made, **more}


def provenance(
    layers: Sequence[int],
    *,
    counting: str = "before_layer",
    recipe: str = "specforge_offline",
    verifier: int | str | None = "separate",
    digest: Digest | None = DIGEST,
    **changes: Any,
) -> Provenance:
    state = VerifierState(layer=verifier) if isinstance(verifier, int) else verifier
    return Provenance(
        target=TargetRef(name="made/target", digest=digest),
        capture=Capture(
            tool="dump", counting=counting, layers=tuple(layers), verifier_state=state,  # type: ignore[arg-type]
            stream=changes.pop("stream", "residual"),
        ),
        standardization=Standardization(name=recipe),
        training=Training(trainer="SpecForge", steps=1000),
        data=Data(samples=100_000, cost_usd=86.0),
        **changes,
    )  # fmt: skip


def head(stored: Mapping[str, Any], *, mapping: VocabMap | str | None = "sound", **shape: Any) -> Inventory:
    """Return the inventory of a head with this `config.json` and these tensors."""
    made = tensors(**shape)
    mapped = any(tensor.name == "d2t" for tensor in made)
    if mapping == "sound":
        sizes = {name: shape[name] for name in ("rows", "vocab") if name in shape}
        mapping = vocab_map(**sizes) if mapped else None
    return Inventory(files=(), tensors=made, config=dict(stored), vocab_map=mapping)  # type: ignore[arg-type]


def subject(inventory: Inventory, record: Provenance, trained_target: Target, **changes: Any) -> Subject:
    return Subject(ref="made@1", inventory=inventory, provenance=record, trained_target=trained_target, **changes)


def proposal(
    engine: str, draft_config: Mapping[str, Any] | None = None, *, launch: str | None = None, runner: str | None = None
) -> Proposal:
    build = parse_build(engine)
    return Proposal(
        checkpoint="made@1",
        build=build,
        draft_config=draft_config,
        launch=None if launch is None else parse_launch(launch, build.engine),
        runner=runner,  # type: ignore[arg-type]
    )
