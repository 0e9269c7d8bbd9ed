"""Editing draft configs: the cleaning that every engine's emission needs, and edits as RFC 6902 operations."""

from collections.abc import Mapping, Sequence
from typing import Final

from registry.engines.config_ids import ABSENT, POINTERS, look_up

_NEVER_EMITTED: Final = ("auto_map", "trust_remote_code", "_name_or_path", "transformers_version")
"""Code references are never emitted; the last two describe where a file came from, not what an engine reads."""


def cleaned(config: Mapping[str, object]) -> dict[str, object]:
    """Return a deep copy of `config` without layer ids and without anything that could name code."""
    copy = _copied(config)
    for pointer in POINTERS:
        _remove(copy, pointer)
    return {key: value for key, value in _without_code(copy).items() if value != {}}


def _without_code(config: Mapping[str, object]) -> dict[str, object]:
    """Leave out what is never emitted at any depth: loaders follow `auto_map` in nested configs too."""
    return {key: _codeless(value) for key, value in config.items() if key not in _NEVER_EMITTED}


def _codeless(value: object) -> object:
    if isinstance(value, Mapping):
        return _without_code(value)
    return [_codeless(item) for item in value] if isinstance(value, list | tuple) else value


def _copied(value: Mapping[str, object]) -> dict[str, object]:
    return {key: _copied(inner) if isinstance(inner, Mapping) else inner for key, inner in value.items()}


def _remove(config: dict[str, object], pointer: str) -> None:
    *parents, last = pointer.split("/")[1:]
    place: object = config
    for key in parents:
        place = place.get(key) if isinstance(place, dict) else None
    if isinstance(place, dict):
        place.pop(last, None)


def with_value(config: Mapping[str, object], pointer: str, value: object) -> dict[str, object]:
    """Return a copy of `config` with `value` at `pointer`, making the objects on the way."""
    copy = _copied(config)
    *parents, last = pointer.split("/")[1:]
    place = copy
    for key in parents:
        inner = place.get(key)
        if not isinstance(inner, dict):
            inner = place[key] = {}
        place = inner
    place[last] = value
    return copy


def setting(config: Mapping[str, object], pointer: str, value: object) -> tuple[dict[str, object], ...]:
    """Return RFC 6902 operations that put `value` at `pointer` in `config`; none if it is there already."""
    if look_up(config, pointer) == value:
        return ()
    present, missing = _split_at_gap(config, pointer)
    if not missing:
        return ({"op": "replace", "path": pointer, "value": value},)
    for key in reversed(missing[1:]):
        value = {key: value}
    path = "/".join(["", *present, missing[0]])
    replaces = look_up(config, path) is not ABSENT
    return ({"op": "replace" if replaces else "add", "path": path, "value": value},)


def _split_at_gap(config: Mapping[str, object], pointer: str) -> tuple[list[str], list[str]]:
    """Split a pointer into keys that lead to objects, and the rest that has to be made."""
    keys = pointer.split("/")[1:]
    place: object = config
    for position, key in enumerate(keys):
        if not isinstance(place, Mapping) or key not in place:
            # A parent that is no object has to be replaced as a whole.
            at = position if isinstance(place, Mapping) else position - 1
            return keys[:at], keys[at:]
        place = place[key]
    return keys, []


def apply(config: Mapping[str, object], operations: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Apply operations made by `setting`."""
    result = dict(config)
    for operation in operations:
        result = with_value(result, str(operation["path"]), operation["value"])
    return result
