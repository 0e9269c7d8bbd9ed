"""The outermost layer: every answer carries `X-Request-Id`, and an exception nobody foresaw becomes a problem document.

Plain ASGI, since it stands in front of every request and must neither buffer a body nor cost much.
"""

import logging
import re
import secrets
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.api import problems

HEADER: Final = "X-Request-Id"

_GIVEN: Final = b"x-request-id"
_ACCEPTABLE = re.compile(rb"^[A-Za-z0-9._-]{1,64}$")
_log = logging.getLogger(__name__)


class RequestIds:
    """ASGI middleware; wraps the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except ClientDisconnect:
            _log.info("%s: the client went away during %s %s", request_id, scope["method"], scope["path"])
        except Exception:
            _log.exception("%s: %s %s failed", request_id, scope["method"], scope["path"])
            if started:  # too late for a problem document: closing the connection is all that tells the client
                raise
            await problems.unexpected(request_id)(scope, receive, send_with_id)


def _request_id(scope: Scope) -> str:
    """Return the id the client gave, where it can stand in a header and a log line, else a new one."""
    given = next((value for name, value in scope["headers"] if name == _GIVEN), b"")
    return given.decode() if _ACCEPTABLE.match(given) else secrets.token_hex(8)
