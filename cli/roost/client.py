"""The light client of the registry's REST interface, on `http.client`: a question costs no heavier import."""

import http.client
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NoReturn
from urllib.parse import quote, urlencode, urlsplit

from roost.failures import Failure
from roost.problems import failure_from

DEFAULT_URL: Final = "http://127.0.0.1:8750"

_CHUNK: Final = 1 << 20
"""Bytes read and sent at once: large enough that a Python loop does not bound the transfer."""

_MOST_ANSWER: Final = 256 << 20
"""Bytes of the largest answer that is taken whole; files are streamed."""

_IS_IT_ONE: Final = "is ROOST_URL the address of a Roost registry?"

_LOOPBACK: Final = ("localhost", "127.", "::1")

Progress = Callable[[int], None]
"""Called with the number of bytes that were moved since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the registry answered."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    def json(self) -> Any:
        """Return the body as a JSON object.

        Raises:
            Failure: it is none; a key that is looked up and missing raises it as well.
        """
        try:
            document = json.loads(self.body, object_hook=_Document)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise Failure(f"the answer of the registry ({self.status}) is no JSON object", hint=_IS_IT_ONE)
        return document


class _Document(dict[str, Any]):
    """An object of an answer. What lacks a key that every registry sends did not come from one."""

    def __missing__(self, key: str) -> NoReturn:
        raise Failure(f"the answer of the registry lacks {key!r}", hint=_IS_IT_ONE)


@dataclass(slots=True, kw_only=True)
class Client:
    """One registry. A connection is kept between requests and opened again when the service has closed it."""

    url: str = DEFAULT_URL
    actor: str = "anonymous"
    timeout: float = 60.0
    """Seconds without a byte until a request is given up."""
    refusal_exit: int = 1
    """Exit code of an answer that refuses what was asked (409, 413, 422)."""
    _connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, *, refusal_exit: int = 1, timeout: float = 60.0) -> "Client":
        """Return the client of the registry that ROOST_URL names, acting as ROOST_ACTOR or the user.

        Raises:
            Failure: ROOST_URL is no address.
        """
        url = os.environ.get("ROOST_URL") or DEFAULT_URL
        if not _is_address(url):
            raise Failure(
                f"ROOST_URL is {url!r}, which is no http:// or https:// address",
                hint=f"expected a scheme, a host, and perhaps a port and a path, such as {DEFAULT_URL}",
            )
        return cls(url=url.rstrip("/"), actor=current_actor(), refusal_exit=refusal_exit, timeout=timeout)

    def get(self, path: str, **query: str | int | None) -> Answer:
        """GET `path` with the query's values that are not None.

        Raises:
            Failure: nothing answers, or the answer is a problem.
        """
        given = {name: value for name, value in query.items() if value is not None}
        return self._accepted("GET", path + (f"?{urlencode(given)}" if given else ""))

    def post(self, path: str, document: Mapping[str, object]) -> Answer:
        """POST `document` as JSON.

        Raises:
            Failure: nothing answers, or the answer is a problem.
        """
        body = json.dumps(document, ensure_ascii=False).encode()
        return self._accepted("POST", path, body=body, headers={"Content-Type": "application/json"})

    def items(self, path: str, **query: str | int | None) -> Iterator[dict[str, Any]]:
        """Walk through every page of a listing."""
        after: str | None = None
        while True:
            page = self.get(path, after=after, **query).json()
            yield from page["items"]
            before, after = after, page.get("next")
            if not after:
                return
            if after == before:
                raise Failure(f"the pages of {self.url}{path} do not end", hint=_IS_IT_ONE)

    def has_blob(self, digest: str) -> bool:
        """Tell whether the registry holds the bytes of `digest`."""
        answer = self._exchange("HEAD", f"/v1/blobs/{digest}")
        if answer.status in {http.HTTPStatus.OK, http.HTTPStatus.NO_CONTENT}:
            return True
        if answer.status == http.HTTPStatus.NOT_FOUND:
            return False
        raise failure_from(answer, asked=f"HEAD {self.url}/v1/blobs/{digest}", refusal_exit=self.refusal_exit)

    def put_blob(self, digest: str, path: Path, *, size: int, progress: Progress | None = None) -> None:
        """Send the file at `path` as the blob `digest`.

        Raises:
            Failure: nothing answers, the bytes are not those of `digest`, or they cannot be kept.
        """
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        with path.open("rb") as stream:
            self._accepted("PUT", f"/v1/blobs/{digest}", body=_Counted(stream, progress), headers=headers)

    def download(self, path: str, destination: Path, *, progress: Progress | None = None) -> str:
        """Write what `path` answers to the new file `destination`, flushed to the disk; return its SHA-256.

        Raises:
            Failure: nothing answers, the answer is a problem, or it ends early.
        """
        import hashlib  # noqa: PLC0415 - only transfers need it

        digest = hashlib.sha256()
        connection = self._connect()
        try:
            connection.request("GET", urlsplit(self.url).path + path, headers={"Roost-Actor": self.actor})
            response = connection.getresponse()
            if response.status != http.HTTPStatus.OK:
                answer = Answer(status=response.status, headers={}, body=response.read(_MOST_ANSWER))
                raise failure_from(answer, asked=f"GET {self.url}{path}", refusal_exit=self.refusal_exit)
            with destination.open("xb") as stream:
                while chunk := response.read(_CHUNK):
                    digest.update(chunk)
                    stream.write(chunk)
                    if progress is not None:
                        progress(len(chunk))
                stream.flush()
                os.fsync(stream.fileno())
        except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
            raise self._unreachable(_reason(error)) from None
        finally:
            connection.close()
        return f"sha256:{digest.hexdigest()}"

    def ready(self) -> bool:
        """Tell whether the service answers and is ready."""
        try:
            return self._exchange("GET", "/readyz").status == http.HTTPStatus.OK
        except Failure:
            return False

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _accepted(
        self,
        method: str,
        path: str,
        *,
        body: "bytes | _Counted | None" = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        answer = self._exchange(method, path, body=body, headers=headers)
        if not http.HTTPStatus.OK <= answer.status < http.HTTPStatus.MULTIPLE_CHOICES:
            raise failure_from(answer, asked=f"{method} {self.url}{path}", refusal_exit=self.refusal_exit)
        return answer

    def _exchange(
        self,
        method: str,
        path: str,
        *,
        body: "bytes | _Counted | None" = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request; once more when a kept connection turns out to be closed and nothing was consumed."""
        reused = self._connection is not None
        try:
            return self._send(method, path, body, headers or {})
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.close()
            if not reused or isinstance(body, _Counted):
                raise self._unreachable("it closed the connection without an answer") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(_reason(error)) from None
        try:
            return self._send(method, path, body, headers or {})
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(_reason(error)) from None

    def _send(self, method: str, path: str, body: "bytes | _Counted | None", headers: Mapping[str, str]) -> Answer:
        connection = self._connection = self._connection or self._connect()
        prefix = urlsplit(self.url).path
        common = {"Roost-Actor": self.actor, "Accept": "application/json"}
        cut_short = False
        try:
            connection.request(method, prefix + path, body=body, headers={**common, **headers})
        except (BrokenPipeError, ConnectionResetError):
            # The service may refuse a body before it has read all of it; its answer then lies in our buffer.
            if not isinstance(body, _Counted):
                raise
            cut_short = True
        response = connection.getresponse()
        content = response.read(_MOST_ANSWER + 1)
        if len(content) > _MOST_ANSWER:
            self.close()
            raise Failure(f"{method} {self.url}{path} answered with more than {_MOST_ANSWER} bytes", hint=_IS_IT_ONE)
        if response.will_close or cut_short:
            self.close()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Answer(status=response.status, headers=fields, body=content)

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        proxy = None if is_loopback(parts.hostname or "") else _proxy(parts.scheme, parts.hostname or "")
        if proxy is None:
            return kind(parts.hostname or "", parts.port, timeout=self.timeout)
        connection = kind(proxy[0], proxy[1], timeout=self.timeout)
        connection.set_tunnel(parts.hostname or "", parts.port)
        return connection

    def _unreachable(self, reason: str) -> Failure:
        return Failure(
            f"no registry answers at {self.url}: {reason}",
            hint="start one with `roost up`, or name another with ROOST_URL.",
        )


