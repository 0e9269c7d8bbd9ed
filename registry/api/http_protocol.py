"""The HTTP/1.1 protocol of the service: what is not even HTTP is answered with a problem document as well."""

from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from registry.api.problems import problem

_UNREADABLE: Final = problem(
    400,
    "malformed-request",
    title="Bad Request",
    detail="This is not a request of HTTP/1.1, or its headers are too long.",
)


class ProblemProtocol(H11Protocol):
    """Uvicorn's protocol, with its one plain-text answer replaced."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # the name and argument are uvicorn's
        """Answer a request that cannot be read, and close the connection."""
        headers = [*_UNREADABLE.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=_UNREADABLE.status_code, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(_UNREADABLE.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
