"""`/v1/blobs`: bytes by their SHA-256, streamed in and out."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from registry.api import bodies
from registry.api.answers import answer
from registry.api.openapi import octets_body, problem_responses
from registry.api.parts import parts_of
from registry.domain.errors import NotFound

router = APIRouter(prefix="/v1/blobs", tags=["blobs"])

# `{digest:path}` so that a digest with slashes in it is answered as a bad digest and not as an unknown route.
_PATH = "/{digest:path}"


@router.put(
    _PATH,
    status_code=201,
    response_model=None,
    responses={
        201: {"description": "Stored."},
        200: {"description": "It was stored before."},
        **problem_responses(413, 415, 422, 503),
    },
    openapi_extra=octets_body(),
)
async def put_blob(request: Request, digest: str) -> Response:
    """Store the body under its SHA-256; verified on the way. 201 when it is new, 200 when it was there."""
    parts = parts_of(request)
    bodies.require_type(request, bodies.OCTETS, optional=True)
    known = parts.blobs.exists(digest)
    limit = parts.settings.blob_limit
    size = bodies.announced_size(request)
    if size > limit:
        raise bodies.too_large(limit)
    if known is None:
        expected = size if "content-length" in request.headers else None
        known = await parts.blobs.write(digest, bodies.limited(request, limit), expected)
        return answer({"digest": digest, "size": known}, 201)
    return answer({"digest": digest, "size": known})


@router.head(_PATH, response_model=None, responses=problem_responses(404, 422, 503))
async def head_blob(request: Request, digest: str) -> Response:
    """Tell whether a blob is stored, and its size."""
    size = _size(request, digest)
    return Response(headers=_headers(digest, size), media_type=bodies.OCTETS)


@router.get(
    _PATH,
    response_model=None,
    responses={200: {"description": "The bytes.", "content": {bodies.OCTETS: {}}}, **problem_responses(404, 422, 503)},
)
async def get_blob(request: Request, digest: str) -> Response:
    """Return the bytes of a blob."""
    size = _size(request, digest)
    stream = parts_of(request).blobs.stream(digest)
    return StreamingResponse(stream, headers=_headers(digest, size), media_type=bodies.OCTETS)


def _size(request: Request, digest: str) -> int:
    size = parts_of(request).blobs.exists(digest)
    if size is None:
        raise NotFound(f"There is no blob {digest}.", hint="PUT it first.")
    return size


def _headers(digest: str, size: int) -> dict[str, str]:
    return {"Content-Length": str(size), "ETag": f'"{digest}"', "Cache-Control": "public, max-age=31536000, immutable"}
