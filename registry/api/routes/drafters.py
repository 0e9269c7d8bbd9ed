"""`/v1/drafters` and `/v1/events`: the named lines of draft models and their histories."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import answer, page
from registry.api.openapi import page_response, problem_responses
from registry.api.parameters import After, Limit
from registry.api.parts import parts_of
from registry.services import listing
from registry.services.documenting import drafter_view, event_view

router = APIRouter(prefix="/v1", tags=["drafters"])


@router.get(
    "/drafters", response_model=None, responses={200: page_response("Drafters."), **problem_responses(422, 503)}
)
async def list_drafters(request: Request, after: After = None, limit: Limit = 100) -> Response:
    """List drafters by name."""
    found = await parts_of(request).records.drafters(after=after, limit=limit)
    return page([drafter_view(drafter) for drafter in found.items], found.next)


@router.get(
    "/events/{name:path}",
    response_model=None,
    responses={200: page_response("Every change, oldest first."), **problem_responses(404, 422, 503)},
)
async def list_events(request: Request, name: str) -> Response:
    """Return the history of a drafter, oldest first; each event carries the digest that chains it to the one before."""
    events = await listing.events_of(name, records=parts_of(request).records)
    return answer({"name": name, "items": [event_view(event) for event in events], "next": None})
