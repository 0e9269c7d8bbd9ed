"""`/v1/check` and `/v1/verdicts`: judging a proposal, and verdicts that are kept."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import actor_of, answer_bytes
from registry.api.bodies import read_json
from registry.api.openapi import document_body, document_response, problem_responses
from registry.api.parts import parts_of
from registry.documents import proposal as proposal_documents
from registry.documents.verdict import verdict_bytes
from registry.services import listing
from registry.services.checking import check, store_verdict

router = APIRouter(prefix="/v1", tags=["verdicts"])


@router.post(
    "/check",
    response_model=None,
    responses={
        200: document_response("verdict", "The verdict, whatever the decision; nothing is stored."),
        **problem_responses(404, 413, 415, 422, 503),
    },
    openapi_extra=document_body("proposal"),
)
async def check_proposal(request: Request) -> Response:
    """Judge a proposal. The same question has the same bytes as answer, here and on the command line."""
    parts = parts_of(request)
    document = proposal_documents.parse(await read_json(request, limit=parts.settings.json_limit))
    checked = await check(document=document, records=parts.records, profiles=await parts.profiles())
    return answer_bytes(verdict_bytes(checked.verdict))


@router.post(
    "/verdicts",
    response_model=None,
    status_code=201,
    responses={
        201: document_response("verdict", "The verdict; `Location` says where it stays."),
        **problem_responses(404, 413, 415, 422, 503),
    },
    openapi_extra=document_body("proposal"),
)
async def add_verdict(request: Request) -> Response:
    """Judge a proposal and keep the verdict."""
    parts = parts_of(request)
    document = proposal_documents.parse(await read_json(request, limit=parts.settings.json_limit))
    record = await store_verdict(
        document=document, records=parts.records, profiles=await parts.profiles(), actor=actor_of(request)
    )
    return answer_bytes(record.body, 201, headers={"Location": f"/v1/verdicts/{record.id}"})


@router.get(
    "/verdicts/{digest}",
    response_model=None,
    responses={
        200: document_response(
            "verdict", "The verdict as it was given; `Roost-Stale` says whether facts changed since."
        ),
        **problem_responses(404, 422, 503),
    },
)
async def get_verdict(request: Request, digest: str) -> Response:
    """Return a stored verdict, byte for byte."""
    parts = parts_of(request)
    record = await listing.stored_verdict(digest, records=parts.records, profiles=await parts.profiles())
    return answer_bytes(record.body, headers={"Roost-Stale": "true" if record.stale else "false"})
