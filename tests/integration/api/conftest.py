"""The service as its own process on real Postgres, with the founding case's target registered."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fakes.founding import Founding, founding, sha256
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
ROOT = Path(__file__).parents[3]


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


@contextlib.contextmanager
def running(service_url: str, data: Path, **more: str) -> Iterator[Service]:
    """Start a service, and stop it at the end of the block unless it is dead by then."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env=environment(service_url, data, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Founding:
    return founding(tmp_path_factory.mktemp("founding"))


@pytest.fixture(scope="session")
def service(
    make_database: Callable[[str, str], Any],
    migrated_template: str,
    tmp_path_factory: pytest.TempPathFactory,
    case: Founding,
) -> Iterator[Service]:
    """One service for all tests that only add to it; each takes a name of its own."""
    database = make_database("api", migrated_template)
    with running(database.service_url, tmp_path_factory.mktemp("data")) as started:
        assert started.client.post("/v1/targets", case.target).status == 201
        yield started


@pytest.fixture(scope="session")
def client(service: Service) -> Client:
    return service.client


@pytest.fixture(scope="session")
def _salts() -> Iterator[int]:
    return itertools.count(1000)


@pytest.fixture
def fresh(case: Founding, _salts: Iterator[int]) -> Founding:
    """The founding case with weights that no other test registers."""
    return case.with_weights(next(_salts))
