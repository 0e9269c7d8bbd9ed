"""`/v1/provenance`: how a checkpoint was trained, and corrections of that."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import actor_of, answer
from registry.api.bodies import read_json
from registry.api.openapi import document_body, problem_responses
from registry.api.parts import parts_of
from registry.documents.requests import parse_amendment
from registry.services import listing
from registry.services.amending import amend
from registry.services.documenting import amended_view, revision_view

router = APIRouter(prefix="/v1/provenance", tags=["provenance"])


@router.get(
    "/{ref:path}",
    response_model=None,
    responses={200: {"description": "Every revision, oldest first."}, **problem_responses(404, 422, 503)},
)
async def get_provenance(request: Request, ref: str) -> Response:
    """Return every provenance revision of a checkpoint, oldest first."""
    checkpoint, revisions = await listing.provenance_of(ref, records=parts_of(request).records)
    return answer({"ref": checkpoint.ref, "revisions": [revision_view(revision) for revision in revisions]})


@router.post(
    "/{ref:path}",
    response_model=None,
    status_code=201,
    responses={
        201: {"description": "The new revision."},
        200: {"description": "The newest revision has these facts already."},
        **problem_responses(404, 409, 413, 415, 422, 503),
    },
    openapi_extra=document_body("amendment"),
)
async def amend_provenance(request: Request, ref: str) -> Response:
    """Append a provenance revision; the ones before stay."""
    parts = parts_of(request)
    amended = await amend(
        ref=ref,
        document=parse_amendment(await read_json(request, limit=parts.settings.json_limit)),
        records=parts.records,
        blobs=parts.blobs,
        profiles=await parts.profiles(),
        actor=actor_of(request),
    )
    return answer(amended_view(amended), 201 if amended.created else 200)
