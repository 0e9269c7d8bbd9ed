"""`roost up`, `down`, `serve` and `db`: what is started is stopped, and what goes wrong is said."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Up = Callable[..., dict[str, Any]]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def up(bare_roost, tmp_path: Path) -> Iterator[Up]:
    """Start a registry on a data folder of this test; all of them are stopped at the end."""
    folders: set[Path] = set()

    def start(name: str = "data", **options: Any) -> dict[str, Any]:
        folder = tmp_path / name
        folders.add(folder)
        done = bare_roost(
            "up", "--data", folder, "--port", free_port(), "--detach", "--format", "json", check=True, **options
        )
        return dict(json.loads(done.stdout))

    yield start
    for folder in folders:
        bare_roost("down", "--data", folder)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def postgres_pid(data: Path) -> int:
    (found,) = data.rglob("postmaster.pid")
    return int(found.read_text().splitlines()[0])


def wait_until(true: Callable[[], bool], *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


def test_detached_it_answers_at_once_and_holds_no_stream_of_ours(up, bare_roost):
    # `bare_roost` reads stdout and stderr to their end: it would hang if the service held either.
    started = up()
    assert started["started"] is True
    assert bare_roost("list", env={"ROOST_URL": started["url"]}).returncode == 0
    log = Path(started["data"], "roost.log").stat()
    for stream in ("1", "2"):
        held = Path(f"/proc/{started['pid']}/fd/{stream}").stat()
        assert (held.st_dev, held.st_ino) == (log.st_dev, log.st_ino)
    assert Path(f"/proc/{started['pid']}/fd/0").readlink() == Path("/dev/null")
    assert os.getsid(started["pid"]) == started["pid"]


def test_down_stops_service_and_postgres_and_nothing_is_left_to_stop(up, bare_roost):
    started = up()
    data = Path(started["data"])
    postgres = postgres_pid(data)
    done = bare_roost("down", "--data", data, "--format", "json", check=True)
    assert json.loads(done.stdout)["stopped"] is True
    assert not alive(started["pid"])
    assert not alive(postgres)
    again = bare_roost("down", "--data", data, "--format", "json", check=True)
    assert json.loads(again.stdout)["stopped"] is False


def test_what_was_registered_is_there_after_a_restart(up, bare_roost, founding):
    first = up()
    address = {"ROOST_URL": first["url"]}
    bare_roost("target", "add", "some/Target", "--config", founding.case.target_config, env=address, check=True)
    bare_roost("down", "--data", first["data"], check=True)
    second = {"ROOST_URL": up()["url"]}
    assert "some/Target" in bare_roost("target", "list", env=second, check=True).stdout


def test_a_second_up_on_the_same_data_says_that_it_runs(up, bare_roost):
    started = up()
    detached = bare_roost("up", "--data", started["data"], "--detach", "--format", "json")
    assert detached.returncode == 0
    assert json.loads(detached.stdout) == {**started, "started": False}
    foreground = bare_roost("up", "--data", started["data"])
    assert foreground.returncode == 3
    assert f"already running on {started['data']} at {started['url']}" in foreground.stderr


def test_a_second_up_on_another_port_is_refused_and_names_the_first(up, bare_roost):
    started = up()
    done = bare_roost("up", "--data", started["data"], "--port", free_port(), "--detach")
    assert done.returncode == 3
    assert started["url"] in done.stderr


@pytest.mark.parametrize("mode", [["--detach"], []])
def test_a_taken_port_is_an_error_that_names_it(bare_roost, tmp_path, mode):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = bare_roost("up", "--data", tmp_path / "data", "--port", port, *mode)
    assert done.returncode == 3
    assert f"port {port} on 127.0.0.1 is taken" in done.stderr
    assert not list(tmp_path.rglob("postmaster.pid"))


def as_a_terminal_does() -> None:
    """Under nohup, or behind `&` in a script, signals are ignored, and what is started there inherits that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_foreground_stops_all_of_it(environment, tmp_path, number):
    data = tmp_path / "data"
    command = [sys.executable, "-P", "-m", "roost", "up", "--data", str(data), "--port", str(free_port())]
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_a_terminal_does,  # noqa: PLW1509  # no thread runs here, and it sets two signals
    ) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline() + process.stderr.readline()
            assert str(data) in said
            assert "answers at http://127.0.0.1:" in said
            postgres = postgres_pid(data)
            process.send_signal(number)
            out, rest = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert (out, rest) == ("", "stopped\n")
    assert not alive(postgres)


def test_a_signal_during_the_start_leaves_nothing_behind(environment, bare_roost, tmp_path):
    data = tmp_path / "data"
    command = [sys.executable, "-P", "-m", "roost", "up", "--data", str(data), "--port", str(free_port())]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert wait_until((data / "postgres").is_dir)
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    assert json.loads(bare_roost("down", "--data", data, "--format", "json").stdout)["stopped"] is False


def test_after_kill_9_a_new_up_finds_everything_and_down_stops_what_was_left(up, bare_roost, founding):
    first = up()
    address = {"ROOST_URL": first["url"]}
    bare_roost("target", "add", "some/Target", "--config", founding.case.target_config, env=address, check=True)
    postgres = postgres_pid(Path(first["data"]))
    os.kill(first["pid"], signal.SIGKILL)
    assert wait_until(lambda: not alive(first["pid"]))
    assert alive(postgres)
    second = up()
    assert second["pid"] != first["pid"]
    assert "some/Target" in bare_roost("target", "list", env={"ROOST_URL": second["url"]}, check=True).stdout
    os.kill(second["pid"], signal.SIGKILL)
    assert wait_until(lambda: not alive(second["pid"]))
    done = bare_roost("down", "--data", second["data"], "--format", "json", check=True)
    assert json.loads(done.stdout)["stopped"] is True
    assert not alive(postgres)


