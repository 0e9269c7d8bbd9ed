"""A stub of a draft class built from a probe config: its parameters, and where each tensor of a checkpoint lands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from registry.engines.scan.classes import ClassInfo, Index
from registry.engines.scan.evaluator import Evaluator
from registry.engines.scan.limits import Budget, Raised, Unfollowed
from registry.engines.scan.model_stub import in_models, required
from registry.engines.scan.values import Function, Instance, Native, Opaque, Value

HIDDEN: Final = 64
TARGET_HIDDEN: Final = 96
"""Wide enough to tell the two apart in any product with a small count."""

BASE: Final[Mapping[str, Any]] = {
    "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": 128, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "num_hidden_layers": 1, "vocab_size": 1000, "draft_vocab_size": 320,
    "rms_norm_eps": 1e-6, "hidden_act": "silu", "max_position_embeddings": 4096, "rope_theta": 10000.0,
    "rope_scaling": None, "tie_word_embeddings": False, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
    "q_lora_rank": 24, "kv_lora_rank": 16, "attention_bias": False, "mlp_bias": False, "torch_dtype": None,
    "partial_rotary_factor": 1.0, "architectures": ["Draft"],
}  # fmt: skip
"""A one-layer drafter that sets every key that any of the draft classes reads without a default."""

_DEEPEST_PART: Final = 6


class Param(Opaque):
    """One parameter of a draft model; `name` is the dotted one."""

    def __init__(self, name: str) -> None:
        super().__init__(f"parameter {name}")
        self.name = name

    @property
    def made(self) -> bool:
        """A parameter is an object, so never None."""
        return True

    def attribute(self, name: str) -> Value:
        """Return its loader, which takes the parameter first."""
        return Opaque(f"{self.name}.{name}")


@dataclass(kw_only=True)
class DraftStub:
    """One draft model, built as far as its constructor goes."""

    evaluator: Evaluator
    model: Instance
    info: ClassInfo
    calls: list[tuple[str, list[Value]]] = field(default_factory=list)
    """Calls of the engine's own code while loading: what was called, with what."""

    def value(self, *path: str) -> Value:
        """Return an attribute by its path, or None where there is none."""
        value: Value = self.model
        for name in path:
            try:
                value = self.evaluator.attribute(value, name)
            except (Raised, Unfollowed):
                return None
        return value

    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters, dotted, sorted."""
        return tuple(sorted(set(_parameters(self.evaluator, self.model, "", depth=0))))


def build_draft(
    index: Index, info: ClassInfo, changes: Mapping[str, Any], *, without: tuple[str, ...] = ()
) -> DraftStub:
    """Return a stub of a draft class for `BASE` with changes.

    Raises:
        Raised: the constructor refuses the config.
        Unfollowed: the constructor is not followed.
    """
    evaluator = Evaluator(index, budget=Budget(steps=400_000), enter=in_models)
    evaluator.told = {"is_last_rank": True, "is_first_rank": True, "world_size": 1, "tp_size": 1, "attn_tp_size": 1}
    attrs = {key: value for key, value in {**BASE, **changes}.items() if key not in without}
    config = Instance(label="draft config", attrs=attrs)
    method = index.method(info, "__init__")
    kwargs: dict[str, Value] = {"config": config, "quant_config": None, "prefix": ""}
    if method is not None:
        names = {entry.arg for entry in method[1].args.args}
        kwargs = {name: value for name, value in kwargs.items() if name in names}
        kwargs |= {name: Opaque(name) for name in required(method[1].args) if name not in kwargs and name != "self"}
    model = Instance(label=info.name, cls=info, kwargs=kwargs, pending=True)
    stub = DraftStub(evaluator=evaluator, model=model, info=info)
    evaluator.on_unknown_call = lambda function, args, given: _unknown(stub, function, args, given)
    evaluator.attribute(model, "config")
    return stub


def _unknown(stub: DraftStub, function: Opaque, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if function.tail == "ModuleList" and args and isinstance(args[0], list):
        return args[0]
    stub.calls.append((function.label, [*args, *kwargs.values()]))
    return None


def _parameters(evaluator: Evaluator, part: Value, prefix: str, *, depth: int) -> Iterator[str]:
    """Yield the parameters of a part: modules of the engine's own hold a weight, and a bias where one was asked for."""
    if depth > _DEEPEST_PART:
        return
    if isinstance(part, list):
        for place, entry in enumerate(part):
            yield from _parameters(evaluator, entry, f"{prefix}{place}.", depth=depth + 1)
    elif isinstance(part, Instance):
        evaluator.construct(part)
        if part.rest == "opaque":
            yield from _own(prefix, part.kwargs)
            return
        for name, value in list(part.attrs.items()):
            if isinstance(value, list | Opaque) or (isinstance(value, Instance) and value.cls is not None):
                yield from _parameters(evaluator, value, f"{prefix}{name}.", depth=depth + 1)
    elif isinstance(part, Opaque) and part.made and "Config" not in part.tail:
        # PyTorch's own linear layer has a bias unless told otherwise; the engine's layers have it only if asked.
        yield from _own(prefix, {"bias": part.label.endswith("nn.Linear()"), **part.named})
        for name, value in list(part.attrs.items()):
            yield from _parameters(evaluator, value, f"{prefix}{name}.", depth=depth + 1)


