"""`/v1/rules`: what is judged, and the manual of each rule."""

from fastapi import APIRouter
from starlette.responses import Response

from registry.api.answers import answer
from registry.api.openapi import page_response, problem_responses
from registry.services.documenting import rule_view, rule_views

router = APIRouter(prefix="/v1/rules", tags=["rules"])


@router.get("", response_model=None, responses={200: page_response("Rules."), **problem_responses()})
async def list_rules() -> Response:
    """List every rule, by code."""
    return answer(rule_views())


@router.get(
    "/{code}",
    response_model=None,
    responses={200: {"description": "The rule with its manual, in Markdown."}, **problem_responses(404, 422)},
)
async def get_rule(code: str) -> Response:
    """Return one rule by code or name, with its manual."""
    return answer(rule_view(code))
