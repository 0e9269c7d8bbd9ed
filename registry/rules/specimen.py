"""The founding case as a specimen, for the runnable examples of the rules: small, whole, and changed by keywords.

A drafter for Kimi-K2.5 (61 layers) with hidden size 64 and a vocabulary of 256, trained on depths 3, 31, 59, served
by an SGLang build that reads ids as the outputs of layers: `[2, 30, 58]` is right there.
"""

from dataclasses import replace
from typing import Any, Final

from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.case import Case, Lineage, LineageEntry
from registry.domain.digests import Digest
from registry.domain.profile import (
    DraftFacts,
    Graphs,
    IdKey,
    LaunchFacts,
    Profile,
    Runner,
    TargetFacts,
)  # fmt: skip
from registry.domain.proposal import Build, Proposal
from registry.domain.provenance import (
    Capture,
    Data,
    Provenance,
    Standardization,
    TargetRef,
    TrainedTaps,
    Training,
    VerifierState,
)  # fmt: skip
from registry.domain.reading import DraftReading, Failure, FoundIds, Load, Outcome, PhaseTaps, Reading
from registry.domain.taps import Tap, at_depths
from registry.domain.target import Target
from registry.domain.tensors import Inventory, Tensor, VocabMap

HIDDEN: Final = 64
VOCAB: Final = 256
DRAFT_VOCAB: Final = 96
LAYERS: Final = 61
TARGET_CLASS: Final = "KimiK25ForConditionalGeneration"
DRAFT_CLASS: Final = "LlamaForCausalLMEagle3"
NESTED: Final = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP_LEVEL: Final = "/eagle_aux_hidden_state_layer_ids"
DIGEST: Final = Digest("sha256:" + "1" * 64)
OTHER_DIGEST: Final = Digest("sha256:" + "2" * 64)

SHAPES: Final[dict[str, tuple[int, ...]]] = {
    "d2t": (DRAFT_VOCAB,),
    "fc.weight": (HIDDEN, 3 * HIDDEN),
    "lm_head.weight": (DRAFT_VOCAB, HIDDEN),
    "midlayer.hidden_norm.weight": (HIDDEN,),
    "midlayer.input_layernorm.weight": (HIDDEN,),
    "midlayer.mlp.down_proj.weight": (HIDDEN, 2 * HIDDEN),
    "midlayer.mlp.gate_proj.weight": (2 * HIDDEN, HIDDEN),
    "midlayer.mlp.up_proj.weight": (2 * HIDDEN, HIDDEN),
    "midlayer.post_attention_layernorm.weight": (HIDDEN,),
    "midlayer.self_attn.k_proj.weight": (HIDDEN, 2 * HIDDEN),
    "midlayer.self_attn.o_proj.weight": (HIDDEN, HIDDEN),
    "midlayer.self_attn.q_proj.weight": (HIDDEN, 2 * HIDDEN),
    "midlayer.self_attn.v_proj.weight": (HIDDEN, 2 * HIDDEN),
    "norm.weight": (HIDDEN,),
    "t2d": (VOCAB,),
}
"""Tensors of the specimen drafter."""

CONFIG: Final[dict[str, object]] = {
    "architectures": [DRAFT_CLASS],
    "hidden_size": HIDDEN,
    "vocab_size": VOCAB,
    "draft_vocab_size": DRAFT_VOCAB,
    "num_hidden_layers": 1,
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 30, 58]},
}

FACTS: Final = TargetFacts(
    target_class=TARGET_CLASS,
    dialect="plus_one",
    default="early_middle_late",
    delegates_to="DeepseekV3ForCausalLM",
    at="models/kimi_k25.py:841",
)

VOCAB_MAP: Final = VocabMap(
    rows=DRAFT_VOCAB,
    offset_min=0,
    offset_max=190,
    offset_increasing=True,
    absolute_min=0,
    absolute_max=95,
    absolute_increasing=False,
    all_zero=False,
    t2d_rows=VOCAB,
    t2d_true=DRAFT_VOCAB,
    t2d_agrees=True,
)

METHODS: Final = ("set_eagle3_layers_to_capture", "get_embed_and_head", "set_embed_and_head")


