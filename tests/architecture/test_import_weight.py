"""What a command imports: nothing of a server on any client path, and little of anything where answers must be instant.

Each command runs to its end in a process of its own, against a stub that answers like a registry.
"""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SERVER = {
    "alembic", "fastapi", "httpx", "numpy", "psycopg", "pydantic", "requests", "sqlalchemy", "starlette", "torch",
    "triton", "uvicorn",
}  # fmt: skip
"""Never on a client path."""

INSTANT = SERVER | {"blake3", "jsonschema", "registry", "rfc8785", "urllib.request"}
"""Never where somebody waits for an answer that the service computes."""

PROGRAM = """
import sys
from roost.main import run
sys.stdout, out = sys.stderr, sys.stdout
code = run(sys.argv[1:])
print(code, *sorted(sys.modules), file=out)
"""

VERDICT = {
    "decision": "pass", "remedy": "none", "outcome": "serves", "headline": "passes", "engine": "sglang==0.5.23",
    "runner": None, "unknown": [], "trained_taps": [], "effective_taps": {"prefill": [], "decode": []}, "findings": [],
    "not_judged": [], "look_next": [], "retrain_cost": None, "profile": None, "rules": "1",
}  # fmt: skip

MATRIX = {"checkpoint": "x@1", "target": "t", "trained_taps": [], "proposed": False, "rows": []}

DIFF_PATH = "/v1/engine-diff?from=sglang%3D%3D0.5.13&to=sglang%3D%3D0.5.14"
DIFF = {"from": {"build": "sglang==0.5.13"}, "to": {"build": "sglang==0.5.14"}, "changes": [], "checkpoints": None}

CHECKPOINT = {
    "ref": "x@1", "target": "t", "weights_digest": "blake3:0", "tensors": 1, "provenance_revision": 1, "layers": 4,
    "trained_taps": [{"depth": 1, "stream": "residual", "norm": "none"}], "files": [], "provenance": {},
}  # fmt: skip


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers every question that the commands below ask."""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        known = {
            "/v1/check": VERDICT,
            "/v1/matrix": MATRIX,
            DIFF_PATH: DIFF,
            "/v1/checkpoints/x": CHECKPOINT,
            "/v1/drafters": {"items": [], "next": None},
        }
        body = json.dumps(known.get(self.path, {"title": "no", "detail": "no such record", "status": 404})).encode()
        self.send_response(200 if self.path in known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815 - the names that the standard library looks for

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def stub() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def founding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("founding")
    subprocess.run(
        [sys.executable, ROOT / "tools" / "founding_case.py", directory], check=True, stdout=subprocess.DEVNULL
    )
    (directory / "emitted").mkdir()
    (directory / "emitted" / "roost.lock.json").write_text("{}")
    return directory


def imported(arguments: list[str], *, stub: str) -> tuple[int, set[str]]:
    """Run a command; return its exit code and the names of all modules it imported."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}", "ROOST_URL": stub}
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    code, *modules = done.stdout.split()
    return int(code), set(modules)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["check", "--help"], 0),
        (["check", "x", "--engine", "sglang==0.5.23"], 0),
        (["list"], 0),
        (["matrix", "x", "--engine", "sglang"], 0),
        (["engines", "diff", "sglang==0.5.13", "sglang==0.5.14"], 0),
        (["show", "x"], 0),
        (["show", "nobody"], 3),
    ],
    ids=str,
)
def test_instant_commands_import_next_to_nothing(arguments, code, stub):
    ended, modules = imported(arguments, stub=stub)
    assert ended == code
    assert INSTANT & modules == set()


def test_help_imports_no_command_and_no_network(stub):
    _, modules = imported(["--help"], stub=stub)
    assert {"http.client", "json.decoder", "roost.client", "ssl", "subprocess"} & modules <= {"json.decoder"}
    assert [name for name in modules if name.startswith("roost.commands")] == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["rule", "TAP101"], 0),
        (["rule"], 0),
        (["register", "{0}/drafter", "--name", "x", "--provenance", "{0}/provenance.json"], 1),
        (["check", "x", "--engine", "sglang==0.5.23", "--draft-config", "{0}/drafter/config.json"], 0),
        (["target", "add", "x", "--config", "{0}/target/config.json", "--digests", "{0}/target/SHA256SUMS"], 3),
        (["target", "add", "x", "{0}/drafter"], 3),
        (["emit", "x", "--engine", "sglang==0.5.23", "--out", "{0}/out"], 3),
        (["verify", "{0}/emitted"], 1),
        (["preflight", "{0}/emitted", "--engine", "sglang==0.5.23"], 1),
        (["completion", "bash"], 0),
        (["provenance", "init", "{0}/drafter", "--yes", "--out", "{0}/new.json"], 2),
        (["down", "--data", "{0}/nothing"], 0),
    ],
    ids=str,
)
def test_no_client_path_imports_a_server(arguments, code, stub, founding):
    ended, modules = imported([argument.format(founding) for argument in arguments], stub=stub)
    assert ended == code
    assert SERVER & modules == set()
