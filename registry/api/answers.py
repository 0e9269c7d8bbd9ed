"""Successful answers: JSON as bytes, made without a second pass through a framework's encoder."""

import json
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from registry.api.bodies import JSON
from registry.documents.canonical import plain

ACTOR_HEADER = "Roost-Actor"


def answer(document: object, status: int = 200, *, headers: Mapping[str, str] | None = None) -> Response:
    """Return `document` as compact JSON."""
    content = json.dumps(document, default=plain, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(content, status, headers=dict(headers or {}), media_type=JSON)


def answer_bytes(content: bytes, status: int = 200, *, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON that is already bytes, as it is."""
    return Response(content, status, headers=dict(headers or {}), media_type=JSON)


def actor_of(request: Request) -> str:
    """Return who says they ask, from `Roost-Actor`, else `anonymous`: a name for the history, not a proof."""
    return request.headers.get(ACTOR_HEADER, "").strip()[:200] or "anonymous"


def page(items: list[dict[str, object]], following: str | None) -> Response:
    """Return one page of a listing."""
    return answer({"items": items, "next": following})
