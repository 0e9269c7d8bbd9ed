"""Simulated loading: where a drafter's tensors land in one build's draft class, and what stays untouched.

Names and shapes only. The canonical spelling of the one decoder layer is `layers.0.`, whatever the file calls it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from registry.domain.profile import DraftFacts
from registry.domain.reading import DraftReading, Load
from registry.domain.tensors import Inventory
from registry.engines.config_ids import NESTED, TOP_LEVEL, look_up, whole_number, whole_numbers

CANONICAL_LAYER: Final = "layers.0."
_SPELLINGS: Final = ("midlayer.", CANONICAL_LAYER)
_USUAL_TAP_COUNT: Final = 3
"""What every build assumes where nothing says how many taps there are."""


def read_draft(
    draft: DraftFacts | None, config: Mapping[str, object], inventory: Inventory, *, target_hidden: int | None
) -> DraftReading:
    """Return what a build makes of the drafter's class, tensors and `fc` width."""
    architecture = first_architecture(config)
    if draft is None:
        return DraftReading(architecture=architecture, supported=False)
    count, source = tap_count(draft, config)
    return DraftReading(
        architecture=architecture,
        supported=True,
        tap_count=count,
        tap_count_from=source,
        fc_built=_fc_built(config, count, target_hidden=target_hidden),
        load=load(draft, config, inventory),
        naming_understood=_naming_understood(draft, inventory),
    )


def first_architecture(config: Mapping[str, object]) -> str | None:
    """Return the first of `architectures`, or None."""
    names = config.get("architectures")
    first = names[0] if isinstance(names, list | tuple) and names else None
    return first if isinstance(first, str) else None


def tap_count(draft: DraftFacts, config: Mapping[str, object]) -> tuple[int, str]:
    """Return how many taps the build sizes `fc` for, and where that came from."""
    for source in draft.tap_count:
        if source == "num_aux_hidden_states":
            number = whole_number(config, "/num_aux_hidden_states")
            if number:
                return number, "/num_aux_hidden_states"
            continue
        pointer = {"nested": NESTED, "top_level": TOP_LEVEL}[source]
        ids = whole_numbers(look_up(config, pointer))
        if ids:
            return len(ids), pointer
    return _USUAL_TAP_COUNT, "the build's own default"


def _fc_built(config: Mapping[str, object], count: int, *, target_hidden: int | None) -> tuple[int, int] | None:
    hidden = whole_number(config, "/hidden_size")
    wide = whole_number(config, "/target_hidden_size") or hidden or target_hidden
    return (hidden, count * wide) if hidden and wide else None


def load(draft: DraftFacts, config: Mapping[str, object], inventory: Inventory) -> Load:
    """Follow every tensor to where it lands, and every parameter to what fills it."""
    known = frozenset(draft.parameters) | frozenset(draft.optional)
    landed, unknown, legacy, filled = [], [], [], set()
    for tensor in inventory.tensors:
        canonical = _canonical(tensor.name, draft)
        if canonical is not None and _is_known(canonical, known, many_layers=draft.many_layers):
            landed.append(tensor.name)
            filled.add(canonical)
            if any(_bare(tensor.name).startswith(prefix) for prefix in draft.legacy_names):
                legacy.append(tensor.name)
        else:
            unknown.append(tensor.name)
    missing = [name for name in draft.parameters if name not in filled]
    shared = [name for name in missing if _is_shared(name, draft, config)]
    refuses = draft.unknown_tensor == "refused"
    return Load(
        landed=tuple(landed),
        dropped=() if refuses else tuple(unknown),
        refused=tuple(unknown) if refuses else (),
        untouched=tuple(name for name in missing if name not in shared),
        shared=tuple(shared),
        legacy=tuple(legacy),
    )


def _bare(name: str) -> str:
    return name.removeprefix("model.")


def _canonical(name: str, draft: DraftFacts) -> str | None:
    if name.startswith("model.") and draft.model_prefix == "doubled":
        return None
    bare = _bare(name)
    for spelling in _SPELLINGS:
        if bare.startswith(spelling):
            if spelling not in draft.layer_prefixes:
                return None
            bare = CANONICAL_LAYER + bare.removeprefix(spelling)
            break
    for rename in draft.renames:
        bare = _renamed(bare, rename.old, rename.new, anchored=rename.anchored)
    # The build may rename towards `midlayer.`; the canonical spelling is ours and the same for every build.
    return CANONICAL_LAYER + bare.removeprefix("midlayer.") if bare.startswith("midlayer.") else bare


def _renamed(name: str, old: str, new: str, *, anchored: bool) -> str:
    if not anchored:
        return name.replace(old, new)
    return new + name.removeprefix(old) if name.startswith(old) else name


def _is_known(canonical: str, known: frozenset[str], *, many_layers: bool) -> bool:
    if canonical in known:
        return True
    head, _, rest = canonical.partition(".")
    number, _, inner = rest.partition(".")
    if many_layers and head == "layers" and number.isdigit():
        return CANONICAL_LAYER + inner in known
    # A list of norms, one per tap, is declared once in the profile as `fc_norm.0.weight`.
    return head == "fc_norm" and number.isdigit() and f"fc_norm.0.{inner}" in known


def _is_shared(name: str, draft: DraftFacts, config: Mapping[str, object]) -> bool:
    if name == "embed_tokens.weight":
        return draft.embedding_shared == "absent_or_equal" or _same_width(config)
    if name == "lm_head.weight":
        if draft.head_shared == "null_draft_vocab":
            return config.get("draft_vocab_size", 0) is None
        return draft.head_shared == "absent"
    return False


def _same_width(config: Mapping[str, object]) -> bool:
    wide = whole_number(config, "/target_hidden_size")
    return wide is None or wide == whole_number(config, "/hidden_size")


def _naming_understood(draft: DraftFacts, inventory: Inventory) -> bool:
    return all(spelling in draft.layer_prefixes for spelling in _layer_spellings(inventory))


def _layer_spellings(inventory: Inventory) -> Iterator[str]:
    for tensor in inventory.tensors:
        bare = _bare(tensor.name)
        yield from (spelling for spelling in _SPELLINGS if bare.startswith(spelling))