def test_postgres_that_is_killed_is_started_again_and_nothing_is_lost(up, bare_roost, founding):
    started = up()
    address = {"ROOST_URL": started["url"]}
    bare_roost("target", "add", "some/Target", "--config", founding.case.target_config, env=address, check=True)
    postgres = postgres_pid(Path(started["data"]))
    os.kill(postgres, signal.SIGKILL)

    def answers() -> bool:
        done = bare_roost("target", "list", env=address)
        assert done.returncode in {0, 3}
        return done.returncode == 0 and "some/Target" in done.stdout and not alive(postgres)

    assert wait_until(answers)
    assert "started again" in Path(started["data"], "roost.log").read_text()


def test_down_never_signals_a_process_that_merely_has_the_recorded_id(up, bare_roost):
    started = up()
    data = Path(started["data"])
    os.kill(started["pid"], signal.SIGKILL)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as innocent:
        record = json.loads((data / "roost.json").read_text())
        (data / "roost.json").write_text(json.dumps({**record, "pid": innocent.pid}))
        bare_roost("down", "--data", data, check=True)
        assert innocent.poll() is None
        innocent.kill()


def test_without_data_the_folder_is_the_users_and_is_named(bare_roost, tmp_path):
    environment = {"XDG_DATA_HOME": str(tmp_path)}
    try:
        done = bare_roost("up", "--port", free_port(), "--detach", env=environment, check=True)
        assert f"data folder {tmp_path / 'roost'}" in done.stdout
    finally:
        bare_roost("down", env=environment, check=True)


def test_a_folder_that_cannot_be_made_is_named(bare_roost, tmp_path):
    (tmp_path / "file").write_text("")
    done = bare_roost("up", "--data", tmp_path / "file" / "data", "--detach")
    assert done.returncode == 3
    assert str(tmp_path / "file") in done.stderr


def test_an_unreachable_registry_is_named_with_the_way_out(bare_roost):
    url = f"http://127.0.0.1:{free_port()}"
    for command in (["list"], ["show", "x"], ["check", "x", "--engine", "sglang==0.5.23"], ["target", "list"]):
        done = bare_roost(*command, env={"ROOST_URL": url})
        assert (done.returncode, done.stdout) == (3, "")
        assert url in done.stderr
        assert "roost up" in done.stderr


def test_proxies_are_not_asked_for_a_loopback_address(roost):
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    assert roost("list", env=proxies).returncode == 0


@pytest.mark.parametrize("url", ["localhost:8750", "ftp://x", "http://"])
def test_an_address_that_is_none_is_refused(bare_roost, url):
    done = bare_roost("list", env={"ROOST_URL": url})
    assert done.returncode == 3
    assert repr(url) in done.stderr


def test_something_else_that_listens_is_told_apart(bare_roost):
    script = (
        "import http.server, sys; s = http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler);"
        "print(s.server_port, flush=True); s.serve_forever()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as other:
        assert other.stdout is not None
        port = other.stdout.readline().strip()
        done = bare_roost("list", env={"ROOST_URL": f"http://127.0.0.1:{port}"})
        other.kill()
    assert done.returncode == 3
    assert "is ROOST_URL the address of a Roost registry?" in done.stderr


def test_db_says_where_a_database_stands_and_brings_it_to_head(bare_roost, tmp_path):
    data = tmp_path / "data"
    before = bare_roost("db", "status", "--data", data, "--format", "json")
    assert before.returncode == 1
    assert json.loads(before.stdout)["at_head"] is False
    assert not data.exists()  # a question changes nothing
    migrated = bare_roost("db", "migrate", "--data", data, "--format", "json", check=True)
    assert json.loads(migrated.stdout)["at_head"] is True
    assert bare_roost("db", "status", "--data", data).returncode == 0
    assert not list(data.rglob("postmaster.pid"))


def test_serve_runs_on_a_database_of_yours_once_it_is_migrated(bare_roost, environment, tmp_path):
    from registry.store import embedded  # noqa: PLC0415 - only this test plays the administrator

    server = embedded.start(tmp_path / "database", no_sync=True)
    with contextlib.ExitStack() as stack:
        stack.callback(embedded.stop, tmp_path / "database")
        port = free_port()
        own = {
            "ROOST_DATABASE_URL": server.service_url,
            "ROOST_OWNER_DATABASE_URL": server.owner_url,
            "ROOST_DATA": str(tmp_path / "data"),
            "ROOST_PORT": str(port),
        }
        early = bare_roost("serve", env=own)
        assert early.returncode == 3
        assert "roost db migrate" in early.stderr
        bare_roost("db", "migrate", env=own, check=True)
        process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-P", "-m", "roost", "serve"],
                env={**environment, **own},
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        stack.callback(process.terminate)
        assert process.stderr is not None
        assert process.stderr.readline() == f"the registry answers at http://127.0.0.1:{port}\n"
        assert bare_roost("list", env={"ROOST_URL": f"http://127.0.0.1:{port}"}).returncode == 0


def test_serve_names_the_variable_that_is_missing(bare_roost):
    done = bare_roost("serve")
    assert done.returncode == 3
    assert "ROOST_DATABASE_URL" in done.stderr


def test_serve_without_postgres_says_so_once_and_sends_nobody_to_the_migrations(bare_roost, tmp_path):
    address = f"postgresql://roost_service@127.0.0.1:{free_port()}/roost"
    done = bare_roost("serve", "--port", "0", env={"ROOST_DATABASE_URL": address, "ROOST_DATA": str(tmp_path)})
    assert done.returncode == 3
    assert "Postgres does not answer" in done.stderr
    assert "migrate" not in done.stderr
