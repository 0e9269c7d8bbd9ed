"""What clients ask of the registry beyond proposals: registration, amendment and emission requests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from registry.documents import fields, provenance
from registry.documents.faults import Fault, moved
from registry.documents.fields import Fields, FileEntry
from registry.documents.lock import repeated_names
from registry.documents.validation import validated
from registry.domain.proposal import Build, RunnerName, parse_build
from registry.domain.provenance import Provenance
from registry.domain.refs import Ref, parse_ref

REGISTRATION_SCHEMA: Final = "roost.registration/1"
AMENDMENT_SCHEMA: Final = "roost.amendment/1"
EMISSION_REQUEST_SCHEMA: Final = "roost.emission-request/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationDocument:
    """A request to register a drafter whose files are already uploaded."""

    name: str
    provenance: Provenance
    files: tuple[FileEntry, ...]
    sources: tuple[FileEntry, ...] = ()
    """Files that provenance names, such as the dump patch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendmentDocument:
    """A request to append a provenance revision."""

    provenance: Provenance
    reason: str
    expected_revision: int | None = None
    """The newest revision as the sender knows it."""
    sources: tuple[FileEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmissionRequest:
    """A request to write the files that one engine build needs."""

    checkpoint: Ref
    build: Build
    target: str | None = None
    runner: RunnerName | None = None


def parse_registration(data: bytes | Mapping[str, object]) -> RegistrationDocument:
    """Return the registration in `data` (`roost.registration/1`).

    Raises:
        DocumentError: with every fault.
    """
    document = validated("registration", data, further=_further_faults)
    return RegistrationDocument(
        name=fields.text(document, "name"),
        provenance=provenance.from_fields(fields.part(document, "provenance")),
        files=fields.files(document, "files"),
        sources=fields.files(document, "sources"),
    )


def parse_amendment(data: bytes | Mapping[str, object]) -> AmendmentDocument:
    """Return the amendment in `data` (`roost.amendment/1`).

    Raises:
        DocumentError: with every fault.
    """
    document = validated("amendment", data, further=_further_faults)
    return AmendmentDocument(
        provenance=provenance.from_fields(fields.part(document, "provenance")),
        reason=fields.text(document, "reason"),
        expected_revision=fields.maybe_whole(document, "expected_revision"),
        sources=fields.files(document, "sources"),
    )


def parse_emission_request(data: bytes | Mapping[str, object]) -> EmissionRequest:
    """Return the request in `data` (`roost.emission-request/1`).

    Raises:
        DocumentError: with every fault.
    """
    document = validated("emission-request", data)
    return EmissionRequest(
        checkpoint=parse_ref(fields.text(document, "checkpoint")),
        build=parse_build(fields.text(document, "engine")),
        target=fields.maybe_text(document, "target"),
        runner=cast("RunnerName | None", fields.maybe_text(document, "runner")),
    )


def _further_faults(document: Fields) -> Iterator[Fault]:
    yield from moved(provenance.further_faults(fields.part(document, "provenance")), "/provenance")
    yield from repeated_names(document, "files")
    yield from repeated_names(document, "sources")
