"""Draft classes: which configs they take, and where the tensors of a checkpoint land in them.

Constructors and loaders are followed on probe configs and names. The names tried are those that EAGLE-3 drafters are
published with; a class with other parameters shows them as missing ones here.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from registry.domain.profile import DraftFacts, Rename
from registry.engines.scan.classes import ClassInfo, Index
from registry.engines.scan.draft_stub import HIDDEN, DraftStub, Landed, Tensor, build_draft, load
from registry.engines.scan.entry_classes import entry_classes, model_files
from registry.engines.scan.limits import Raised, Unfollowed
from registry.engines.scan.parsing import dotted
from registry.engines.scan.values import Instance, Opaque, Value

_LAYER: Final = "layers.0."
_INNER: Final = (
    "hidden_norm.weight", "input_layernorm.weight", "post_attention_layernorm.weight", "self_attn.q_proj.weight",
    "self_attn.k_proj.weight", "self_attn.v_proj.weight", "self_attn.q_norm.weight", "self_attn.k_norm.weight",
    "self_attn.q_a_proj.weight", "self_attn.q_a_layernorm.weight", "self_attn.q_b_proj.weight",
    "self_attn.kv_a_proj_with_mqa.weight", "self_attn.kv_a_layernorm.weight", "self_attn.kv_b_proj.weight",
    "self_attn.o_proj.weight", "mlp.gate_proj.weight", "mlp.up_proj.weight", "mlp.down_proj.weight",
)  # fmt: skip
_OUTER: Final = ("norm.weight", "lm_head.weight", "embed_tokens.weight")
_CANDIDATES: Final = ("fc.weight", *(_LAYER + name for name in _INNER), *_OUTER)
_OPTIONAL: Final = (
    "fc.bias", *(f"{_LAYER}self_attn.{part}_proj.bias" for part in "qkvo"), "fc_norm.0.weight", "input_norm.weight",
)  # fmt: skip
_TOGETHER: Final = ("self_attn.q_a_proj.weight", "self_attn.kv_a_proj_with_mqa.weight")
"""Two tensors that a class may take only as a pair."""
_EVERYTHING: Final[Mapping[str, Any]] = {
    "bias": True, "attention_bias": True, "fc_norm": True, "norm_before_fc": True, "norm_output": True,
}  # fmt: skip
_IDS: Final = "eagle_aux_hidden_state_layer_ids"
_COUNTS: Final[Mapping[str, tuple[int, Mapping[str, Any]]]] = {
    "num_aux_hidden_states": (5, {"num_aux_hidden_states": 5}),
    "nested": (4, {"eagle_config": {_IDS: [1, 2, 3, 4]}}),
    "top_level": (6, {_IDS: [1, 2, 3, 4, 5, 6]}),
}
"""Where a count of taps can be said, each with a count of its own."""
_FLAGS: Final = ("fc_norm", "norm_output", "norm_before_fc", "norm_before_residual")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedDraft:
    """One draft class with what does not fit into its facts."""

    facts: DraftFacts
    d2t: str = "unresolved"
    """`offsets`: target id = draft id + entry; `absolute`: the entry is the target id; `ignored`."""
    problem: Unfollowed | None = None

    def document(self) -> dict[str, Any]:
        """Return what goes beside the facts in the profile."""
        return {"d2t": self.d2t} | ({"unresolved_because": str(self.problem)} if self.problem else {})


def scan_drafts(index: Index) -> Iterator[ScannedDraft]:
    """Yield the EAGLE-3 draft classes of a build; one that cannot be followed is yielded with the reason."""
    files = tuple(path for path in model_files(index) if "Eagle3" in index.text(path))
    found = {entry.info.name: entry for entry in entry_classes(index, files) if "Eagle3" in entry.info.name}
    for entry in sorted(found.values(), key=lambda entry: (entry.file != _FIRST, entry.info.name)):
        try:
            yield _scan(index, entry.info)
        except (Unfollowed, Raised) as reason:
            file, line = entry.info.path, entry.info.node.lineno
            problem = reason if isinstance(reason, Unfollowed) else Unfollowed(file, line, f"not built: {reason}")
            facts = DraftFacts(architectures=(entry.info.name,), parameters=("fc.weight",), at=entry.info.at)
            yield ScannedDraft(facts=facts, problem=problem)


_FIRST: Final = "sglang/srt/models/llama_eagle3.py"


def _scan(index: Index, info: ClassInfo) -> ScannedDraft:
    plain, full = build_draft(index, info, {}), build_draft(index, info, _EVERYTHING)
    landing = _Landing(plain=plain, full=full)
    both = {prefix: landing.lands(plain, f"{prefix}mlp.down_proj.weight") for prefix in ("midlayer.", _LAYER)}
    own = _LAYER if any(name.startswith(f"model.{_LAYER}") for name in landing.names(plain)) else "midlayer."
    mapped = load(plain, ("d2t",), landing.names(plain))
    spelled = tuple(prefix for prefix, lands in both.items() if lands)
    facts = DraftFacts(
        architectures=(info.name,),
        parameters=tuple(name for name in _CANDIDATES if landing.takes(plain, name, own)),
        optional=(*_buffers(index, info, mapped), *_optional(landing, own)),
        renames=tuple(_renames(index, info)),
        layer_prefixes=spelled or ("midlayer.", _LAYER),
        legacy_names=("midlayer.",) if own == _LAYER and both["midlayer."] else (),
        model_prefix="accepted" if landing.lands(plain, f"model.{own}mlp.down_proj.weight") else "doubled",
        unknown_tensor=_unknown(load(plain, ("unheard_of.weight",), landing.names(plain))),
        missing_tensor="refused" if load(plain, (), landing.names(plain)).raised else "untouched",
        many_layers=_builds(index, info, {"num_hidden_layers": 2}),
        tap_count=tuple(_tap_count(index, info)),
        flags=_flags(index, info),
        head_shared=_head_shared(index, info),
        embedding_shared="always",
        fc_bypass=_bypasses(index, plain),
        at=info.at,
    )
    return ScannedDraft(facts=facts, d2t=_meaning(mapped))


@dataclass(slots=True, kw_only=True)
class _Landing:
    """Asks where single tensors land."""

    plain: DraftStub
    full: DraftStub

    def names(self, stub: DraftStub) -> tuple[str, ...]:
        return stub.parameters()

    def lands(self, stub: DraftStub, *names: str) -> bool:
        return bool(load(stub, names, self.names(stub)).filled)

    def takes(self, stub: DraftStub, canonical: str, own: str) -> bool:
        """Tell whether a tensor of a canonical name lands, alone or with the partner that it needs."""
        name = own + canonical.removeprefix(_LAYER) if canonical.startswith(_LAYER) else canonical
        if self.lands(stub, name):
            return True
        inner = name.removeprefix(own)
        return inner in _TOGETHER and self.lands(stub, *(own + part for part in _TOGETHER))


def _buffers(index: Index, info: ClassInfo, mapped: Landed) -> tuple[str, ...]:
    names = ["d2t"] if mapped.mapping is not None else []
    return (*names, "t2d") if names and '"t2d"' in index.text(info.path) else tuple(names)


def _optional(landing: _Landing, own: str) -> Iterator[str]:
    """Yield what lands only where the config asks for it."""
    for name in _OPTIONAL:
        if landing.takes(landing.full, name, own) and not landing.takes(landing.plain, name, own):
            yield name


def _unknown(landed: Landed) -> Literal["dropped", "warned", "refused"]:
    if landed.raised:
        return "refused"
    return "warned" if landed.warned else "dropped"


def _meaning(landed: Landed) -> str:
    value = landed.mapping
    if isinstance(value, Tensor):
        return "absolute"
    if isinstance(value, Opaque) and value.label == "(Add)":
        counted = any(isinstance(part, Opaque) and part.label.endswith("arange()") for part in value.parts)
        return "offsets" if counted and any(isinstance(part, Tensor) for part in value.parts) else "unresolved"
    return "ignored" if value is None else "unresolved"


def _builds(index: Index, info: ClassInfo, changes: Mapping[str, Any]) -> bool:
    """Tell whether a config builds.

    Raises:
        Unfollowed: the constructor is not followed.
    """
    try:
        build_draft(index, info, changes).parameters()
    except Raised:
        return False
    return True


def _count(index: Index, info: ClassInfo, changes: Mapping[str, Any]) -> int | None:
    """Return for how many taps `fc` is built."""
    try:
        fc = build_draft(index, info, changes).value("model", "fc")
    except Raised:
        return None
    given: tuple[Value, ...] = fc.parts if isinstance(fc, Opaque) else tuple(getattr(fc, "args", ()))
    width = given[0] if given else None
    return width // HIDDEN if isinstance(width, int) else None


def _tap_count(index: Index, info: ClassInfo) -> Iterator[str]:
    """Yield where the number of taps comes from, the first that is asked first."""
    heeded = [name for name, (count, config) in _COUNTS.items() if _count(index, info, config) == count]
    while heeded:
        together: dict[str, Any] = {}
        for name in heeded:
            together |= _COUNTS[name][1]
        counted = _count(index, info, together)
        first = next((name for name in heeded if _COUNTS[name][0] == counted), None)
        if first is None:
            return
        yield first
        heeded.remove(first)


def _flags(index: Index, info: ClassInfo) -> dict[str, Literal["honored", "ignored"]]:
    """Return which draft flags change anything about the model that is built."""
    return {flag: "honored" if _heeds(index, info, flag) else "ignored" for flag in _FLAGS}


def _heeds(index: Index, info: ClassInfo, flag: str) -> bool:
    built = [build_draft(index, info, changes) for changes in ({}, {flag: True}, {"eagle_config": {flag: True}})]
    shapes = [(stub.parameters(), _switches(stub.value("model")), _switches(stub.model)) for stub in built]
    return any(shape != shapes[0] for shape in shapes[1:])


def _switches(part: Value) -> tuple[tuple[str, Any], ...]:
    attrs = part.attrs if isinstance(part, Instance) else {}
    return tuple(sorted((name, value) for name, value in attrs.items() if isinstance(value, bool | str)))


def _head_shared(index: Index, info: ClassInfo) -> Literal["null_draft_vocab", "never"]:
    try:
        stub = build_draft(index, info, {"draft_vocab_size": None})
    except Raised:
        return "never"
    return "null_draft_vocab" if stub.value("load_lm_head_from_target") is True else "never"


def _renames(index: Index, info: ClassInfo) -> Iterator[Rename]:
    """Yield the rewritings of names that the loader spells out."""
    found = index.method(info, "load_weights")
    if found is None:
        return
    for node in ast.walk(found[1]):
        if isinstance(node, ast.Dict):
            pairs = [(_text(key), _text(value)) for key, value in zip(node.keys, node.values, strict=True)]
            yield from (Rename(old=old, new=new) for old, new in pairs if old and new)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            yield from _rewriting(node.targets, node.value)


def _rewriting(targets: list[ast.expr], node: ast.Call) -> Iterator[Rename]:
    """Yield what one assignment rewrites: a pattern anywhere, a plain part only where the name keeps its variable."""
    if isinstance(node.func, ast.Attribute):
        texts = [_text(arg) for arg in node.args[:2]]
        same = dotted(node.func.value) in [dotted(target) for target in targets]
        if len(texts) != 2 or not all(texts):  # noqa: PLR2004  # old and new
            return
        if node.func.attr == "sub":
            old = texts[0].replace("\\.", ".")
            yield Rename(old=old.removeprefix("^"), new=texts[1], anchored=old.startswith("^"))
        elif node.func.attr == "replace" and same:
            yield Rename(old=texts[0], new=texts[1])


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _bypasses(index: Index, stub: DraftStub) -> bool:
    """Tell whether the forward pass uses `fc` only where the incoming width differs from the embedding's."""
    inner = stub.value("model")
    found = index.method(inner.cls, "forward") if isinstance(inner, Instance) and inner.cls else None
    for node in ast.walk(found[1]) if found else ():
        if isinstance(node, ast.If) and _compares_widths(node.test):
            called = (call.func for part in node.body for call in ast.walk(part) if isinstance(call, ast.Call))
            if any(isinstance(function, ast.Attribute) and function.attr == "fc" for function in called):
                return True
    return False


def _compares_widths(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotEq):
        return False
    sides = (test.left, *test.comparators)
    return all(isinstance(side, ast.Subscript) and getattr(side.value, "attr", "") == "shape" for side in sides)
