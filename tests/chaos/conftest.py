"""A registry started by the command on a folder of its own, which tests may kill in any way they like."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fakes.founding import Founding, founding, sha256
from fakes.http_service import Client

from registry.documents import checkpoint as checkpoint_documents

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """One data folder, the port it is served on, and the environment of the command."""

    data: Path
    port: int
    environment: dict[str, str]

    @property
    def client(self) -> Client:
        return Client(host="127.0.0.1", port=self.port)

    def command(self, *arguments: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "roost", *map(str, arguments)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def roost(self, *arguments: object, check: bool = True) -> "subprocess.CompletedProcess[str]":
        process = self.command(*arguments)
        said, wrong = process.communicate(timeout=180)
        assert "Traceback" not in said + wrong
        assert not check or process.returncode == 0, f"{arguments}\n{said}\n{wrong}"
        return subprocess.CompletedProcess(arguments, process.returncode, said, wrong)

    def up(self) -> None:
        self.roost("up", "--data", self.data, "--port", self.port, "--detach")

    def down(self, *, check: bool = True) -> None:
        self.roost("down", "--data", self.data, check=check)

    def kill_service(self) -> None:
        """Kill what `up` left running, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(json.loads((self.data / "roost.json").read_text())["pid"], signal.SIGKILL)

    def kill_postgres(self) -> None:
        """Kill the postmaster; its children see that and end."""
        (record,) = self.data.rglob("postmaster.pid")
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(record.read_text().split()[0]), signal.SIGKILL)

    def versions(self, name: str) -> list[int]:
        """Return every visible version, after reading all that belongs to each."""
        found = []
        items = self.client.get(f"/v1/checkpoints?name={name}&limit=1000").json["items"]
        for item in items:
            whole = checkpoint_documents.parse(self.client.get(f"/v1/checkpoints/{item['ref']}").body)
            for file in whole.files:
                assert sha256(self.client.get(f"/v1/blobs/{file.sha256}").body) == file.sha256
            found.append(item["version"])
        events = self.client.get(f"/v1/events/{name}?limit=1000").json.get("items", [])
        assert len(events) == len(found)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The founding case on disk, with as many different weights as a test asks for."""

    founding: Founding
    folder: Path

    def drafter(self, salt: int) -> Path:
        """Return a drafter directory whose weights are those of `salt` and of no other number."""
        directory = self.folder / f"drafter-{salt}"
        directory.mkdir(exist_ok=True)
        for name, data in self.founding.with_weights(salt).files.items():
            (directory / name).write_bytes(data)
        return directory

    def arguments(self, salt: int, name: str) -> list[Any]:
        """Return the command line that registers it."""
        provenance = self.folder / "case" / "provenance.json"
        return ["register", self.drafter(salt), "--name", name, "--provenance", provenance]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("founding")
    return Case(founding=founding(folder / "case"), folder=folder)


@pytest.fixture
def registry(tmp_path: Path, case: Case) -> Iterator[Registry]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROOST_")}
    port = free_port()
    ours = {"ROOST_URL": f"http://127.0.0.1:{port}", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}
    made = Registry(data=tmp_path / "data", port=port, environment={**kept, **ours})
    made.up()
    assert made.client.post("/v1/targets", case.founding.target).status == 201
    yield made
    made.down(check=False)
