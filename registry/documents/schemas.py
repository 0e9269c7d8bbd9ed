"""The published schemas, read once and made whole: every `$ref` is replaced by what it names.

A whole schema validates faster, and an error found in it carries the words (`title`) of the place it is about. The
files stay plain JSON Schema 2020-12, so that any other validator can use them.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

from registry.resources import schema_text

Schema = Mapping[str, object]

_ENDING: Final = ".schema.json"
_ANNOTATIONS: Final = frozenset({"title", "description"})
_IDENTITY: Final = frozenset({"$schema", "$id", "$defs"})


@cache
def whole_schema(kind: str) -> Schema:
    """Return the schema of `kind` without references.

    Raises:
        NotFound: there is no such kind.
        ValueError: a reference leads nowhere, into itself, or has neighbors that would change what it means.
    """
    return cast("Schema", _whole(_published(kind), kind, ()))


@cache
def _published(kind: str) -> Schema:
    return cast("Schema", json.loads(schema_text(kind)))


def _whole(node: object, kind: str, open_refs: tuple[str, ...]) -> object:
    if isinstance(node, list):
        return [_whole(item, kind, open_refs) for item in node]
    if not isinstance(node, dict):
        return node
    members = {key: value for key, value in node.items() if key not in _IDENTITY}
    reference = members.pop("$ref", None)
    own = {key: _whole(value, kind, open_refs) for key, value in members.items()}
    if not isinstance(reference, str):
        return own
    named = _referenced(reference, kind, open_refs)
    clash = (own.keys() & named.keys()) - _ANNOTATIONS
    if clash:
        msg = f"schema {kind}: {sorted(clash)} beside $ref {reference!r} would be read differently by other validators"
        raise ValueError(msg)
    return {**named, **own}


def _referenced(reference: str, kind: str, open_refs: tuple[str, ...]) -> Schema:
    file, _, fragment = reference.partition("#")
    owner = file.removesuffix(_ENDING) if file else kind
    full = f"{owner}#{fragment}"
    if full in open_refs:
        msg = f"schema {kind}: $ref {reference!r} leads into itself"
        raise ValueError(msg)
    node: object = _published(owner)
    for part in fragment.split("/")[1:]:
        if not isinstance(node, dict) or part not in node:
            msg = f"schema {kind}: $ref {reference!r} leads nowhere"
            raise ValueError(msg)
        node = node[part]
    return cast("Schema", _whole(node, owner, (*open_refs, full)))
