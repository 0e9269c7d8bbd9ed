"""`/v1/checkpoints`: registering checkpoints and reading them back."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import actor_of, answer, page
from registry.api.bodies import read_json
from registry.api.openapi import document_body, document_response, page_response, problem_responses
from registry.api.parameters import After, Limit
from registry.api.parts import Parts, parts_of
from registry.documents import checkpoint as checkpoint_documents
from registry.documents.requests import parse_registration
from registry.domain.provenance import plain_counting
from registry.domain.refs import parse_name
from registry.services.cases import dump_profile
from registry.services.documenting import checkpoint_document, summary_view
from registry.services.profiles import Profiles
from registry.services.records import CheckpointRecord
from registry.services.registering import register
from registry.services.resolving import find_checkpoint

router = APIRouter(prefix="/v1/checkpoints", tags=["checkpoints"])

_DryRun = Annotated[bool, Query(description="Do everything but store: the answer is 200 and nothing is registered.")]


@router.post(
    "",
    response_model=None,
    status_code=201,
    responses={
        201: document_response("checkpoint", "Registered."),
        200: document_response("checkpoint", "The same weights with the same facts were registered, or a dry run."),
        **problem_responses(409, 413, 415, 422, 503),
    },
    openapi_extra=document_body("registration"),
)
async def register_checkpoint(request: Request, dry_run: _DryRun = False) -> Response:  # noqa: FBT002  # a query parameter
    """Register a checkpoint whose files are blobs already; everything is read again from the bytes held here."""
    parts = parts_of(request)
    profiles = await parts.profiles()
    registered = await register(
        document=parse_registration(await read_json(request, limit=parts.settings.json_limit)),
        records=parts.records,
        blobs=parts.blobs,
        profiles=profiles,
        actor=actor_of(request),
        dry_run=dry_run,
    )
    document = checkpoint_document(
        registered.record, profiles=profiles, warnings=registered.warnings, created=registered.created
    )
    return answer(checkpoint_documents.render(document), 201 if registered.created and not dry_run else 200)


@router.get("", response_model=None, responses={200: page_response("Checkpoints."), **problem_responses(422, 503)})
async def list_checkpoints(
    request: Request,
    name: Annotated[str | None, Query(description="Only this drafter's.")] = None,
    after: After = None,
    limit: Limit = 100,
) -> Response:
    """List checkpoints by name and version."""
    only = None if name is None else parse_name(name)
    found = await parts_of(request).records.checkpoints(name=only, after=after, limit=limit)
    return page([summary_view(summary) for summary in found.items], found.next)


@router.get(
    "/{ref:path}",
    response_model=None,
    responses={
        200: document_response("checkpoint", "The checkpoint."),
        304: {"description": "It is what `If-None-Match` names."},
        **problem_responses(404, 422, 503),
    },
)
async def get_checkpoint(request: Request, ref: str) -> Response:
    """Return a checkpoint by NAME (the newest), NAME@N or its weights digest."""
    parts = parts_of(request)
    record = await find_checkpoint(ref, records=parts.records)
    profiles = await _profiles_for(record, parts)
    headers = {"ETag": etag_of(record, profiles), "Cache-Control": "no-cache"}
    if headers["ETag"] in _tags(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    document = checkpoint_document(record, profiles=profiles)
    return answer(checkpoint_documents.render(document), headers=headers)


async def _profiles_for(record: CheckpointRecord, parts: Parts) -> Profiles:
    """Only a dump that counts in an engine build's dialect needs the profiles as they are now."""
    counts_plainly = plain_counting(record.provenance.provenance.capture.counting) is not None
    return parts.layers.shipped if counts_plainly else await parts.profiles()


def etag_of(record: CheckpointRecord, profiles: Profiles) -> str:
    """Return the entity tag.

    What can change is the version that NAME means, provenance, the list of twins, and what is known of the build in
    whose dialect the dump counted: the trained taps follow from it.
    """
    tag = f"{record.version}.{record.weights_digest}.{record.provenance.revision}.{len(record.twins)}"
    counting = dump_profile(record.provenance.provenance, profiles)
    return f'"{tag}.{counting.digest}"' if counting else f'"{tag}"'


def _tags(header: str) -> set[str]:
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}
