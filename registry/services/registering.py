"""Registering a checkpoint: all is read from the bytes the registry holds, judged, and stored whole or not at all.

Nothing the client says about a file is believed: names are checked, sizes and digests are read again.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from registry.artifacts.directory import Inspection, inspect_files
from registry.documents import provenance as provenance_documents
from registry.documents.faults import DocumentError, Fault
from registry.documents.fields import FileEntry
from registry.documents.requests import RegistrationDocument
from registry.domain.case import Twin
from registry.domain.differences import FactsDiffer, differences
from registry.domain.digests import Digest
from registry.domain.errors import IntegrityMismatch
from registry.domain.findings import Finding, Severity
from registry.domain.provenance import Provenance, TrainedTaps
from registry.domain.taps import depths_of
from registry.domain.target import Target
from registry.domain.tensors import Inventory
from registry.services.cases import Subject, trained_taps_of
from registry.services.judging import judge_registration
from registry.services.ports import Blobs, Records
from registry.services.profiles import Profiles
from registry.services.records import (
    CheckpointRecord,
    NewCheckpoint,
    ProvenanceRevision,
    Registered,
    TargetRecord,
)
from registry.services.refusals import RegistrationRefused
from registry.services.resolving import registered_target


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A registration that the rules let through."""

    new: NewCheckpoint
    target: TargetRecord
    twins: tuple[Twin, ...]
    findings: tuple[Finding, ...]
    trained: TrainedTaps


async def register(
    *,
    document: RegistrationDocument,
    records: Records,
    blobs: Blobs,
    profiles: Profiles,
    actor: str,
    dry_run: bool = False,
) -> Registered:
    """Register a checkpoint, or return the version that has the same weights and facts already.

    Args:
        document: name, provenance and the files' names and digests; their bytes are blobs already.
        records: the system of record.
        blobs: where the bytes are.
        profiles: needed where the dump counted in an engine's dialect.
        actor: who asks.
        dry_run: do everything but the last step, the insert.

    Raises:
        DocumentError: the bytes of a file are not stored, or have another size.
        Refused: the target is not registered.
        RegistrationRefused: a file is not what it claims, or the record contradicts the files.
        FactsDiffer: the same weights are registered under this name with other facts.
        IntegrityMismatch: a stored blob no longer has its digest.
    """
    provenance = document.provenance
    target = await registered_target(provenance.target.name, provenance.target.revision, records=records)
    paths = _held_files(document, blobs)
    inspection = await asyncio.to_thread(inspect_files, paths)
    inventory = _sound(inspection, document, target.target, profiles)
    _require_same_bytes(inventory, document.files)
    candidate = await _candidate(document, inventory, target, records=records, profiles=profiles, actor=actor)
    if dry_run:
        return await _rehearsed(candidate, records)
    record, created = await records.add_checkpoint(candidate.new)
    return _registered(candidate, record, created=created)


def _held_files(document: RegistrationDocument, blobs: Blobs) -> dict[str, Path]:
    """Return the path of each file's bytes by its claimed name."""
    faults = [
        *_entry_faults(document.files, "/files", blobs),
        *_entry_faults(document.sources, "/sources", blobs),
        *_source_faults(document.provenance, document.sources, blobs),
    ]
    if faults:
        raise DocumentError("registration", faults)
    return {entry.name: blobs.path(entry.sha256) for entry in document.files}


def require_sources(provenance: Provenance, sources: Sequence[FileEntry], blobs: Blobs, *, kind: str) -> None:
    """Check that the bytes of every source are stored, those of a source that is only named by its digest too.

    Args:
        provenance: the record that names the dump patch's source.
        sources: the document's list of files that were sent along.
        blobs: where the bytes are.
        kind: the kind of document, for the message.

    Raises:
        DocumentError: with everything that is not stored, or has another size than announced.
    """
    faults = [*_entry_faults(sources, "/sources", blobs), *_source_faults(provenance, sources, blobs)]
    if faults:
        raise DocumentError(kind, faults)


