"""The real command against the real service: every test here starts processes and talks HTTP."""

import http.client
import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]

Roost = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A registry that `roost up` started."""

    url: str
    data: Path

    def request(
        self, method: str, path: str, body: bytes | None = None, *, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request and return status, headers by lower-case name, and body."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            sent = {"Content-Type": "application/json"} if headers is None else dict(headers)
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Founding:
    """The founding case on disk, and how its target is called."""

    case: Any
    target_name: str
    target_revision: str
    write: Callable[..., Any]
    """Writes another one: `write(directory, hidden=..., ids=..., key=...)`."""


def free_port() -> int:
    """Return a port on which nothing listens now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user who has set nothing: a home of its own, no address, no colors."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    # Absolute: what runs detached stands in another folder.
    return {**kept, "HOME": str(home), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}", "ROOST_ACTOR": "tester"}


@pytest.fixture(scope="session")
def bare_roost(environment: dict[str, str]) -> Roost:
    """Run the command without a registry: `bare_roost("rule", "TAP101", env={...}, check=True)`."""

    def run(
        *arguments: object,
        env: Mapping[str, str] | None = None,
        check: bool = False,
        cwd: Path | None = None,
        timeout: float = 120,
        stdin: str | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-P", "-m", "roost", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**environment, **(env or {})}, cwd=cwd, timeout=timeout,
            check=False, input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
        )  # fmt: skip
        if check:
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def registry_service(bare_roost: Roost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One registry for the session, started and stopped by the command."""
    data = tmp_path_factory.mktemp("registry") / "data"
    done = bare_roost("up", "--data", data, "--port", free_port(), "--detach", "--format", "json", check=True)
    yield Service(url=json.loads(done.stdout)["url"], data=data)
    bare_roost("down", "--data", data, check=True)


def _against(bare_roost: Roost, url: str) -> Roost:
    """Return the command as it talks to the registry at `url`."""

    def run(*arguments: object, env: Mapping[str, str] | None = None, **options: Any) -> Any:
        return bare_roost(*arguments, env={"ROOST_URL": url, **(env or {})}, **options)

    return run


@pytest.fixture(scope="session")
def roost(bare_roost: Roost, registry_service: Service) -> Roost:
    """Run the command against the session's registry: `roost("show", "NAME", check=True)`."""

    return _against(bare_roost, registry_service.url)


@pytest.fixture(scope="session")
def founding_module() -> ModuleType:
    """`tools/founding_case.py`."""
    spec = importlib.util.spec_from_file_location("founding_case", ROOT / "tools" / "founding_case.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def founding(founding_module: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Founding:
    """The founding case, written once."""
    return Founding(
        case=founding_module.write_founding_case(tmp_path_factory.mktemp("founding")),
        target_name=founding_module.TARGET_NAME,
        target_revision=founding_module.TARGET_REVISION,
        write=founding_module.write_founding_case,
    )


@pytest.fixture(scope="session")
def target(roost: Roost, founding: Founding) -> Founding:
    """The founding case with its target registered."""
    identity = ["--revision", founding.target_revision, "--digests", founding.case.digests]
    more = ["--tokenizer", founding.case.tokenizer]
    roost("target", "add", founding.target_name, "--config", founding.case.target_config, *identity, *more, check=True)
    return founding


@pytest.fixture(scope="module")
def own_roost(bare_roost: Roost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roost]:
    """Run the command against a registry whose engine profiles only this module's tests change."""
    data = tmp_path_factory.mktemp("own") / "data"
    started = bare_roost("up", "--data", data, "--port", 0, "--detach", "--format", "json", check=True)
    yield _against(bare_roost, json.loads(started.stdout)["url"])
    bare_roost("down", "--data", data, check=True)
