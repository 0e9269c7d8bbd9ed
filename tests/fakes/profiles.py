"""Small made-up profiles: one target class, one draft class, every fact open to change."""

from dataclasses import replace

from registry.domain.profile import DraftFacts, Graphs, IdKey, LaunchFacts, Profile, Runner, TargetFacts
from registry.domain.target import Target
from registry.domain.tensors import Inventory, Tensor
from registry.engines.reader import Situation

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"

LAYER = (
    "hidden_norm.weight", "input_layernorm.weight", "post_attention_layernorm.weight",
    "self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight", "self_attn.o_proj.weight",
    "mlp.gate_proj.weight", "mlp.up_proj.weight", "mlp.down_proj.weight",
)  # fmt: skip


def target_facts(**changes):
    facts = TargetFacts(target_class="Made", dialect="plus_one", default="early_middle_late")
    return replace(facts, **changes)


def draft_facts(**changes):
    facts = DraftFacts(
        architectures=("LlamaForCausalLMEagle3",),
        parameters=(
            "fc.weight", *(f"layers.0.{name}" for name in LAYER), "norm.weight", "lm_head.weight",
            "embed_tokens.weight",
        ),
        optional=("d2t", "t2d"),
        tap_count=("num_aux_hidden_states", "nested"),
        head_shared="null_draft_vocab",
        many_layers=True,
    )  # fmt: skip
    return replace(facts, **changes)


def profile(*, engine="sglang", facts=None, keys=((NESTED, "identity"),), ids_hold=True, draft=None, **changes):
    made = Profile(
        engine=engine,
        version="1.0",
        digest="sha256:" + "0" * 64,
        targets={"Made": facts or target_facts()},
        runners=(Runner(keys=tuple(IdKey(pointer=pointer, dialect=dialect) for pointer, dialect in keys)),),
        graphs=Graphs(
            ids_hold=ids_hold, disable_option="--disable-cuda-graph" if not ids_hold else None, cost="slower"
        ),
        drafts=(draft or draft_facts(),),
        launch=LaunchFacts(algorithm="EAGLE3", startup_pass=True, skip_startup_pass="--skip-server-warmup"),
    )
    return replace(made, **changes)


def target(*, layers=61, hidden=64):
    return Target(
        name="made/target", target_class="Made", layers=layers, hidden_size=hidden, vocab_size=512, dense=True
    )


def inventory(*, taps=3, hidden=64, rows=128, layer="midlayer.", without=(), extra=()):
    names = ["fc.weight", *(layer + name for name in LAYER), "norm.weight", "lm_head.weight", "d2t", "t2d", *extra]
    shapes = {
        "fc.weight": (hidden, taps * hidden),
        "lm_head.weight": (rows, hidden),
        f"{layer}self_attn.q_proj.weight": (hidden, 2 * hidden),
    }
    tensors = [
        Tensor(name=name, dtype="BF16", shape=shapes.get(name, (hidden,))) for name in names if name not in without
    ]
    return Inventory(files=(), tensors=tuple(sorted(tensors, key=lambda tensor: tensor.name)))


def config(ids=None, *, pointer=NESTED, hidden=64, rows=128, **more):
    made = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "hidden_size": hidden,
        "num_hidden_layers": 1,
        "vocab_size": 512,
        "draft_vocab_size": rows,
        **more,
    }
    if ids is not None:
        if pointer == NESTED:
            made["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": ids}
        else:
            made["eagle_aux_hidden_state_layer_ids"] = ids
    return made


def situation(made_profile=None, made_config=None, *, layers=61, taps=3, **changes):
    made = Situation(
        profile=made_profile or profile(),
        config=config([2, 30, 58]) if made_config is None else made_config,
        inventory=inventory(taps=taps),
        target=target(layers=layers),
    )
    return replace(made, **changes)
