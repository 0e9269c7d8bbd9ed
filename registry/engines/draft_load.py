"""Simulated loading: where a drafter's tensors land in one build's draft class, and what stays untouched.

Names and shapes only. The canonical spelling of the one decoder layer is `layers.0.`, whatever the file calls it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from registry.domain.profile import DraftFacts
from registry.domain.reading import DraftReading, Load
from registry.domain.tensors import Inventory, bare_name
from registry.engines.config_ids import ABSENT, NESTED, TOP_LEVEL, look_up, whole_number, whole_numbers

CANONICAL_LAYER: Final = "layers.0."
_SPELLINGS: Final = ("midlayer.", CANONICAL_LAYER)
_USUAL_TAP_COUNT: Final = 3
"""What every build assumes where nothing says how many taps there are."""

USE_AUX: Final = "/eagle_config/use_aux_hidden_state"
"""False: the drafter reads the last hidden state and no taps."""

FC_BIAS: Final = "fc.bias"
_BIAS: Final = "/bias"
"""The draft classes that can have a bias in `fc` make one only where this key is true."""


def read_draft(
    draft: DraftFacts | None, config: Mapping[str, object], inventory: Inventory, *, target_hidden: int | None
) -> DraftReading:
    """Return what a build makes of the drafter's class, tensors and `fc` width."""
    architecture = first_architecture(config)
    if draft is None:
        return DraftReading(architecture=architecture, supported=False)
    count, source = tap_count(draft, config)
    read = DraftReading(
        architecture=architecture,
        supported=True,
        tap_count=count,
        tap_count_from=source,
        fc_built=_fc_built(config, count, target_hidden=target_hidden),
        load=load(draft, config, inventory),
        naming_understood=_naming_understood(draft, inventory),
    )
    return _without_fc(read) if _skips_fc(draft, config) else read


def _skips_fc(draft: DraftFacts, config: Mapping[str, object]) -> bool:
    """Tell whether the class makes no `fc` and skips its tensors, because the config says that there are no taps."""
    value = look_up(config, USE_AUX)
    return draft.flags.get("use_aux_hidden_state") == "honored" and value is not ABSENT and not value


def _without_fc(read: DraftReading) -> DraftReading:
    load = replace(read.load, untouched=without_fc(read.load.untouched), refused=without_fc(read.load.refused))
    return replace(read, tap_count=None, tap_count_from="", fc_built=None, load=load)


def without_fc(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return tensor names without those of `fc`."""
    return tuple(name for name in names if not bare_name(name).startswith("fc."))


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
    if FC_BIAS in draft.optional and look_up(config, _BIAS) is not True:
        draft = replace(draft, optional=tuple(name for name in draft.optional if name != FC_BIAS))
    landing = _landing(_Names(draft), tuple(tensor.name for tensor in inventory.tensors))
    missing = [name for name in draft.parameters if name not in landing.filled]
    shared = [name for name in missing if _is_shared(name, draft, config)]
    refuses = draft.unknown_tensor == "refused"
    return Load(
        landed=landing.landed,
        dropped=() if refuses else landing.unknown,
        refused=landing.unknown if refuses else (),
        untouched=tuple(name for name in missing if name not in shared),
        shared=tuple(shared),
        legacy=landing.legacy,
    )


class _Names:
    """The part of a draft class that decides where names go, hashable: many configs are read against one class."""

    def __init__(self, draft: DraftFacts) -> None:
        self.draft = draft
        self._key = (draft.parameters, draft.optional, draft.renames, draft.layer_prefixes, draft.legacy_names)
        self._rest = (draft.model_prefix, draft.many_layers)

    def __hash__(self) -> int:
        return hash((self._key, self._rest))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Names) and (self._key, self._rest) == (other._key, other._rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Landing:
    landed: tuple[str, ...]
    unknown: tuple[str, ...]
    legacy: tuple[str, ...]
    filled: frozenset[str]
    """Canonical names."""


@lru_cache(maxsize=512)
def _landing(names: _Names, stored: tuple[str, ...]) -> _Landing:
    """Where each stored name goes. Kept, because a verdict reads the same drafter on every shipped build."""
    draft = names.draft
    known = frozenset(draft.parameters) | frozenset(draft.optional)
    canonical = {name: _canonical(name, draft) for name in stored}
    landed = {
        name: place
        for name, place in canonical.items()
        if place is not None and _is_known(place, known, many_layers=draft.many_layers)
    }
    return _Landing(
        landed=tuple(landed),
        unknown=tuple(name for name in stored if name not in landed),
        legacy=tuple(name for name in landed if bare_name(name).startswith(draft.legacy_names)),
        filled=frozenset(landed.values()),
    )


def _canonical(name: str, draft: DraftFacts) -> str | None:
    if name.startswith("model.") and draft.model_prefix == "doubled":
        return None
    bare = bare_name(name)
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
    """Tell whether the target's embedding or head takes a parameter's place, and fits there."""
    if not _same_width(config):
        return False
    if name == "lm_head.weight":
        if draft.head_shared == "null_draft_vocab":
            return config.get("draft_vocab_size", 0) is None
        return draft.head_shared == "absent" and _whole_vocabulary(config)
    return name == "embed_tokens.weight"


def _whole_vocabulary(config: Mapping[str, object]) -> bool:
    """The target's head yields ids of its own vocabulary: a reduced one has no entry for most of them."""
    return config.get("draft_vocab_size") in (None, config.get("vocab_size"))


def _same_width(config: Mapping[str, object]) -> bool:
    wide = whole_number(config, "/target_hidden_size")
    return wide is None or wide == whole_number(config, "/hidden_size")


def _naming_understood(draft: DraftFacts, inventory: Inventory) -> bool:
    return all(spelling in draft.layer_prefixes for spelling in _layer_spellings(inventory))


def _layer_spellings(inventory: Inventory) -> Iterator[str]:
    for tensor in inventory.tensors:
        bare = tensor.bare_name
        yield from (spelling for spelling in _SPELLINGS if bare.startswith(spelling))
