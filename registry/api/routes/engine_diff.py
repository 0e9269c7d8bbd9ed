"""`/v1/engine-diff`: what going from one engine build to another changes."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import answer_bytes
from registry.api.openapi import document_response, problem_responses
from registry.api.parameters import After, Limit
from registry.api.parts import parts_of
from registry.documents.engine_diff import diff_bytes
from registry.services.engine_diff import Page, engine_diff

router = APIRouter(prefix="/v1", tags=["engines"])

_Before = Annotated[str, Query(alias="from", description="ENGINE==VERSION; a `+` in it is sent as `%2B`.")]
_After = Annotated[str, Query(alias="to", description="ENGINE==VERSION; a `+` in it is sent as `%2B`.")]
_Checkpoints = Annotated[bool, Query(description="Judge every registered checkpoint on both, a page at a time.")]


@router.get(
    "/engine-diff",
    response_model=None,
    responses={
        200: document_response("engine-diff", "What changes."),
        **problem_responses(404, 422, 503),
    },
)
async def compare_engines(  # one parameter per query parameter
    request: Request,
    before: _Before,
    to: _After,
    *,
    checkpoints: _Checkpoints = False,
    after: After = None,
    limit: Limit = 100,
) -> Response:
    """Compare two engine builds fact by fact and, if asked, say what the change asks of each checkpoint."""
    parts = parts_of(request)
    page = Page(after=after, limit=limit) if checkpoints else None
    made = await engine_diff(before, to, page=page, records=parts.records, profiles=await parts.profiles())
    return answer_bytes(diff_bytes(made))
