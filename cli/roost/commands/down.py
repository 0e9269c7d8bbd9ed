"""`roost down`: stops what `roost up` started, and nothing else."""

import os
import signal
import time
from pathlib import Path
from typing import Final

import click

from roost import data_folder
from roost.failures import Failure
from roost.screen import Screen, takes_format
from roost.server_extra import server_module

_POLL: Final = 0.03


@click.command(name="down")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Data folder; default: $XDG_DATA_HOME/roost or ~/.local/share/roost.",
)
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds to wait for an orderly end.")
@takes_format
def command(data: Path | None, timeout: float, *, screen: Screen) -> None:
    """Stop what `roost up` started on a data folder: API and Postgres.

    Where nothing runs there is nothing to do, and that is no failure.
    """
    folder = (data or data_folder.default_folder()).expanduser().absolute()
    if not folder.is_dir():
        screen.result({"data": str(folder), "stopped": False}, f"nothing runs on {folder}: there is no such folder")
        return
    stopped = _stop_service(folder, timeout=timeout)
    # A service that was killed leaves its Postgres behind; so does one that was killed while it stopped.
    stopped = bool(server_module("registry.store.embedded").stop(folder)) or stopped
    text = f"stopped the registry on {folder}" if stopped else f"nothing runs on {folder}"
    screen.result({"data": str(folder), "stopped": stopped}, text)


def _stop_service(folder: Path, *, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    signaled: data_folder.Running | None = None
    while data_folder.is_held(folder) or (
        signaled is not None and data_folder.start_of(signaled.pid) == signaled.started
    ):
        running = data_folder.running(folder)
        if running is not None and signaled is None:
            signaled = running
            _signal(running.pid)
        if time.monotonic() > deadline:
            process = f"process {signaled.pid}" if signaled else "a process that has not said which it is"
            raise Failure(f"the registry on {folder} ({process}) did not stop within {timeout:.0f} s")
        time.sleep(_POLL)
    return signaled is not None


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError:
        raise Failure(f"process {pid} belongs to another user", hint="run `roost down` as that user.") from None