def entry(version: str, *, supported: bool = True, ids_hold: bool = True, dialect: str = "plus_one") -> LineageEntry:
    """Return one shipped build of the specimen's lineage."""
    missing = () if supported else METHODS
    facts = replace(FACTS, missing_methods=missing, needed_methods=missing[:2], dialect=dialect)
    return LineageEntry(version=version, facts=facts, ids_hold_in_graphs=ids_hold)


LINEAGE: Final = Lineage(
    entries=(
        entry("0.5.9", supported=False, ids_hold=False),
        entry("0.5.10", ids_hold=False),
        entry("0.5.10.post1", ids_hold=False),
        entry("0.5.11"),
        entry("0.5.12.post1"),
        entry("0.5.13", dialect="first_is_one"),
        entry("0.5.23", dialect="first_is_one"),
    ),
    nearest=("0.5.11", "0.5.12.post1"),
)

PROFILE: Final = Profile(
    engine="sglang",
    version="0.5.12.post1",
    digest="sha256:" + "0" * 64,
    targets={TARGET_CLASS: FACTS},
    runners=(Runner(keys=(IdKey(pointer=NESTED),), capture_off="/eagle_config/use_aux_hidden_state"),),
    graphs=Graphs(ids_hold=True, disable_option="--disable-cuda-graph", cost="slower decoding"),
    drafts=(
        DraftFacts(
            architectures=(DRAFT_CLASS,),
            parameters=("fc.weight", "layers.0.self_attn.q_proj.weight", "lm_head.weight", "norm.weight"),
            optional=("d2t", "t2d"),
            legacy_names=("midlayer.",),
            tap_count=("num_aux_hidden_states", "nested"),
            head_shared="null_draft_vocab",
        ),
    ),
    launch=LaunchFacts(algorithm="EAGLE3", startup_pass=True, skip_startup_pass="--skip-server-warmup"),  # noqa: S106  # an option
)

DRAFT: Final = DraftReading(
    architecture=DRAFT_CLASS,
    supported=True,
    tap_count=3,
    tap_count_from=NESTED,
    load=Load(landed=tuple(SHAPES)),
    fc_built=(HIDDEN, 3 * HIDDEN),
)

TARGET: Final = Target(
    name="moonshotai/Kimi-K2.5",
    revision="0123456789abcdef0123456789abcdef01234567",
    target_class=TARGET_CLASS,
    layers=LAYERS,
    hidden_size=HIDDEN,
    vocab_size=VOCAB,
    dense=False,
    digest=DIGEST,
    tokenizer_digest=DIGEST,
)

PROVENANCE: Final = Provenance(
    target=TargetRef(name=TARGET.name, revision=TARGET.revision, digest=DIGEST),
    capture=Capture(
        tool="sglang-dump-patch",
        version="0.5.9+dump1",
        counting="before_layer",
        layers=(3, 31, 59),
        verifier_state=VerifierState(layer=LAYERS),
    ),
    standardization=Standardization(name="standardize_data_v1", tool="speculators", version="0.4.0"),
    tokenizer_digest=DIGEST,
    training=Training(trainer="speculators", version="0.4.0", steps=21000),
    data=Data(samples=100_000, cost_usd=86.0),
)


def trained(*depths: int, verifier: int | None = LAYERS) -> TrainedTaps:
    """Return taps trained at `depths`, and the verifier's state where there is one."""
    state = Tap(depth=verifier) if verifier is not None else None
    captured = frozenset(depths) | ({verifier} if verifier is not None else frozenset())
    return TrainedTaps(taps=at_depths(depths), verifier=state, captured=captured, features=depths)


def tensors(shapes: dict[str, tuple[int, ...]]) -> tuple[Tensor, ...]:
    """Return tensors of these shapes in one file, sorted by name."""
    return tuple(
        Tensor(name=name, dtype="I64" if name == "d2t" else "BF16", shape=shape, file="model.safetensors")
        for name, shape in sorted(shapes.items())
    )


INVENTORY: Final = Inventory(files=(), tensors=tensors(SHAPES), config=CONFIG, vocab_map=VOCAB_MAP)


