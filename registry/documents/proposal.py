"""`roost.proposal/1`: what somebody wants to run. Launch options stay text here; `engines` reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from registry.documents import fields
from registry.documents.canonical import canonical_bytes, sha256_of
from registry.documents.fields import Fields, present
from registry.documents.validation import validated
from registry.domain.digests import Digest
from registry.domain.proposal import Build, Proposal, RunnerName, parse_build
from registry.domain.refs import Ref, parse_ref

SCHEMA: Final = "roost.proposal/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalDocument:
    """A proposal as it was sent. A part that is None is absent."""

    checkpoint: Ref
    build: Build
    target: str | None = None
    runner: RunnerName | None = None
    draft_config: Mapping[str, object] | None = None
    launch_text: str | None = None


def parse(data: bytes | Mapping[str, object]) -> ProposalDocument:
    """Return the proposal in `data`.

    Raises:
        DocumentError: with every fault.
    """
    return from_fields(validated("proposal", data))


def render(proposal: ProposalDocument) -> dict[str, object]:
    """Return the document of `proposal`; absent parts are left out, so equal proposals have equal documents."""
    members = (
        ("schema", SCHEMA),
        ("checkpoint", str(proposal.checkpoint)),
        ("engine", str(proposal.build)),
        ("target", proposal.target),
        ("runner", proposal.runner),
        ("launch", proposal.launch_text),
    )
    # An empty draft config is a proposal; only None is absent.
    config = {} if proposal.draft_config is None else {"draft_config": dict(proposal.draft_config)}
    return {**present(members), **config}


def of(proposal: Proposal) -> ProposalDocument:
    """Return the document of a proposal whose launch options were read."""
    return ProposalDocument(
        checkpoint=parse_ref(proposal.checkpoint),
        build=proposal.build,
        target=proposal.target,
        runner=proposal.runner,
        draft_config=proposal.draft_config,
        launch_text=None if proposal.launch is None else proposal.launch.text,
    )


def digest(proposal: ProposalDocument) -> Digest:
    """Return the SHA-256 over the canonical bytes of the proposal's document."""
    return sha256_of(canonical_bytes(render(proposal)))


def from_fields(document: Fields) -> ProposalDocument:
    """Return the record of a document that is already checked."""
    return ProposalDocument(
        checkpoint=parse_ref(fields.text(document, "checkpoint")),
        build=parse_build(fields.text(document, "engine")),
        target=fields.maybe_text(document, "target"),
        runner=cast("RunnerName | None", fields.maybe_text(document, "runner")),
        draft_config=fields.maybe_part(document, "draft_config"),
        launch_text=fields.maybe_text(document, "launch"),
    )
