"""`/v1/targets`: the target models."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import actor_of, answer, page
from registry.api.bodies import read_json
from registry.api.openapi import document_body, document_response, page_response, problem_responses
from registry.api.parameters import After, Limit
from registry.api.parts import parts_of
from registry.documents import target as target_documents
from registry.services import targets
from registry.services.documenting import target_view

router = APIRouter(prefix="/v1/targets", tags=["targets"])


@router.post(
    "",
    response_model=None,
    status_code=201,
    responses={
        201: document_response("registered-target", "Registered."),
        200: document_response(
            "registered-target", "It was registered; a fact that was missing may have been filled in."
        ),
        **problem_responses(409, 413, 415, 422, 503),
    },
    openapi_extra=document_body("target"),
)
async def add_target(request: Request) -> Response:
    """Register a target, or fill in facts that the registered one lacks."""
    parts = parts_of(request)
    document = target_documents.parse(await read_json(request, limit=parts.settings.json_limit))
    added = await targets.add_target(
        target=document.target, config=document.config, records=parts.records, actor=actor_of(request)
    )
    return answer(target_view(added.record), 201 if added.created else 200)


@router.get(
    "",
    response_model=None,
    responses={
        200: page_response("Targets.", {"$ref": "#/components/schemas/registered-target"}),
        **problem_responses(422, 503),
    },
)
async def list_targets(request: Request, after: After = None, limit: Limit = 100) -> Response:
    """List targets by name and revision."""
    found = await parts_of(request).records.targets(after=after, limit=limit)
    return page([target_view(record) for record in found.items], found.next)


@router.get(
    "/{name:path}",
    response_model=None,
    responses={200: document_response("registered-target", "The target."), **problem_responses(404, 422, 503)},
)
async def get_target(
    request: Request, name: str, revision: Annotated[str | None, Query(description="Default: the newest.")] = None
) -> Response:
    """Return one target."""
    return answer(target_view(await targets.find_target(name, revision, records=parts_of(request).records)))
