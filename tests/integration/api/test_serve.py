"""The process: what stops it from starting, and how it ends."""

import contextlib
import signal
import socket
import subprocess
import threading
import time

import pytest
from fakes.founding import sha256
from fakes.service_process import running, start

from registry.api import serve
from registry.api.settings import Settings
from registry.store import embedded, migrate


def refusal(process: "subprocess.Popen[str]") -> str:
    """Return what a service said that did not start."""
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert "Traceback" not in said
    return said


def test_a_taken_port_is_named_before_anything_else_happens(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal(start("postgresql://nobody@127.0.0.1:1/none", tmp_path, ROOST_PORT=str(port)))
    assert f"Port {port} is taken" in said
    assert "--port" in said


def test_a_database_that_is_not_at_head_is_refused_with_the_command_that_mends_it(empty_database, tmp_path):
    assert "roost db migrate" in refusal(start(empty_database.service_url, tmp_path))


def test_a_database_that_does_not_answer_is_said(tmp_path):
    said = refusal(start("postgresql://nobody@127.0.0.1:1/none", tmp_path))
    assert "ROOST_DATABASE_URL" in said


def test_a_data_folder_that_cannot_be_used_is_said(database, tmp_path):
    (tmp_path / "blobs").write_text("a file")
    assert "blobs" in refusal(start(database.service_url, tmp_path))


@pytest.mark.parametrize(("name", "value"), [("ROOST_PORT", "x"), ("ROOST_PORT", "65536"), ("ROOST_DATA", "")])
def test_a_setting_that_cannot_be_read_is_named(tmp_path, name, value):
    said = refusal(start("postgresql://nobody@127.0.0.1:1/none", tmp_path, **{name: value}))
    assert "port" in said.lower() if name == "ROOST_PORT" else name in said


def test_answers_do_not_wait_for_an_acknowledgement(tmp_path):
    """asyncio switches Nagle's algorithm off only on sockets that name their protocol; else each answer takes 40 ms."""
    settings = Settings(database_url="", data=tmp_path, port=0)
    with contextlib.closing(serve._bound_socket(settings)) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_it_listens_on_loopback_alone(database, tmp_path):
    with running(database.service_url, tmp_path) as service:
        assert service.client.host == "127.0.0.1"
        assert service.client.get("/readyz").status == 200
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", service.client.port), timeout=5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_lets_a_running_upload_end(database, tmp_path, number):
    data = b"z" * (1 << 20)
    with running(database.service_url, tmp_path) as service:
        address = (service.client.host, service.client.port)
        with socket.create_connection(address, timeout=20) as connection:
            head = f"PUT /v1/blobs/{sha256(data)} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
            connection.sendall(head.encode() + data[:1000])
            incoming = tmp_path / "blobs" / "incoming"
            end = time.monotonic() + 10
            while not list(incoming.iterdir()):
                assert time.monotonic() < end
                time.sleep(0.01)
            service.process.send_signal(number)
            sender = threading.Timer(0.3, connection.sendall, [data[1000:]])
            sender.start()
            assert connection.recv(100).startswith(b"HTTP/1.1 201")
            sender.join()
        _, said = service.process.communicate(timeout=30)
        assert (service.process.returncode, said) == (0, "")


def test_a_database_that_goes_away_is_503_until_it_is_back(tmp_path_factory, case):
    with_data = tmp_path_factory.mktemp("pg")
    server = embedded.start(with_data, no_sync=True)
    try:
        migrate.upgrade(server.owner_url)
        with running(server.service_url, tmp_path_factory.mktemp("data")) as service:
            client = service.client
            client.post("/v1/targets", case.target)
            assert service.register(case, "kimi").status == 201
            embedded.stop(with_data)
            for path in ("/readyz", "/v1/checkpoints/kimi", "/v1/targets", "/v1/drafters"):
                client.get(path).problem(503, "unavailable")
            client.post("/v1/checkpoints", case.body("kimi")).problem(503, "unavailable")
            assert client.get("/healthz").status == 200
            embedded.start(with_data, no_sync=True)
            assert client.get("/readyz").status == 200
            assert client.get("/v1/checkpoints/kimi").json["ref"] == "kimi@1"
            assert service.register(case, "kimi").status == 200
    finally:
        embedded.stop(with_data)
