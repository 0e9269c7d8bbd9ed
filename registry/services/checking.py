"""Checking a proposal against the record, and storing the verdict for later."""

from dataclasses import dataclass
from datetime import UTC, datetime

from registry.documents.canonical import sha256_of
from registry.documents.proposal import ProposalDocument
from registry.documents.verdict import verdict_bytes
from registry.domain.proposal import Proposal
from registry.domain.verdict import Verdict
from registry.engines.launch import parse_launch
from registry.services.cases import subject_of
from registry.services.judging import judge
from registry.services.ports import Records
from registry.services.profiles import Profiles
from registry.services.records import CheckpointRecord, VerdictRecord
from registry.services.resolving import find_checkpoint, proposed_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A verdict and the checkpoint it is about."""

    checkpoint: CheckpointRecord
    verdict: Verdict


async def check(*, document: ProposalDocument, records: Records, profiles: Profiles) -> Checked:
    """Judge a proposal; nothing is stored.

    Args:
        document: the proposal as it was sent; NAME without a version is the newest.
        records: where checkpoints and targets are.
        profiles: the profiles to judge with.

    Raises:
        Invalid: checkpoint or launch text cannot be read.
        NotFound: there is no such checkpoint.
        Refused: the named target is not registered.
    """
    checkpoint = await find_checkpoint(str(document.checkpoint), records=records, pointer="/checkpoint")
    target = await proposed_target(document.target, checkpoint, records=records)
    verdict = judge(subject_of(checkpoint), proposal_for(document, checkpoint), profiles=profiles, target=target.target)
    return Checked(checkpoint=checkpoint, verdict=verdict)


def proposal_for(document: ProposalDocument, checkpoint: CheckpointRecord) -> Proposal:
    """Return the proposal with its checkpoint resolved and its launch text parsed.

    Raises:
        Invalid: the launch text cannot be read.
    """
    text = document.launch_text
    return Proposal(
        checkpoint=checkpoint.ref,
        build=document.build,
        target=document.target,
        runner=document.runner,
        draft_config=document.draft_config,
        launch=None if text is None else parse_launch(text, document.build.engine),
    )


async def store_verdict(
    *, document: ProposalDocument, records: Records, profiles: Profiles, actor: str
) -> VerdictRecord:
    """Judge a proposal and store the verdict's canonical bytes under their SHA-256.

    Raises:
        Invalid, NotFound, Refused: as for `check`.
    """
    checked = await check(document=document, records=records, profiles=profiles)
    body = verdict_bytes(checked.verdict)
    record = VerdictRecord(
        id=sha256_of(body),
        ref=checked.checkpoint.ref,
        provenance_revision=checked.checkpoint.provenance.revision,
        body=body,
        created_at=datetime.now(UTC),
    )
    return await records.add_verdict(record, actor=actor)
