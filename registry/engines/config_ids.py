"""Where drafters' configs carry layer ids, and what is found there. The key alone never says how it counts."""

from collections.abc import Iterator, Mapping
from typing import Final

NESTED: Final = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP_LEVEL: Final = "/eagle_aux_hidden_state_layer_ids"

POINTERS: Final = (
    NESTED,
    TOP_LEVEL,
    "/eagle_config/layer_ids",
    "/dflash_config/layer_ids",
    "/dflash_config/target_layer_ids",
    "/target_layer_ids",
    "/dspark_target_layer_ids",
    "/aux_hidden_state_layer_ids",
    "/aux_hidden_states_layer_ids",
)
"""Every place where some trainer or engine has been seen to keep ids."""

ABSENT: Final = object()
"""Marks a pointer that leads nowhere; None is a value that a config can hold."""


def look_up(config: Mapping[str, object], pointer: str) -> object:
    """Return what `pointer` leads to in `config`, or `ABSENT`."""
    value: object = config
    for key in pointer.split("/")[1:]:
        if not isinstance(value, Mapping) or key not in value:
            return ABSENT
        value = value[key]
    return value


def id_lists(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield (pointer, value) for every place of `POINTERS` that holds something other than null."""
    for pointer in POINTERS:
        value = look_up(config, pointer)
        if value is not ABSENT and value is not None:
            yield pointer, value


def whole_numbers(value: object) -> tuple[int, ...] | None:
    """Return `value` as ids if it is a list of whole numbers, else None."""
    if not isinstance(value, list | tuple):
        return None
    if not all(isinstance(item, int) and not isinstance(item, bool) for item in value):
        return None
    return tuple(value)


def whole_number(config: Mapping[str, object], pointer: str) -> int | None:
    """Return the whole number at `pointer`, or None if there is none."""
    value = look_up(config, pointer)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
