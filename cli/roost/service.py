"""Runs a whole registry in this process: embedded Postgres, migrations as the owner, the API as the service role."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

from roost import data_folder
from roost.failures import Failure
from roost.server_extra import server_module

Say = Callable[[str], None]

_WATCH_SECONDS: Final = 0.5
"""How often to look whether Postgres still runs."""

_ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(folder: Path, *, host: str, port: int, say: Say) -> None:
    """Serve `folder` until a signal ends it, then stop everything that was started.

    The caller holds the folder's lock.

    Raises:
        Failure: the port is taken, or the server extra is missing.
        RegistryError: Postgres, the migrations or the API do not start; the message says why.
    """
    check_port(host, port)
    serving = server_module("registry.api.serve")
    settings = server_module("registry.api.settings")
    embedded = server_module("registry.store.embedded")
    migrate = server_module("registry.store.migrate")

    def listening(url: str) -> None:
        data_folder.write_record(folder, url=url, port=_port_of(url))
        say(f"the registry answers at {url}")

    with _ended_by_signals():
        try:
            data_folder.write_record(folder, url="", port=port)
            database = embedded.start(folder)
            if database.note:
                say(database.note)
            migrate.upgrade(database.owner_url)
            chosen = settings.Settings(database_url=database.service_url, data=folder, host=host, port=port)
            with _kept_running(database.pid, restart=lambda: int(embedded.start(folder).pid), say=say):
                serving.serve(chosen, ready=listening)
        except KeyboardInterrupt:
            _stop(embedded.stop, folder)
        except BaseException:
            # What went wrong first is what users must read.
            with suppress(Exception):
                _stop(embedded.stop, folder)
            raise
        else:
            _stop(embedded.stop, folder)


@contextmanager
def _kept_running(pid: int, *, restart: Callable[[], int], say: Say) -> Iterator[None]:
    """Start Postgres again when it ends while the block runs: killed, or out of memory. Its log recovers by itself."""
    leaving = threading.Event()
    watch = threading.Thread(target=_watch, args=(pid, restart, say, leaving), name="postgres-watch", daemon=True)
    watch.start()
    try:
        yield
    finally:
        leaving.set()
        watch.join()


def _watch(pid: int, restart: Callable[[], int], say: Say, leaving: threading.Event) -> None:
    started = data_folder.start_of(pid)
    while not leaving.wait(_WATCH_SECONDS):
        if started is not None and data_folder.start_of(pid) == started:
            continue
        say("Postgres has ended without being asked to; it is started again")
        try:
            pid = restart()
        except Exception as error:  # noqa: BLE001 - tried again at the next look: the service lives on and says 503
            say(f"Postgres does not start: {error}")
            started = None
        else:
            started = data_folder.start_of(pid)


def _stop(stop: Callable[[Path], bool], folder: Path) -> None:
    """Stop Postgres and forget the record. Whoever asks twice still gets an orderly end."""
    with _signals_handled_by(signal.SIG_IGN):
        stop(folder)
        data_folder.remove_record(folder)


def _unwind(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _ended_by_signals() -> AbstractContextManager[None]:
    """Let the signals that end a process unwind it, so that nothing it started is left behind."""
    return _signals_handled_by(_unwind)


@contextmanager
def _signals_handled_by(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> Iterator[None]:
    # A signal that whoever started us had switched off (nohup) stays off.
    wanted = [number for number in _ENDINGS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in wanted}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def check_port(host: str, port: int) -> None:
    """Say early that a port is taken, before a database is started for nothing.

    Raises:
        Failure: something listens there, or the address is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            raise _cannot_listen(host, port, error) from None
        except OverflowError:
            raise Failure(f"{port} is no port: expected 0 to 65535") from None


def _cannot_listen(host: str, port: int, error: OSError) -> Failure:
    import errno  # noqa: PLC0415 - only when it goes wrong

    if error.errno == errno.EADDRINUSE:
        return Failure(
            f"port {port} on {host} is taken: another program listens there",
            hint="choose another: `roost up --port N` (0 finds a free one).",
        )
    return Failure(f"cannot listen on {host} port {port}: {error.strerror or error}")


def _port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def ignored_database() -> str | None:
    """Return what to tell somebody who names a database and starts an embedded one all the same."""
    if os.environ.get("ROOST_DATABASE_URL"):
        return "ROOST_DATABASE_URL is set and not used: `roost up` runs its own Postgres, `roost serve` uses yours"
    return None