def _source_faults(provenance: Provenance, sources: Sequence[FileEntry], blobs: Blobs) -> Iterator[Fault]:
    """Refuse the digest of a dump patch that nobody sent: a record must not claim bytes that are not there."""
    capture = provenance.capture
    sent = any(entry.name == capture.source for entry in sources)
    if capture.source_digest is not None and not sent and blobs.exists(capture.source_digest) is None:
        yield Fault(
            pointer="/provenance/capture/source_digest",
            message=f"the bytes of the dump patch's source ({capture.source_digest}) are not stored",
            hint="leave it out, or send the file along in /sources; the registry fills it in",
        )


def _entry_faults(entries: Sequence[FileEntry], at: str, blobs: Blobs) -> Iterator[Fault]:
    for index, entry in enumerate(entries):
        pointer = f"{at}/{index}"
        size = blobs.exists(entry.sha256)
        if size is None:
            hint = f"Upload it first: PUT /v1/blobs/{entry.sha256}."
            yield Fault(
                pointer=pointer, message=f"the bytes of {entry.name!r} ({entry.sha256}) are not stored", hint=hint
            )
        elif size != entry.size:
            message = f"{entry.name!r} is announced with {entry.size} bytes, but the blob has {size}"
            yield Fault(pointer=f"{pointer}/size", message=message)


def _sound(inspection: Inspection, document: RegistrationDocument, target: Target, profiles: Profiles) -> Inventory:
    """Return what was read from the files, if they are what they claim."""
    if inspection.inventory is not None:
        return inspection.inventory
    subject = Subject(
        ref=document.name,
        inventory=Inventory(files=()),
        provenance=document.provenance,
        trained_target=target,
    )
    findings = judge_registration(subject, profiles=profiles, faults=inspection.faults)
    said = "; ".join(f"{fault.file}: {fault.observed}, expected {fault.expected}" for fault in inspection.faults)
    raise RegistrationRefused(f"A file is not what it claims: {said}.", findings=_errors(findings))


def _require_same_bytes(inventory: Inventory, entries: Sequence[FileEntry]) -> None:
    """Refuse files whose bytes, read again just now, no longer have the digest they are stored under."""
    claimed = {entry.name: entry.sha256 for entry in entries}
    for file in inventory.files:
        if claimed[file.name] != file.sha256:
            raise IntegrityMismatch(
                f"The stored bytes of {file.name!r} have the digest {file.sha256}, not {claimed[file.name]}.",
                hint="The blob is damaged: restore it from a backup.",
            )


async def _candidate(
    document: RegistrationDocument,
    inventory: Inventory,
    target: TargetRecord,
    *,
    records: Records,
    profiles: Profiles,
    actor: str,
) -> _Candidate:
    provenance = with_source_digest(document.provenance, document.sources)
    canonical = provenance_documents.render(provenance)
    weights = _weights_of(inventory)
    twins = await records.twins(weights, name=document.name, document=canonical)
    subject = Subject(
        ref=document.name,
        inventory=inventory,
        provenance=provenance,
        trained_target=target.target,
        weights_digest=weights,
        twins=twins,
    )
    findings = judged(subject, profiles=profiles)
    trained = trained_taps_of(provenance, target.target, profiles)
    new = NewCheckpoint(
        name=document.name,
        weights_digest=weights,
        inventory=inventory,
        provenance=provenance,
        document=canonical,
        trained_depths=trained_depths(trained),
        target_name=target.target.name,
        target_revision=target.target.revision,
        actor=actor,
    )
    return _Candidate(new=new, target=target, twins=twins, findings=findings, trained=trained)


def _weights_of(inventory: Inventory) -> Digest:
    if inventory.weights_digest is None:
        msg = "an inventory read with its contents has a weights digest"
        raise AssertionError(msg)
    return inventory.weights_digest


