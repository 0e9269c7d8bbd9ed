"""Configs that a build can load: the class named in `architectures`, and the layer count that the file really holds.

Public heads often name the target's class, or copy the target's layer count; the weights are right all the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from registry.domain.tensors import Inventory
from registry.engines.config_ids import whole_number
from registry.engines.draft_config import apply, setting
from registry.engines.draft_load import first_architecture
from registry.engines.reader import Situation

_LLAMA_LIKE: Final = "LlamaForCausalLMEagle3"
"""The draft class that every listed build of both engines loads."""

Operations = tuple[Mapping[str, object], ...]


def bases(situation: Situation) -> Iterator[tuple[Situation, Operations]]:
    """Yield the situation as it is, then with the draft class and layer count that its tensors call for."""
    yield situation, ()
    operations = loadable_edit(situation)
    if operations:
        yield replace(situation, config=apply(situation.config, operations)), operations


def loadable_edit(situation: Situation) -> Operations:
    """Return the operations that make the config name a class of this build and the stored layer count."""
    architecture = first_architecture(situation.config)
    operations: Operations = ()
    if architecture is None or situation.profile.draft(architecture) is None:
        if not _is_llama_like(situation.inventory, situation.config):
            return ()
        operations = setting(situation.config, "/architectures", [_LLAMA_LIKE])
    stored = stored_layers(situation.inventory)
    if stored and whole_number(situation.config, "/num_hidden_layers") not in (None, stored):
        operations += setting(situation.config, "/num_hidden_layers", stored)
    return operations


def stored_layers(inventory: Inventory) -> int:
    """Return how many decoder layers the tensors make up."""
    names = [tensor.name.removeprefix("model.") for tensor in inventory.tensors]
    numbered = {name.split(".")[1] for name in names if name.startswith("layers.")}
    return len(numbered) or int(any(name.startswith("midlayer.") for name in names))


def _is_llama_like(inventory: Inventory, config: Mapping[str, object]) -> bool:
    """An EAGLE-3 layer attends over embedding and hidden state side by side: q_proj takes 2 x hidden columns."""
    hidden = whole_number(config, "/hidden_size")
    return any(
        tensor.name.endswith("self_attn.q_proj.weight") and hidden is not None and tensor.shape[1:] == (2 * hidden,)
        for tensor in inventory.tensors
    )
