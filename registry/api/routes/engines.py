"""`/v1/engines`: the engine builds that are known, each with its profile."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import answer
from registry.api.openapi import document_response, page_response, problem_responses
from registry.api.parts import parts_of
from registry.services.documenting import engine_views, profile_document

router = APIRouter(prefix="/v1/engines", tags=["engines"])


@router.get("", response_model=None, responses={200: page_response("Engine builds."), **problem_responses()})
async def list_engines(request: Request) -> Response:
    """List the engine builds whose profiles are shipped, by engine and version."""
    return answer({"items": engine_views(parts_of(request).profiles), "next": None})


@router.get(
    "/{build}",
    response_model=None,
    responses={200: document_response("engine-profile", "The profile."), **problem_responses(404, 422)},
)
async def get_engine(request: Request, build: str) -> Response:
    """Return what one engine build does, as data."""
    return answer(profile_document(build, parts_of(request).profiles))
