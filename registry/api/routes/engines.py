"""`/v1/engines` and `/v1/engine-revisions`: the engine builds that are known, each with its profile and its history."""

from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import actor_of, answer
from registry.api.bodies import read_json
from registry.api.openapi import document_body, document_response, page_response, problem_responses
from registry.api.parts import parts_of
from registry.documents import profile_addition
from registry.services.documenting import (
    build_of,
    engine_views,
    profile_document,
    profile_entry_view,
    profile_revisions_view,
)
from registry.services.profile_additions import add_profile
from registry.services.profile_history import history

router = APIRouter(prefix="/v1", tags=["engines"])

_REVISION: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["build", "revision", "origin", "in_force", "digest", "reason", "changes"],
    "properties": {
        "build": {"type": "string"},
        "revision": {"type": "integer"},
        "origin": {"enum": ["shipped", "added", "node"]},
        "in_force": {"type": "boolean", "description": "Whether judgments are made with this one."},
        "digest": {"type": "string"},
        "source_digest": {"type": ["string", "null"]},
        "actor": {"type": ["string", "null"]},
        "reason": {"type": "string"},
        "created_at": {"type": ["string", "null"]},
        "changes": {
            "type": "array",
            "description": "What it says otherwise than the revision before it.",
            "items": {
                "type": "object",
                "required": ["pointer", "before", "after"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON Pointer into the profile."},
                    "before": {"description": "null: it was not there."},
                    "after": {"description": "null: it is not there any more."},
                },
            },
        },
    },
}
_HISTORY: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["build", "revisions"],
    "properties": {"build": {"type": "string"}, "revisions": {"type": "array", "items": _REVISION}},
}


def _described(meaning: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


@router.get("/engines", response_model=None, responses={200: page_response("Engine builds."), **problem_responses(503)})
async def list_engines(request: Request) -> Response:
    """List the engine builds that have a profile, by engine and version."""
    return answer({"items": engine_views(await parts_of(request).profiles()), "next": None})


@router.post(
    "/engines",
    response_model=None,
    status_code=201,
    responses={
        201: _described("A new revision of the build's profile.", _REVISION),
        200: _described("These facts were known; nothing was stored.", _REVISION),
        **problem_responses(413, 415, 422, 503),
    },
    openapi_extra=document_body(profile_addition.KIND),
)
async def add_engine(request: Request) -> Response:
    """Keep an engine profile. A build that has one gets another revision of it; the ones before stay."""
    parts = parts_of(request)
    added = await add_profile(
        document=profile_addition.parse(await read_json(request, limit=parts.settings.json_limit)),
        records=parts.records,
        layers=parts.layers,
        actor=actor_of(request),
    )
    headers = {"Location": f"/v1/engines/{added.build}".replace("+", "%2B")}
    return answer(profile_entry_view(added.build, added.entry), 201 if added.created else 200, headers=headers)


@router.get(
    "/engines/{build}",
    response_model=None,
    responses={200: document_response("engine-profile", "The profile."), **problem_responses(404, 422, 503)},
)
async def get_engine(request: Request, build: str) -> Response:
    """Return what one engine build does, as data: the profile that judgments are made with."""
    return answer(profile_document(build, await parts_of(request).profiles()))


@router.get(
    "/engine-revisions/{build}",
    response_model=None,
    responses={
        200: _described("Every revision, the shipped one first.", _HISTORY),
        **problem_responses(404, 422, 503),
    },
)
async def get_engine_revisions(request: Request, build: str) -> Response:
    """Return the history of a build's profile: which revision changed what, who added it and why."""
    parts = parts_of(request)
    named = build_of(build)
    entries = await history(named, records=parts.records, layers=parts.layers)
    return answer(profile_revisions_view(named, entries))
