"""Emitting: the files one engine build needs for a checkpoint, stored as blobs under the digest of their lock."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

from registry.documents import emission as emission_documents
from registry.documents import lock as locks
from registry.documents.canonical import sha256_of
from registry.documents.emission import EmissionDocument, SourcedFile
from registry.documents.requests import EmissionRequest
from registry.documents.target import TargetDocument
from registry.domain.proposal import Proposal, parse_build
from registry.domain.refs import parse_ref
from registry.services.cases import subject_of
from registry.services.emission import EmissionPlan, plan
from registry.services.ports import Blobs, Records
from registry.services.profiles import Profiles
from registry.services.records import CheckpointRecord, EmissionRecord, EmittedFile
from registry.services.resolving import find_checkpoint, proposed_target


async def emit(
    *, document: EmissionRequest, records: Records, blobs: Blobs, profiles: Profiles, actor: str
) -> EmissionRecord:
    """Write, read back and store the files that one engine build needs.

    Args:
        document: what was asked for; NAME without a version is the newest.
        records: the system of record.
        blobs: where the written files go, and where the checkpoint's own files are.
        profiles: the profiles to emit and judge with.
        actor: who asks.

    Raises:
        Invalid, NotFound: as for `find_checkpoint`.
        Refused: the named target is not registered.
        EmissionRefused: the build cannot serve the trained taps; the verdict says why.
    """
    checkpoint = await find_checkpoint(str(document.checkpoint), records=records, pointer="/checkpoint")
    target = await proposed_target(document.target, checkpoint, records=records)
    planned = plan(
        subject_of(checkpoint),
        _proposal(document, checkpoint),
        profiles=profiles,
        target=TargetDocument(target=target.target, config=target.config),
        trained_target=TargetDocument(target=checkpoint.target.target, config=checkpoint.target.config),
    )
    await asyncio.to_thread(_store_files, planned, blobs)
    record = _record(planned, checkpoint, target_name=target.target.name)
    return await records.add_emission(record, actor=actor)


def _proposal(document: EmissionRequest, checkpoint: CheckpointRecord) -> Proposal:
    return Proposal(checkpoint=checkpoint.ref, build=document.build, target=document.target, runner=document.runner)


def _store_files(planned: EmissionPlan, blobs: Blobs) -> None:
    for data in planned.written.values():
        blobs.write_bytes(data)


def _record(planned: EmissionPlan, checkpoint: CheckpointRecord, *, target_name: str) -> EmissionRecord:
    lock_digest = sha256_of(planned.written[locks.FILE_NAME])
    files = tuple(_files(planned, checkpoint))
    document = EmissionDocument(
        id=lock_digest,
        checkpoint=parse_ref(checkpoint.ref),
        build=parse_build(planned.verdict.engine),
        runner=planned.verdict.runner,
        target=target_name,
        files=files,
        lock_digest=lock_digest,
        verdict=planned.verdict,
        options=planned.lock.launch,
        environment=planned.lock.environment,
    )
    return EmissionRecord(
        id=lock_digest,
        ref=checkpoint.ref,
        engine=planned.verdict.engine,
        runner=planned.verdict.runner,
        target=target_name,
        files=tuple(EmittedFile(name=file.name, size=file.size, sha256=file.sha256) for file in files),
        document=emission_documents.render(document),
        created_at=datetime.now(UTC),
    )


def _files(planned: EmissionPlan, checkpoint: CheckpointRecord) -> Iterator[SourcedFile]:
    for name, data in planned.written.items():
        yield SourcedFile(name=name, size=len(data), sha256=sha256_of(data))
    for file in planned.carried:
        yield SourcedFile(name=file.name, size=file.size, sha256=file.sha256, source=checkpoint.ref)
