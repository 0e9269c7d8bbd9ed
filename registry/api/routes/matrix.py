"""`/v1/matrix`: a checkpoint and config on every known build."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import answer_bytes
from registry.api.bodies import read_json
from registry.api.openapi import document_body, document_response, problem_responses
from registry.api.parts import parts_of
from registry.documents.matrix import matrix_bytes, parse_request
from registry.services.matrix import matrix

router = APIRouter(prefix="/v1", tags=["verdicts"])


@router.post(
    "/matrix",
    response_model=None,
    responses={
        200: document_response("matrix", "The matrix; nothing is stored."),
        **problem_responses(404, 413, 415, 422, 503),
    },
    openapi_extra=document_body("matrix-request"),
)
async def judge_on_every_build(request: Request) -> Response:
    """Judge a checkpoint and config on every known build, neighbors that take the same in one row."""
    parts = parts_of(request)
    document = parse_request(await read_json(request, limit=parts.settings.json_limit))
    made = await matrix(document=document, records=parts.records, profiles=await parts.profiles())
    return answer_bytes(matrix_bytes(made))
