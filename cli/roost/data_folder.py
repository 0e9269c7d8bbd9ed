"""The data folder of a registry that `roost up` runs, and the record of the process that serves it.

A lock that the kernel releases with the process says whether one runs; the record says where and which. A process id
alone is never trusted: it may belong to somebody else by now.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from roost.failures import Failure

_RECORD: Final = "roost.json"
_LOCK: Final = "roost.lock"
LOG: Final = "roost.log"
"""Where a detached registry writes what it has to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The process that serves a data folder."""

    pid: int
    started: str
    """When the process started, as the system tells it: with the id it names one process only."""
    url: str
    """Empty until it listens."""
    port: int


def default_folder() -> Path:
    """Return `$XDG_DATA_HOME/roost`, else `~/.local/share/roost`."""
    base = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification ignores relative paths.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share") / "roost"


def prepared(folder: Path | None) -> Path:
    """Return the data folder as an absolute path, made where missing.

    Raises:
        Failure: it cannot be made or written.
    """
    path = (folder or default_folder()).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(
            f"{path}: {(error.strerror or str(error)).lower()}", hint="name a data folder with --data."
        ) from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Failure(f"{path} cannot be written", hint="name another data folder with --data.")
    return path


@contextmanager
def held(folder: Path, *, patience: float = 0.0) -> Iterator[bool]:
    """Hold the folder's lock while the block runs; False if another process holds it.

    Args:
        folder: The data folder.
        patience: Seconds to try again: a process that only looks holds the lock for an instant.
    """
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _locked(descriptor, deadline=time.monotonic() + patience)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, *, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def is_held(folder: Path) -> bool:
    """Tell whether a process serves the folder."""
    if not (folder / _LOCK).exists():
        return False
    with held(folder) as free:
        return not free


def write_record(folder: Path, *, url: str, port: int) -> None:
    """Record this process as the one that serves `folder`."""
    running = Running(pid=os.getpid(), started=start_of(os.getpid()) or "", url=url, port=port)
    partial = folder / f"{_RECORD}.{os.getpid()}"
    partial.write_text(json.dumps(asdict(running)) + "\n", encoding="utf-8")
    partial.replace(folder / _RECORD)


def remove_record(folder: Path) -> None:
    """Remove the record."""
    (folder / _RECORD).unlink(missing_ok=True)


def running(folder: Path) -> Running | None:
    """Return the process that serves `folder`, None if none does or it has not said so yet."""
    if not is_held(folder):
        return None
    try:
        found = Running(**json.loads((folder / _RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    # A record of an earlier process may still lie there while a new one starts.
    return found if found.started and start_of(found.pid) == found.started else None


def start_of(pid: int) -> str | None:
    """Return when a process started, in the system's own form, or None if there is no such process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    state, *fields = status.rpartition(")")[2].split()
    # Field 22 of proc(5), in clock ticks since boot. A zombie has ended.
    return None if state == "Z" else fields[18]


def _start_by_ps(pid: int) -> str | None:
    import subprocess  # noqa: PLC0415 - only where there is no /proc

    found = subprocess.run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603 - a number
    return found.stdout.strip() or None
