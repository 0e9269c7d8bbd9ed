"""`/v1/emissions`: the files an engine build needs, written once and kept."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from registry.api.answers import actor_of, answer
from registry.api.bodies import OCTETS, read_json
from registry.api.openapi import document_body, document_response, problem_responses
from registry.api.parts import parts_of
from registry.documents.requests import parse_emission_request
from registry.services import listing
from registry.services.emitting import emit

router = APIRouter(prefix="/v1/emissions", tags=["emissions"])


@router.post(
    "",
    response_model=None,
    status_code=201,
    responses={
        201: document_response("emission", "The emission; the same request gives the same one."),
        **problem_responses(404, 413, 415, 422, 503),
    },
    openapi_extra=document_body("emission-request"),
)
async def add_emission(request: Request) -> Response:
    """Write the files that one engine build needs for a checkpoint, or say in a verdict why there are none."""
    parts = parts_of(request)
    record = await emit(
        document=parse_emission_request(await read_json(request, limit=parts.settings.json_limit)),
        records=parts.records,
        blobs=parts.blobs,
        profiles=await parts.profiles(),
        actor=actor_of(request),
    )
    return answer(record.document, 201, headers={"Location": f"/v1/emissions/{record.id}"})


@router.get(
    "/{digest}",
    response_model=None,
    responses={200: document_response("emission", "The emission."), **problem_responses(404, 422, 503)},
)
async def get_emission(request: Request, digest: str) -> Response:
    """Return an emission by the SHA-256 of its lock file."""
    return answer((await listing.stored_emission(digest, records=parts_of(request).records)).document)


@router.get(
    "/{digest}/files/{name:path}",
    response_model=None,
    responses={
        200: {"description": "The file.", "content": {OCTETS: {}}},
        **problem_responses(404, 422, 503),
    },
)
async def get_emitted_file(request: Request, digest: str, name: str) -> Response:
    """Return one file of an emission."""
    parts = parts_of(request)
    emission = await listing.stored_emission(digest, records=parts.records)
    file = listing.emitted_file(emission, name)
    parts.blobs.path(file.sha256)  # raises where the bytes are gone: a stream that has begun cannot say so any more
    headers = {"Content-Length": str(file.size), "ETag": f'"{file.sha256}"'}
    return StreamingResponse(parts.blobs.stream(file.sha256), headers=headers, media_type=OCTETS)
