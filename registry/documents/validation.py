"""Checking a document against the schema of its kind: every fault at once, each with its place.

jsonschema is imported by the first validation, never by importing this module.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from registry.documents import wording
from registry.documents.canonical import read, read_mapping
from registry.documents.faults import DocumentError, Fault, in_order, show
from registry.documents.schemas import whole_schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Document = dict[str, object]
Further = Callable[[Document], Iterable[Fault]]
"""Checks that a schema cannot express; called with a document that its schema accepts."""

_MOST_ERRORS: Final = 1000
"""Errors looked at; what is beyond them would not be listed anyway."""

_NAMED_KIND: Final = re.compile(r"roost\.([a-z-]+)/[0-9]+")


def validated(kind: str, data: bytes | Mapping[str, object], *, further: Further | None = None) -> Document:
    """Return the document in `data`, checked against the schema of `kind`.

    Args:
        kind: The kind of document, such as `provenance`.
        data: The bytes as received, or an object; what comes back is a copy made of plain JSON values.
        further: Checks beyond the schema.

    Raises:
        DocumentError: with every fault that was found.
        NotFound: there is no schema of that kind.
    """
    value, unreadable = _read(kind, data)
    # What could not be read was replaced by something harmless: what the schema says about that would mislead.
    replaced = {fault.pointer for fault in unreadable}
    found = [*unreadable, *(fault for fault in faults_of(kind, value) if fault.pointer not in replaced)]
    if not found and further is not None:
        found = list(further(cast("Document", value)))
    if found:
        raise DocumentError(kind, found)
    return cast("Document", value)


def faults_of(kind: str, document: object) -> tuple[Fault, ...]:
    """Return every fault of `document`, a plain JSON value, against the schema of `kind`, ordered by place."""
    other = _other_kind(kind, document)
    if other is not None:
        return (other,)
    errors = islice(_checker(kind)(document), _MOST_ERRORS)
    return in_order(fault for error in errors for fault in wording.faults_from(error))


def _read(kind: str, data: bytes | Mapping[str, object]) -> tuple[object, tuple[Fault, ...]]:
    if isinstance(data, Mapping):
        return read_mapping(data)
    try:
        return read(data)
    except DocumentError as error:
        raise DocumentError(kind, error.faults) from None


def _other_kind(kind: str, document: object) -> Fault | None:
    """Recognize a document of another kind: its other faults would only hide that."""
    named = document.get("schema") if isinstance(document, dict) else None
    match = _NAMED_KIND.fullmatch(named) if isinstance(named, str) else None
    if match is None or match[1] == kind:
        return None
    message = f"{show(named)}; expected a document of kind {kind}"
    return Fault(pointer="/schema", message=message, hint=f"this is a document of kind {match[1]}")


@cache
def _checker(kind: str) -> "Callable[[object], Iterator[ValidationError]]":
    from registry.documents.keywords import VALIDATOR  # noqa: PLC0415  # jsonschema costs more than the whole client

    return cast("Callable[[object], Iterator[ValidationError]]", VALIDATOR(whole_schema(kind)).iter_errors)