def judged(subject: Subject, *, profiles: Profiles) -> tuple[Finding, ...]:
    """Return what the rules say of a record and its files, if they let it through.

    Raises:
        RegistrationRefused: a finding is an error.
    """
    findings = judge_registration(subject, profiles=profiles)
    errors = _errors(findings)
    if errors:
        said = " ".join(f"{finding.code}: {finding.message}" for finding in errors)
        raise RegistrationRefused(
            f"{_headline(errors)} {said}",
            findings=findings,
            hint=f"`roost rule {errors[0].code}` explains it.",
        )
    return findings


def _headline(errors: Sequence[Finding]) -> str:
    of_record = all(error.at.startswith("/provenance") for error in errors)
    return "The record cannot be right." if of_record else "The record and the files do not agree."


def warnings_of(findings: Sequence[Finding], trained: TrainedTaps) -> tuple[str, ...]:
    """Return what a registration or an amendment warns about: taps that become unknown are never passed over."""
    warnings = [f"{f.code}: {f.message}" for f in findings if f.severity is Severity.WARNING]
    if trained.taps is None and not any(finding.unknown == "trained taps" for finding in findings):
        warnings.append(
            f"the trained taps are unknown, so every check will block: {trained.why_unknown}; "
            "correct the record with `roost provenance amend` as soon as it is known"
        )
    return tuple(warnings)


def _errors(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def with_source_digest(provenance: Provenance, sources: Sequence[FileEntry]) -> Provenance:
    """Return provenance with the SHA-256 of the dump patch's source, where that was sent along."""
    sent = {entry.name: entry.sha256 for entry in sources}
    digest = sent.get(provenance.capture.source or "")
    if digest is None:
        return provenance
    return replace(provenance, capture=replace(provenance.capture, source_digest=digest))


def trained_depths(trained: TrainedTaps) -> tuple[int, ...] | None:
    """Return the depths of the trained taps, for listings; None where they are not known."""
    return None if trained.taps is None else depths_of(trained.taps)


async def _rehearsed(candidate: _Candidate, records: Records) -> Registered:
    """Return what the insert would return, without it."""
    new = candidate.new
    existing = await records.checkpoint_with_weights(new.name, new.weights_digest)
    if existing is not None:
        found = differences(existing.provenance.document, new.document)
        if found:
            raise FactsDiffer(
                f"The same weights are registered as {existing.ref} with other facts.",
                difference=found,
                hint=f"Correct the record with `roost provenance amend {existing.ref}`.",
            )
        return _registered(candidate, existing, created=False)
    newest = await records.checkpoint(new.name)
    return _registered(candidate, _would_be(candidate, version=newest.version + 1 if newest else 1), created=True)


def _would_be(candidate: _Candidate, *, version: int) -> CheckpointRecord:
    new, now = candidate.new, datetime.now(UTC)
    return CheckpointRecord(
        name=new.name,
        version=version,
        weights_digest=new.weights_digest,
        inventory=new.inventory,
        provenance=ProvenanceRevision(
            revision=1,
            provenance=new.provenance,
            document=new.document,
            actor=new.actor,
            reason="registered",
            created_at=now,
        ),
        target=candidate.target,
        created_at=now,
        twins=candidate.twins,
    )


def _registered(candidate: _Candidate, record: CheckpointRecord, *, created: bool) -> Registered:
    warnings = list(warnings_of(candidate.findings, candidate.trained))
    if not created and dict(record.inventory.config) != dict(candidate.new.inventory.config):
        warnings.append(
            f"config.json differs from the one stored with {record.ref}, which stays: it is evidence of what was found "
            "at registration, and the weights are the same."
        )
    source = candidate.new.provenance.capture
    if source.source is not None and source.source_digest is None:
        warnings.append(
            f"the source of the dump patch, {source.source!r}, is named but was not sent; it is not stored."
        )
    return Registered(record=record, created=created, warnings=tuple(warnings))
