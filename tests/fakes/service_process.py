"""The service as a process of its own, the way an operator starts it."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fakes.founding import Founding, sha256
from fakes.http_service import Answer, Client

SERVE = """
import sys
from registry.api.serve import serve
from registry.api.settings import Settings
from registry.domain.errors import RegistryError

try:
    serve(Settings.from_environment(), ready=lambda url: print(url, flush=True))
except RegistryError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
"""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One running service."""

    client: Client
    process: "subprocess.Popen[str]"
    data: Path

    def upload(self, *contents: bytes) -> None:
        for data in contents:
            answer = self.client.call("PUT", f"/v1/blobs/{sha256(data)}", data)
            assert answer.status in (200, 201), answer.body

    def register(self, case: Founding, name: str, **changes: Any) -> Answer:
        """Upload the case's files and register it."""
        self.upload(*case.blobs)
        return self.client.post("/v1/checkpoints", case.body(name, **changes))


def environment(service_url: str, data: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROOST_")}
    ours = {"ROOST_DATABASE_URL": service_url, "ROOST_DATA": str(data), "ROOST_PORT": "0", "PYTHONPATH": str(ROOT)}
    return {**kept, **ours, **more}


def start(service_url: str, data: Path, **more: str) -> "subprocess.Popen[str]":
    """Start a service; it prints its URL once it listens."""
    return subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env=environment(service_url, data, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def running(service_url: str, data: Path, **more: str) -> Iterator[Service]:
    """Start a service, and stop it at the end of the block unless it is dead by then."""
    process = start(service_url, data, **more)
    try:
        assert process.stdout is not None
        url = urlsplit(process.stdout.readline().strip())
        if url.port is None:
            pytest.fail(f"the service did not start: {process.communicate(timeout=30)[1]}")
        yield Service(client=Client(host=url.hostname or "", port=url.port), process=process, data=data)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
