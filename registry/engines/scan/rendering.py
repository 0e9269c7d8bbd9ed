"""From dataclasses of a profile to plain values of its document: what equals a default is left out."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any


def rendered(value: Any, *, without: frozenset[str] = frozenset()) -> Any:
    """Return the plain value of a dataclass, mapping, sequence or scalar; `without` names fields to leave out."""
    if is_dataclass(value) and not isinstance(value, type):
        held = ((entry, getattr(value, entry.name)) for entry in fields(value) if entry.name not in without)
        return {entry.name: rendered(content) for entry, content in held if not _is_default(entry, content)}
    if isinstance(value, Mapping):
        return {key: rendered(content) for key, content in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [rendered(content) for content in value]
    return value


def _is_default(entry: "Field[Any]", content: object) -> bool:
    if entry.default is not MISSING:
        return bool(content == entry.default)
    return entry.default_factory is not MISSING and bool(content == entry.default_factory())