def _own(prefix: str, given: Mapping[str, Value]) -> Iterator[str]:
    yield f"{prefix}weight"
    if given.get("bias") is True:
        yield f"{prefix}bias"


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """What loading tensors did."""

    filled: frozenset[str]
    """Parameters that a tensor was loaded into."""
    mapping: Value = None
    """What the class keeps as its map from draft to target ids; None where nothing was kept."""
    warned: bool = False
    raised: str = ""


class Tensor(Opaque):
    """A tensor of a checkpoint."""

    def __init__(self, name: str) -> None:
        super().__init__(f"tensor {name}")
        self.name = name

    @property
    def made(self) -> bool:
        """A tensor is an object, so never None."""
        return True


def load(stub: DraftStub, names: tuple[str, ...], parameters: tuple[str, ...]) -> Landed:
    """Load tensors of the given names, in that order, into a draft with the given parameters.

    Raises:
        Unfollowed: loading is not followed.
    """
    stub.calls.clear()
    stub.model.attrs["hot_token_id"] = None
    named = [(name, Param(name)) for name in parameters]
    stub.model.attrs["named_parameters"] = Native("named_parameters", lambda _args, _kwargs: list(named))
    weights = [(name, Tensor(name)) for name in names]
    raised = ""
    try:
        loader = stub.evaluator.attribute(stub.model, "load_weights")
        before = len(stub.evaluator.assumed)
        with stub.evaluator.leniently():
            stub.evaluator.run(loader, [weights])
        _refuse_assumptions(loader, stub.evaluator.assumed[before:])
    except Raised as error:
        raised = str(error)
    filled = {
        value.name
        for label, values in stub.calls
        if not label.endswith((".warning", ".warn", ".info")) and any(_from_tensor(value) for value in values)
        for value in values
        if isinstance(value, Param)
    }
    warned = any(label.endswith((".warning", ".warn")) for label, _ in stub.calls)
    mapping = stub.model.attrs.get("hot_token_id")
    return Landed(filled=frozenset(filled), mapping=mapping, warned=warned, raised=raised)


def _refuse_assumptions(loader: Value, assumed: list[tuple[str, int]]) -> None:
    """Refuse to conclude anything where an unknown condition decided inside the loader itself.

    What it calls afterwards, to rearrange weights that have landed, does not matter.

    Raises:
        Unfollowed: there was such a condition.
    """
    if not isinstance(loader, Function):
        return
    first, last = loader.node.lineno, loader.node.end_lineno or 0
    for path, line in assumed:
        if path == loader.path and first <= line <= last:
            raise Unfollowed(path, line, "where a tensor lands depends on something unknown")


def _from_tensor(value: Value, depth: int = 0) -> bool:
    """Tell whether a value is a tensor of the checkpoint, or was made from some."""
    if isinstance(value, Tensor):
        return True
    parts = value.parts if isinstance(value, Opaque) else value if isinstance(value, list | tuple) else ()
    return depth < 4 and any(_from_tensor(part, depth + 1) for part in parts)  # noqa: PLR2004  # cat of a list
