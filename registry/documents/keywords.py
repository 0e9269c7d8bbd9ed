"""JSON Schema 2020-12 as jsonschema checks it, with four keywords of our own making. Imported by the first validation.

They judge as the stock keywords do, and are safe to run on documents from strangers: the work on a document that is
refused stays bounded, and every error names one key.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from registry.documents.faults import MOST_FAULTS
from registry.documents.schemas import Schema

Errors = Iterator[ValidationError]


def _pattern(_validator: Any, regex: str, instance: object, schema: Schema) -> Errors:
    # Text that is too long is one fault; it is not worth matching.
    most = schema.get("maxLength")
    if not isinstance(instance, str) or (isinstance(most, int) and len(instance) > most):
        return
    if not _compiled(regex).search(instance):
        yield ValidationError("pattern")


def _items(validator: Any, each: object, instance: object, schema: Schema) -> Errors:
    # A list that is too long is one fault; looking at its items would be work without bound.
    most = schema.get("maxItems")
    if isinstance(instance, list) and isinstance(most, int) and len(instance) > most:
        return
    yield from cast("Errors", _STOCK_ITEMS(validator, each, instance, schema))


def _property_names(validator: Any, names: Schema, instance: object, schema: Schema) -> Errors:
    if isinstance(instance, dict):
        checker = validator.evolve(schema=names)
        bad = (key for key in _bounded(instance, schema) if not checker.is_valid(key))
        yield from (ValidationError("key", path=[key]) for key in bad)


def _additional_properties(validator: Any, each: object, instance: object, schema: Schema) -> Errors:
    if not isinstance(instance, dict):
        return
    extra = _extra_keys(_bounded(instance, schema), schema)
    if each is False:
        yield from (ValidationError("unknown key", path=[key]) for key in islice(extra, MOST_FAULTS))
        return
    for key in extra:
        yield from validator.descend(instance[key], each, path=key)


def _bounded(instance: Mapping[str, object], schema: Schema) -> Sequence[str]:
    most = schema.get("maxProperties")
    return list(islice(instance, most)) if isinstance(most, int) else list(instance)


def _extra_keys(keys: Iterable[str], schema: Schema) -> Iterator[str]:
    known = cast("Mapping[str, object]", schema.get("properties", {}))
    patterns = [_compiled(regex) for regex in cast("Mapping[str, object]", schema.get("patternProperties", {}))]
    return (key for key in keys if key not in known and not any(regex.search(key) for regex in patterns))


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    # JSON Schema's $ is the very end; Python's also matches before a last line feed.
    return re.compile(regex.removesuffix("$") + r"\Z" if regex.endswith("$") else regex)


_STOCK_ITEMS: Final = Draft202012Validator.VALIDATORS["items"]

VALIDATOR: Final = extend(  # type: ignore[no-untyped-call]  # the stubs leave it bare
    Draft202012Validator,
    {
        "pattern": _pattern,
        "items": _items,
        "propertyNames": _property_names,
        "additionalProperties": _additional_properties,
    },
)
"""The validator class; give it a schema without references."""