def inventory(
    *,
    without: tuple[str, ...] = (),
    adding: dict[str, tuple[int, ...]] | None = None,
    renaming: tuple[str, str] = ("", ""),
    **changes: Any,
) -> Inventory:
    """Return the specimen's inventory with other tensors; further changes are fields of `Inventory`."""
    shapes = {name.replace(*renaming): shape for name, shape in SHAPES.items() if name not in without}
    return replace(INVENTORY, tensors=tensors(shapes | (adding or {})), **changes)


def vocab_map(**changes: Any) -> Inventory:
    """Return the specimen's inventory with another vocabulary map; changes are fields of `VocabMap`."""
    return replace(INVENTORY, vocab_map=replace(VOCAB_MAP, **changes))


def config(**changes: object) -> dict[str, object]:
    """Return the specimen's draft config with other values; None takes a key away."""
    return {key: value for key, value in (CONFIG | changes).items() if value is not None}


def ids(*numbers: int, pointer: str = NESTED, used: bool = True) -> FoundIds:
    """Return one list of ids as found in the draft config."""
    return FoundIds(pointer=pointer, ids=numbers, used=used)


def phases(prefill: tuple[int, ...], decode: tuple[int, ...] | None = None) -> PhaseTaps:
    """Return effective taps; decode is as prefill unless given."""
    return PhaseTaps(prefill=at_depths(prefill), decode=at_depths(prefill if decode is None else decode))


def failure(code: Any, message: str, when: Any = "start") -> tuple[Failure, ...]:
    """Return one failure, as a reading holds them."""
    return (Failure(code=code, message=message, when=when),)


READING: Final = Reading(
    outcome=Outcome.SERVES,
    runner=None,
    taps=phases((3, 31, 59)),
    found=(ids(2, 30, 58),),
    requested=(3, 31, 59),
    expressible=True,
    draft=DRAFT,
)


def reading(**changes: Any) -> Reading:
    """Return the specimen's reading, changed; changes are fields of `Reading`."""
    return replace(READING, **changes)


def drafted(**changes: Any) -> Reading:
    """Return the specimen's reading with another draft side; changes are fields of `DraftReading`."""
    return replace(READING, draft=replace(DRAFT, **changes))


def loaded(**changes: Any) -> Reading:
    """Return the specimen's reading with tensors that load otherwise; changes are fields of `Load`."""
    return drafted(load=replace(DRAFT.load, **changes))


def target(**changes: Any) -> Target:
    """Return the specimen's target, changed; changes are fields of `Target`."""
    return replace(TARGET, **changes)


def facts(**changes: Any) -> TargetFacts:
    """Return what the specimen's build does with the target class, changed; changes are fields of `TargetFacts`."""
    return replace(FACTS, **changes)


def profile(**changes: Any) -> Profile:
    """Return the specimen's profile, changed; changes are fields of `Profile`."""
    return replace(PROFILE, **changes)


def capture(*layers: int, recipe: str = "standardize_data_v1", **changes: Any) -> Provenance:
    """Return provenance with another dump; changes are fields of `Capture`."""
    return replace(
        PROVENANCE,
        capture=replace(PROVENANCE.capture, layers=layers, **changes),
        standardization=replace(PROVENANCE.standardization, name=recipe),
    )


def fault(kind: FaultKind, *, observed: str, expected: str, where: str = "") -> tuple[ArtifactFault, ...]:
    """Return one fault of `model.safetensors`, as a case holds them."""
    return (ArtifactFault(kind=kind, file="model.safetensors", where=where, observed=observed, expected=expected),)


SPECIMEN: Final = Case(
    ref="kimi-k25-eagle3@1",
    inventory=INVENTORY,
    provenance=PROVENANCE,
    trained=trained(3, 31, 59),
    trained_target=TARGET,
    target=TARGET,
    proposal=Proposal(checkpoint="kimi-k25-eagle3@1", build=Build(engine="sglang", version="0.5.12.post1")),
    config=CONFIG,
    profile=PROFILE,
    target_facts=FACTS,
    reading=READING,
    lineage=LINEAGE,
)
"""A case in which nothing is wrong."""


def specimen(**changes: Any) -> Case:
    """Return the specimen case, changed; changes are fields of `Case`."""
    return replace(SPECIMEN, **changes)
