"""`roost up`: a registry with its own Postgres, in the foreground or detached."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import click

from roost import data_folder, service
from roost.client import Client
from roost.data_folder import Running
from roost.failures import PASSED, Failure
from roost.screen import Screen, takes_format

_DEFAULT_PORT: Final = 8750
_POLL: Final = 0.03
_TAIL: Final = 12
"""Lines of the log that explain a start that failed."""


@click.command(name="up")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Data folder; default: $XDG_DATA_HOME/roost or ~/.local/share/roost.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=_DEFAULT_PORT, show_default=True, help="0: a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--detach", is_flag=True, help="Return once the registry answers, and leave it running.")
@click.option("--timeout", type=float, default=120.0, show_default=True, help="Seconds that --detach waits for it.")
@takes_format
def command(data: Path | None, port: int, host: str, timeout: float, *, detach: bool, screen: Screen) -> int:
    """Start a registry with its own Postgres.

    Ctrl-C or `roost down` stops all of it. A second `roost up` on the same data folder says where the first one runs.
    """
    folder = data_folder.prepared(data)
    ignored = service.ignored_database()
    if ignored:
        screen.warn(ignored)
    if detach:
        return _detached(folder, host=host, port=port, timeout=timeout, screen=screen)
    with data_folder.held(folder, patience=0.5) as free:
        if not free:
            return _already(folder, port=port, screen=screen, detach=False)
        screen.note(f"data folder: {folder}")
        service.run(folder, host=host, port=port, say=screen.note)
        screen.note("stopped")
    return PASSED


def _already(folder: Path, *, port: int, screen: Screen, detach: bool) -> int:
    """Say that a registry runs on this data folder already. That is what --detach asks for, if the port is right."""
    running = _when_listening(folder, seconds=10.0)
    where = f" at {running.url} (process {running.pid})" if running else " and is still starting"
    message = f"a registry is already running on {folder}{where}"
    if running is None or not detach or port not in {running.port, _DEFAULT_PORT, 0}:
        raise Failure(message, hint="`roost down` stops it; another --data folder gives a second one.")
    screen.result(_answer(folder, running, started=False), message)
    return PASSED


def _when_listening(folder: Path, *, seconds: float) -> Running | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and data_folder.is_held(folder):
        running = data_folder.running(folder)
        if running is not None and running.url:
            return running
        time.sleep(_POLL)
    return None


def _detached(folder: Path, *, host: str, port: int, timeout: float, screen: Screen) -> int:
    if data_folder.is_held(folder):
        return _already(folder, port=port, screen=screen, detach=True)
    service.check_port(host, port)
    log = folder / data_folder.LOG
    child = _spawn(folder, log=log, host=host, port=port)
    running = _wait(child, folder, log=log, timeout=timeout)
    text = f"the registry answers at {running.url} (process {running.pid}, data folder {folder}, log {log})"
    screen.result(_answer(folder, running, started=True), f"{text}\nstop it with: roost down --data {folder}")
    return PASSED


def _answer(folder: Path, running: Running, *, started: bool) -> dict[str, object]:
    return {"url": running.url, "pid": running.pid, "data": str(folder), "started": started}


def _spawn(folder: Path, *, log: Path, host: str, port: int) -> "subprocess.Popen[bytes]":
    """Start this very command in a session of its own, with no stream of ours."""
    # -P: a folder called `registry` where the user happens to stand is not ours.
    arguments = ["-m", "roost", "up", "--data", str(folder), "--host", host, "--port", str(port)]
    with log.open("ab", buffering=0) as stream:
        stream.write(f"--- {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} roost up\n".encode())
        return subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-P", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd="/",
            start_new_session=True,
        )


def _wait(child: "subprocess.Popen[bytes]", folder: Path, *, log: Path, timeout: float) -> Running:
    """Wait until the child answers; a child that does not is ended.

    Raises:
        Failure: it ended, or did not answer in time. The message is what it said itself.
    """
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise _failed(log)
        running = data_folder.running(folder)
        if (
            running is not None
            and running.pid == child.pid
            and running.url
            and Client(url=running.url, timeout=5.0).ready()
        ):
            return running
        time.sleep(_POLL)
    child.terminate()
    child.wait()
    raise Failure(f"the registry did not answer within {timeout:.0f} s", hint=f"its log is {log}")


def _failed(log: Path) -> Failure:
    said = log.read_text(encoding="utf-8", errors="replace").rpartition("--- ")[2].splitlines()[1:]
    errors = [line.removeprefix("error: ") for line in said if line.startswith("error: ")]
    hints = [line.removeprefix("hint: ") for line in said if line.startswith("hint: ")]
    if errors:
        return Failure(errors[-1], hint=hints[-1] if hints else f"its log is {log}")
    return Failure("the registry ended while it started", details=said[-_TAIL:], hint=f"its log is {log}")
