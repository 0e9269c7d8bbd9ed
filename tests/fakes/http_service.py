"""The real service on a free loopback port, in a thread, and a client that is nothing but the standard library."""

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer, read whole."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def problem(self, status: int, kind: str) -> Any:
        """Check that this is a whole problem document of that status and kind, without a traceback, and return it."""
        assert (self.status, self.media_type) == (status, "application/problem+json"), self.body
        found = self.json
        assert found["type"] == f"urn:roost:problem:{kind}", found
        assert found["status"] == status
        assert found["title"]
        assert found["detail"]
        assert "Traceback" not in self.body.decode()
        assert self.headers["X-Request-Id"]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Sends requests to one service; paths are sent as they are."""

    host: str
    port: int

    def call(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Send one request on a connection of its own. A body that is not bytes is sent as JSON."""
        sent = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=sent)
            response = connection.getresponse()
            return Answer(status=response.status, headers=response.headers, body=response.read())

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self.call("GET", path, headers=headers)

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        return self.call("POST", path, body, headers)


def in_path(text: str) -> str:
    """Return `text` as part of a path, slashes kept."""
    return quote(text, safe="/@:=")


@contextlib.contextmanager
def serving(app: FastAPI) -> Iterator[Client]:
    """Serve `app` on a free loopback port until the end of the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    host, port = listener.getsockname()[:2]
    try:
        yield Client(host=host, port=port)
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listener.close()
