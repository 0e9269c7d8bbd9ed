"""The process: checks what it needs, then listens. Composition root of the service."""

import asyncio
import contextlib
import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

import uvicorn

from registry.api.app import create_app
from registry.api.http_protocol import ProblemProtocol
from registry.api.routes.health import MEND
from registry.api.settings import Settings
from registry.blobs.local import LocalBlobs
from registry.domain.errors import Unavailable
from registry.services.profiles import ShippedProfiles
from registry.store.connect import connect
from registry.store.records import PostgresRecords

_GRACE_SECONDS: Final = 10
_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def serve(settings: Settings, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM, then let running requests end and return.

    Args:
        settings: database, data folder, address and limits.
        ready: called once with the service's URL when it listens.

    Raises:
        Unavailable: the port is taken, the database does not answer or is not at head, or the data folder cannot be
            written; said before anything listens.
    """
    with contextlib.closing(_bound_socket(settings)) as listener:
        asyncio.run(_serve(settings, listener, ready))


def _bound_socket(settings: Settings) -> socket.socket:
    """Take the port before anything else happens, so that a taken one is said at once and stays ours afterwards."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is given: without it every answer would wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        # Two sockets with SO_REUSEADDR may both be bound; only one may listen.
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _cannot_listen(settings, error) from error
    return listener


def _cannot_listen(settings: Settings, error: OSError) -> Unavailable:
    place = f"{settings.host}:{settings.port}"
    if error.errno == errno.EADDRINUSE:
        return Unavailable(
            f"Port {settings.port} is taken: something listens on {place}.", hint="Choose another with --port."
        )
    reason = error.strerror or str(error)
    return Unavailable(f"Cannot listen on {place}: {reason}.", hint="Choose another address with --host and --port.")


async def _serve(settings: Settings, listener: socket.socket, ready: Callable[[str], None] | None) -> None:
    blobs = LocalBlobs(settings.blob_root)
    await asyncio.to_thread(blobs.prepare)
    engine = connect(settings.database_url)
    try:
        records = PostgresRecords(engine)
        wrong = await records.ready()
        if wrong is not None:
            raise Unavailable(wrong, hint=MEND)
        app = create_app(records=records, blobs=blobs, profiles=ShippedProfiles(), settings=settings)
        server = _Server(
            uvicorn.Config(
                app,
                log_level=settings.log_level,
                access_log=False,
                server_header=False,
                http=ProblemProtocol,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        server.when_ready = lambda: ready(url_of(listener)) if ready is not None else None
        await server.serve(sockets=[listener])
    finally:
        await engine.dispose()


def url_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Uvicorn's server, which ends by returning: whoever called `serve` may have more to stop."""

    when_ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.when_ready is not None:
            self.when_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the stop signals while serving; uvicorn's own version raises them again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._stop) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)
