"""Problem documents (RFC 9457): one table from error classes to HTTP, and the handlers that every error goes through.

No answer of this service is an error in any other form: not the framework's validation errors, not an unknown path,
not an unexpected exception. None of them shows a traceback.
"""

import http
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from registry.documents import verdict as verdicts
from registry.documents.canonical import plain
from registry.documents.faults import DocumentError, escape, printable
from registry.domain.differences import FactsDiffer
from registry.domain.errors import (
    Conflict,
    IntegrityMismatch,
    Invalid,
    NotFound,
    Refused,
    RegistryError,
    Unavailable,
)
from registry.services.refusals import EmissionRefused, RegistrationRefused

MEDIA_TYPE: Final = "application/problem+json"

PROBLEMS: Final[Mapping[type[RegistryError], tuple[int, str]]] = {
    NotFound: (404, "not-found"),
    Conflict: (409, "conflict"),
    Refused: (422, "refused"),
    Invalid: (422, "invalid"),
    IntegrityMismatch: (422, "integrity-mismatch"),
    Unavailable: (503, "unavailable"),
    DocumentError: (422, "invalid-document"),
}
"""Error class -> status and last part of the problem type. A subclass without a row has that of its nearest parent."""

_STATUS_TYPES: Final[Mapping[int, str]] = {
    400: "malformed-request",
    404: "no-such-route",
    405: "method-not-allowed",
    413: "too-large",
    415: "unsupported-media-type",
}

_ROUTING: Final = frozenset({404, 405})


def problem(
    status: int,
    kind: str,
    *,
    title: str,
    detail: str,
    hint: str = "",
    members: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a problem document.

    Args:
        status: the HTTP status.
        kind: the problem type, kebab-case; becomes `urn:roost:problem:<kind>`.
        title: the same for every problem of this type.
        detail: what is wrong here.
        hint: what to do about it.
        members: more members, such as `errors`, `difference`, `findings` or `verdict`; empty ones are left out.
        headers: more response headers.
    """
    body: dict[str, object] = {"type": f"urn:roost:problem:{kind}", "title": title, "status": status, "detail": detail}
    body |= {name: value for name, value in {"hint": hint, **(members or {})}.items() if value}
    # Whatever stands in a message, saying it must not fail: control characters and lone surrogates are escaped.
    content = json.dumps(body, default=plain, ensure_ascii=False, separators=(",", ":"))
    return Response(
        content.encode("utf-8", "backslashreplace"), status, headers=dict(headers or {}), media_type=MEDIA_TYPE
    )


def of_error(error: RegistryError) -> Response:
    """Return the problem document of a registry error."""
    status, kind = next(PROBLEMS[parent] for parent in type(error).__mro__ if parent in PROBLEMS)
    headers = {"Retry-After": "1"} if status == http.HTTPStatus.SERVICE_UNAVAILABLE else None
    return problem(
        status,
        kind,
        title=error.title,
        detail=error.detail,
        hint=error.hint,
        members={"errors": _errors_of(error), **_extras_of(error)},
        headers=headers,
    )


def _errors_of(error: RegistryError) -> list[dict[str, object]]:
    if isinstance(error, DocumentError):
        return [{"pointer": fault.pointer, "message": fault.message, "hint": fault.hint} for fault in error.faults]
    if error.pointer is not None:
        return [{"pointer": error.pointer, "message": error.detail, "hint": error.hint}]
    return []


def _extras_of(error: RegistryError) -> dict[str, object]:
    match error:
        case FactsDiffer():
            return {"difference": [asdict(one) for one in error.difference]}
        case RegistrationRefused():
            return {"findings": verdicts.render_findings(error.findings)}
        case EmissionRefused():
            return {"verdict": verdicts.render(error.verdict)}
        case _:
            return {}


def unexpected(request_id: str) -> Response:
    """Return the problem document of an exception that nobody foresaw; the log has the rest under `request_id`."""
    return problem(
        500,
        "internal",
        title="The service failed",
        detail="Something went wrong inside the service; nothing half-done is visible.",
        hint=f"Try again; if it persists, look for {request_id} in the service's log.",
        members={"instance": f"urn:roost:request:{request_id}"},
    )


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem document."""
    app.add_exception_handler(RegistryError, _registry_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


async def _registry_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RegistryError):
        raise error
    return of_error(error)


async def _validation_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [_parameter_fault(fault) for fault in error.errors()]
    return problem(
        422,
        "invalid-parameter",
        title="A parameter is not what it must be",
        detail="; ".join(fault["message"] for fault in faults),
        members={"errors": faults},
    )


def _parameter_fault(fault: Mapping[str, object]) -> dict[str, str]:
    place = fault.get("loc")
    words = [str(part) for part in place] if isinstance(place, tuple) else []
    where, name = words[0] if words else "request", words[-1] if words else ""
    return {
        "pointer": "".join(f"/{escape(word)}" for word in words),
        "message": f"{where} parameter {name!r}: {fault.get('msg', 'is not valid')}",
        "hint": "",
    }


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    status = error.status_code
    return problem(
        status,
        _STATUS_TYPES.get(status, "http"),
        title=http.HTTPStatus(status).phrase,
        detail=_http_detail(request, error),
        hint="GET /openapi.json lists every route." if status in _ROUTING else "",
        headers=_http_headers(request, error),
    )


def _http_headers(request: Request, error: HTTPException) -> dict[str, str]:
    """Return the headers of the error; `Allow` lists the methods of every route of the path, not of the first one."""
    headers = dict(error.headers or {})
    if error.status_code == http.HTTPStatus.METHOD_NOT_ALLOWED:
        matching = (route for route in request.app.state.routes if route.path_regex.match(request.scope["path"]))
        headers["Allow"] = ", ".join(sorted({method for route in matching for method in route.methods}))
    return headers


def _http_detail(request: Request, error: HTTPException) -> str:
    path = printable(request.scope["path"])
    if error.status_code == http.HTTPStatus.NOT_FOUND:
        return f"There is no route {path}."
    if error.status_code == http.HTTPStatus.METHOD_NOT_ALLOWED:
        return f"{request.method} is not allowed on {path}."
    return str(error.detail)
