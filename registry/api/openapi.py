"""The service's description of itself. Bodies are those of `schemas/`: one contract, referenced and never retyped."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

from registry import resources
from registry.api.answers import answer_bytes
from registry.api.problems import MEDIA_TYPE

KINDS: Final = (
    "amendment", "checkpoint", "emission", "emission-request", "engine-diff", "engine-profile",
    "engine-profile-addition", "lock", "matrix", "matrix-request", "proposal", "provenance",
    "registration", "target", "verdict",
)  # fmt: skip
"""The documents of `schemas/` that become components."""

_PREFIX: Final = "#/components/schemas/"
_PROBLEM: Final[Mapping[str, object]] = {
    "title": "a problem document (RFC 9457)",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "pattern": "^urn:roost:problem:[a-z-]+$"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string", "description": "What to do about it."},
        "instance": {"type": "string", "description": "The request, for whoever reads the service's log."},
        "errors": {
            "type": "array",
            "description": "Every fault of what was sent.",
            "items": {
                "type": "object",
                "required": ["pointer", "message", "hint"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON Pointer into what was sent."},
                    "message": {"type": "string"},
                    "hint": {"type": "string"},
                },
            },
        },
        "difference": {
            "type": "array",
            "description": "Facts on which the registered record and the given one disagree.",
            "items": {"type": "object", "required": ["pointer", "registered", "given"]},
        },
        "findings": {"$ref": "#/components/schemas/verdict/$defs/findings"},
        "verdict": {"$ref": "#/components/schemas/verdict"},
    },
}

_MEANINGS: Final[Mapping[int, str]] = {
    404: "There is no such record.",
    409: "The same identity is registered with other facts.",
    413: "The body is too large.",
    415: "The body has another content type than expected.",
    422: "What was sent is not what it must be, or is refused.",
    500: "The service failed; nothing half-done is visible.",
    503: "The database or the blob folder cannot be used; try again.",
}


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of the problems a route answers with; 500 is among those of every route."""
    return {status: _problem_response(_MEANINGS[status]) for status in sorted({*statuses, 500})}


def _problem_response(meaning: str) -> dict[str, Any]:
    return {"description": meaning, "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_PREFIX}problem"}}}}


def document_response(kind: str, meaning: str) -> dict[str, Any]:
    """Return the description of an answer that is a document of `schemas/`."""
    return {"description": meaning, "content": {"application/json": {"schema": {"$ref": _PREFIX + kind}}}}


def document_body(kind: str) -> dict[str, Any]:
    """Return the description of a request body that is a document of `schemas/`."""
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": _PREFIX + kind}}}},
    }


def octets_body() -> dict[str, Any]:
    """Return the description of a request body that is plain bytes."""
    schema = {"type": "string", "contentMediaType": "application/octet-stream"}
    return {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": schema}}}}


def page_response(meaning: str, item: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return the description of a page of a listing."""
    schema = {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": dict(item or {"type": "object"})},
            "next": {"type": ["string", "null"], "description": "The `after` of the next page; null at the end."},
        },
    }
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


def install(app: FastAPI) -> None:
    """Serve the description of `app` at /openapi.json; it is made on the first request for it."""

    @cache
    def content() -> bytes:
        return render(app)

    @app.get("/openapi.json", include_in_schema=False, response_model=None)
    async def _openapi() -> Response:
        return answer_bytes(content())


def render(app: FastAPI) -> bytes:
    """Return the OpenAPI document of `app`, as it is also kept in `schemas/openapi.json`."""
    document = describe(app)
    return (json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of `app`."""
    document = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    schemas = {kind: component(kind) for kind in KINDS}
    schemas["registered-target"] = _registered_target(schemas["target"])
    document["components"] = {"schemas": {**schemas, "problem": dict(_PROBLEM)}}
    return document


def _registered_target(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a target in answers: its document, and what was read from its config."""
    whole = {"type": ["integer", "null"]}
    facts = {"layers": whole, "hidden_size": whole, "vocab_size": whole}
    facts |= {"target_class": {"type": ["string", "null"]}, "dense": {"type": ["boolean", "null"]}}
    return {
        **target,
        "title": "a registered target",
        "required": [*target["required"], *sorted(facts)],
        "properties": {**target["properties"], **facts},
    }


def component(kind: str) -> dict[str, Any]:
    """Return a document of `schemas/` as a component: the same schema, its references turned to components."""
    schema = json.loads(resources.schema_text(kind))
    for key in ("$schema", "$id"):
        schema.pop(key, None)
    turned = _turned(schema, kind)
    if not isinstance(turned, dict):
        msg = f"the schema {kind} is not an object"
        raise TypeError(msg)
    return turned


def _turned(value: Any, kind: str) -> Any:
    if isinstance(value, dict):
        return {
            key: _reference(item, kind) if key == "$ref" and isinstance(item, str) else _turned(item, kind)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_turned(item, kind) for item in value]
    return value


def _reference(reference: str, kind: str) -> str:
    file, _, fragment = reference.partition("#")
    return _PREFIX + (file.removesuffix(".schema.json") or kind) + fragment
