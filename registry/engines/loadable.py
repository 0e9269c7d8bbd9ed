"""Configs that a build can load: the class named in `architectures`, and what the file itself shows to be so.

Public heads often name the target's class, or copy its layer count or its tied head; the weights are right all the
same. Only what the tensors settle is changed, never what was trained.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from registry.domain.profile import DraftFacts
from registry.domain.tensors import Inventory
from registry.engines.config_ids import whole_number
from registry.engines.draft_config import apply, setting
from registry.engines.draft_load import FC_BIAS, first_architecture, load
from registry.engines.reader import SPECULATORS, Situation

LLAMA_LIKE: Final = "LlamaForCausalLMEagle3"
"""The draft class that every listed build of both engines loads."""

_LEFT_TO_TARGET: Final = frozenset({"lm_head.weight", "embed_tokens.weight"})
"""Parameters that a target can fill."""

Operations = tuple[Mapping[str, object], ...]


def bases(situation: Situation) -> Iterator[tuple[Situation, Operations]]:
    """Yield the situation as it is, then with the draft class and layer count that its tensors call for."""
    yield situation, ()
    operations = loadable_edit(situation)
    if operations:
        yield replace(situation, config=apply(situation.config, operations)), operations


def loadable_edit(situation: Situation) -> Operations:
    """Return the operations that make the config say what the tensors show, as far as this build needs it."""
    sizes = tuple(_sizes(situation))
    situation = replace(situation, config=apply(situation.config, sizes))
    named = _draft_class(situation)
    if named is None:
        return ()
    operations: Operations = setting(situation.config, "/architectures", [named]) if named != _named(situation) else ()
    operations += sizes
    draft = situation.profile.draft(named)
    return operations if draft is None else (*operations, *_head(situation, draft), *_bias(situation, draft))


def _sizes(situation: Situation) -> Iterator[Mapping[str, object]]:
    """Make the config agree with the sizes that the tensors and the target have."""
    config, inventory = situation.config, situation.inventory
    fc, norm = inventory.find("fc.weight"), inventory.find("norm.weight")
    wide, target = whole_number(config, "/target_hidden_size"), situation.target
    known: dict[str, int | None] = {
        # Two tensors must agree: one alone may as well be the one that is wrong.
        "hidden_size": fc.shape[0] if fc is not None and norm is not None and norm.shape == fc.shape[:1] else None,
        "num_hidden_layers": inventory.stored_layers or None,
        "vocab_size": None if whole_number(config, "/vocab_size") else target.vocab_size,
        "target_hidden_size": None if wide is None else target.hidden_size,
    }
    for key, value in known.items():
        elsewhere = key not in config and SPECULATORS in config
        if value is not None and not elsewhere:
            yield from setting(config, f"/{key}", value)


def _named(situation: Situation) -> str | None:
    return first_architecture(situation.config)


def _draft_class(situation: Situation) -> str | None:
    """Return the class to name: the one that is, unless its parameters are not those of the file and another's are."""
    named = _named(situation)
    draft = situation.profile.draft(named) if named else None
    if draft is not None and _fits(draft, situation):
        return named
    fitting = next((other for other in situation.profile.drafts if _fits(other, situation)), None)
    if fitting is not None:
        return fitting.architectures[0]
    return named if draft is not None else LLAMA_LIKE if _is_llama_like(situation.inventory, situation.config) else None


def _fits(draft: DraftFacts, situation: Situation) -> bool:
    """Tell whether every tensor lands and every parameter is filled, but for what a drafter may leave to its target."""
    found = load(draft, situation.config, situation.inventory)
    return not found.refused and not found.dropped and set(found.untouched) <= _LEFT_TO_TARGET


def _head(situation: Situation, draft: DraftFacts) -> Iterator[Mapping[str, object]]:
    """Make the config agree with the head: with its rows, where `d2t` confirms them, or with there being none."""
    config, inventory = situation.config, situation.inventory
    head, mapped = inventory.find("lm_head.weight"), inventory.find("d2t")
    vocabulary = situation.target.vocab_size or whole_number(config, "/vocab_size")
    rows = whole_number(config, "/draft_vocab_size")
    if head is None:
        whole = mapped is None and rows in (None, vocabulary)
        if draft.head_shared == "null_draft_vocab" and whole and "draft_vocab_size" in config:
            yield from setting(config, "/draft_vocab_size", None)
        return
    if mapped is not None and mapped.shape == head.shape[:1] and rows != head.shape[0]:
        rows = head.shape[0]
        yield from setting(config, "/draft_vocab_size", rows)
    if config.get("tie_word_embeddings") and rows is not None and vocabulary is not None and rows < vocabulary:
        yield from setting(config, "/tie_word_embeddings", value=False)


def _bias(situation: Situation, draft: DraftFacts) -> Operations:
    """Where the class can have a bias in `fc` and the file holds one, the config must say so."""
    if FC_BIAS not in draft.optional or situation.inventory.find(FC_BIAS) is None:
        return ()
    return setting(situation.config, "/bias", value=True)


def _is_llama_like(inventory: Inventory, config: Mapping[str, object]) -> bool:
    """An EAGLE-3 layer attends over embedding and hidden state side by side: q_proj takes 2 x hidden columns."""
    hidden = whole_number(config, "/hidden_size")
    return any(
        tensor.name.endswith("self_attn.q_proj.weight") and hidden is not None and tensor.shape[1:] == (2 * hidden,)
        for tensor in inventory.tensors
    )
