"""Request bodies as bytes: content types and size limits, before any document is parsed."""

from collections.abc import AsyncIterator
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

JSON: Final = "application/json"
OCTETS: Final = "application/octet-stream"


async def read_json(request: Request, *, limit: int) -> bytes:
    """Return the bytes of a JSON body of at most `limit` bytes; they are not parsed here.

    Raises:
        HTTPException: 413 where the body is larger, 415 where it is not announced as JSON.
    """
    require_type(request, JSON)
    if announced_size(request) > limit:
        raise too_large(limit)
    return b"".join([chunk async for chunk in limited(request, limit)])


async def limited(request: Request, limit: int) -> AsyncIterator[bytes]:
    """Yield the body's bytes as they come, up to `limit` of them.

    Raises:
        HTTPException: 413 as soon as more came.
    """
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        yield chunk


def too_large(limit: int) -> HTTPException:
    """Return the error of a body larger than `limit` bytes."""
    return HTTPException(413, f"The body is larger than {limit} bytes, which is the limit here.")


def require_type(request: Request, expected: str, *, optional: bool = False) -> None:
    """Refuse a body that is announced as something else than `expected`.

    Args:
        request: the request.
        expected: the media type, without parameters.
        optional: a request without a content type is taken as well.

    Raises:
        HTTPException: 415.
    """
    header = request.headers.get("content-type", "")
    given = header.partition(";")[0].strip().lower()
    if given == expected or (optional and not given):
        return
    raise HTTPException(415, f"The content type is {given or 'missing'}; expected {expected}.")


def announced_size(request: Request) -> int:
    """Return the size that `Content-Length` announces, 0 where there is none (a chunked body)."""
    return int(request.headers.get("content-length") or 0)
