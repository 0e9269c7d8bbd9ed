"""Correcting provenance: a new revision beside the old ones, under the same rules as a registration."""

from dataclasses import dataclass, replace

from registry.documents import provenance as provenance_documents
from registry.documents.requests import AmendmentDocument
from registry.domain.provenance import Provenance, TrainedTaps
from registry.services.cases import subject_of, trained_taps_of
from registry.services.ports import Blobs, Records
from registry.services.profiles import Profiles
from registry.services.records import CheckpointRecord, ProvenanceRevision
from registry.services.registering import judged, require_sources, trained_depths, warnings_of, with_source_digest
from registry.services.resolving import find_checkpoint, registered_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Amended:
    """The result of an amendment."""

    checkpoint: CheckpointRecord
    """As it was before."""
    revision: ProvenanceRevision
    created: bool
    """False: the newest revision has these facts already."""
    trained: TrainedTaps
    """The taps that follow from the new facts, or why they are not known."""
    warnings: tuple[str, ...] = ()


async def amend(
    *, ref: str, document: AmendmentDocument, records: Records, blobs: Blobs, profiles: Profiles, actor: str
) -> Amended:
    """Append a provenance revision to a checkpoint.

    Args:
        ref: NAME, NAME@N or a weights digest.
        document: the corrected provenance, the reason, and optionally the revision it corrects.
        records: the system of record.
        blobs: where the bytes of a dump patch sent along are.
        profiles: needed where the dump counted in an engine's dialect.
        actor: who asks.

    Raises:
        Invalid, NotFound: as for `find_checkpoint`.
        DocumentError: the bytes of a source are not stored.
        Refused: the target that the new provenance names is not registered.
        RegistrationRefused: the new record contradicts the files.
        Conflict: `expected_revision` is not the newest.
    """
    checkpoint = await find_checkpoint(ref, records=records)
    require_sources(document.provenance, document.sources, blobs, kind="amendment")
    sent = with_source_digest(document.provenance, document.sources)
    provenance = _keeping_source(sent, checkpoint.provenance.provenance)
    target = await registered_target(provenance.target.name, provenance.target.revision, records=records)
    canonical = provenance_documents.render(provenance)
    twins = await records.twins(checkpoint.weights_digest, name=checkpoint.name, document=canonical)
    subject = replace(subject_of(checkpoint), provenance=provenance, trained_target=target.target, twins=twins)
    findings = judged(subject, profiles=profiles)
    trained = trained_taps_of(provenance, target.target, profiles)
    revision = await records.amend(
        checkpoint.name,
        checkpoint.version,
        provenance=provenance,
        document=canonical,
        trained_depths=trained_depths(trained),
        actor=actor,
        reason=document.reason,
        expected_revision=document.expected_revision,
    )
    created = revision.revision > checkpoint.provenance.revision
    return Amended(
        checkpoint=checkpoint,
        revision=revision,
        created=created,
        trained=trained,
        warnings=warnings_of(findings, trained),
    )


def _keeping_source(provenance: Provenance, before: Provenance) -> Provenance:
    """Keep the digest of the dump patch's source: an amendment names the same file but does not send it again."""
    if provenance.capture.source_digest is not None or provenance.capture.source != before.capture.source:
        return provenance
    return replace(provenance, capture=replace(provenance.capture, source_digest=before.capture.source_digest))