class _Counted:
    """A stream of bytes that tells how far it has been read. `http.client` sends it in chunks."""

    def __init__(self, stream: IO[bytes], progress: Progress | None) -> None:
        self._stream = stream
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._stream.read(_CHUNK):
            yield chunk
            if self._progress is not None:
                self._progress(len(chunk))


def _is_address(url: str) -> bool:
    """Tell whether `url` is the plain address of a service: nothing in it would be passed over."""
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:
        return False
    further = parts.username is not None or parts.query or parts.fragment
    return parts.scheme in {"http", "https"} and bool(host) and not further and url.isprintable() and " " not in url


def in_path(text: str) -> str:
    """Return a name or reference as the last part of a path: slashes and `@` stay, all else is escaped."""
    return quote(text, safe="/@:")


def current_actor() -> str:
    """Return who is asking: ROOST_ACTOR, else the user's name, as a header can carry it."""
    name = os.environ.get("ROOST_ACTOR") or os.environ.get("LOGNAME") or os.environ.get("USER") or _name_of_uid()
    return "".join(character for character in name if character.isascii() and character.isprintable()) or "anonymous"


def _name_of_uid() -> str:
    import pwd  # noqa: PLC0415 - not on every system, and rarely needed

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "anonymous"


def is_loopback(host: str) -> bool:
    """Tell whether `host` is this machine; proxies named in the environment are not asked for it."""
    return host.startswith(_LOOPBACK)


def _proxy(scheme: str, host: str) -> tuple[str, int | None] | None:
    """Return host and port of the proxy that the environment names for `host`, if any."""
    if not any(name.lower().endswith("_proxy") and value for name, value in os.environ.items()):
        return None
    from urllib.request import getproxies_environment, proxy_bypass  # noqa: PLC0415 - heavy, and only behind a proxy

    address = None if proxy_bypass(host) else getproxies_environment().get(scheme)
    if not address:
        return None
    parts = urlsplit(address if "//" in address else f"//{address}")
    return (parts.hostname, parts.port) if parts.hostname else None


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
