import os
import sys
import time
from pathlib import Path

import pytest

from registry.artifacts.engine_sources import interpreters
from registry.artifacts.engine_sources.interpreters import environment_of
from registry.domain.errors import Invalid, Refused


def virtual(root: Path, *, config: str = "home = /none\nversion = 3.11.7\n", version: str = "3.11") -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "pyvenv.cfg").write_text(config)
    (root / f"lib/python{version}/site-packages").mkdir(parents=True)
    (root / "bin/python").symlink_to(sys.executable)
    return root / "bin/python"


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def never_run(monkeypatch) -> None:
    monkeypatch.setattr(interpreters, "_asked", lambda *_: pytest.fail("the interpreter was run"))


@pytest.mark.usefixtures("never_run")
def test_a_virtual_environment_is_found_by_its_config(tmp_path: Path) -> None:
    found = environment_of(virtual(tmp_path / "venv"))
    assert found.name == "venv"
    assert found.folders == (tmp_path / "venv/lib/python3.11/site-packages",)


@pytest.mark.usefixtures("never_run")
@pytest.mark.parametrize("config", ["version_info = 3.12.4.final.0\n", "version_info=3.12.4\n", "home = /x\n", ""])
def test_configs_of_other_tools(tmp_path: Path, config) -> None:
    found = environment_of(virtual(tmp_path / "venv", config=config, version="3.12"))
    assert found.folders == (tmp_path / "venv/lib/python3.12/site-packages",)


@pytest.mark.usefixtures("never_run")
def test_system_packages_come_after_its_own(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "lib/python3.11/site-packages").mkdir(parents=True)
    config = f"home = {base}/bin\nversion = 3.11.7\ninclude-system-site-packages = true\n"
    found = environment_of(virtual(tmp_path / "venv", config=config))
    assert found.folders[0] == tmp_path / "venv/lib/python3.11/site-packages"
    assert base / "lib/python3.11/site-packages" in found.folders
    config = config.replace("true", "false")
    assert len(environment_of(virtual(tmp_path / "other", config=config)).folders) == 1


@pytest.mark.usefixtures("never_run")
def test_an_interpreter_beside_its_library(tmp_path: Path) -> None:
    python = script(tmp_path / "env/bin/python3.12", "exit 1")
    (tmp_path / "env/lib/python3.12/site-packages").mkdir(parents=True)
    (tmp_path / "env/lib/python3.9/site-packages").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to("python3.12")
    for name in (python, tmp_path / "env/bin/python"):
        assert tmp_path / "env/lib/python3.12/site-packages" in environment_of(name).folders
        assert tmp_path / "env/lib/python3.9/site-packages" not in environment_of(name).folders


def test_an_unknown_layout_is_asked_without_site(tmp_path: Path) -> None:
    python = script(tmp_path / "odd/python", f'exec {sys.executable} "$@"')
    folders = environment_of(python).folders
    assert any(folder.name == "site-packages" for folder in folders)


def test_the_question_is_asked_isolated(tmp_path: Path) -> None:
    python = script(
        tmp_path / "odd/python", f'echo "$1 $2 $3" > {tmp_path}/arguments; env > {tmp_path}/env; echo "[1]"'
    )
    os.environ["PYTHONSTARTUP_FOR_TEST"] = "x"
    try:
        with pytest.raises(Refused, match="does not answer"):
            environment_of(python)
    finally:
        del os.environ["PYTHONSTARTUP_FOR_TEST"]
    assert (tmp_path / "arguments").read_text() == "-I -S -c\n"
    assert "PYTHON" not in (tmp_path / "env").read_text()


@pytest.mark.parametrize(
    "body", ["exit 3", "echo no", 'echo \'["a", "b", "c", 4]\'', "echo '[[[['", "yes", "cat /dev/zero"]
)
def test_other_answers_are_refused(tmp_path: Path, body) -> None:
    with pytest.raises(Refused, match="does not answer where its packages are"):
        environment_of(script(tmp_path / "odd/python", body))


def test_an_interpreter_that_hangs_is_ended(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(interpreters, "_ANSWER_SECONDS", 0.3)
    started = time.monotonic()
    with pytest.raises(Refused):
        environment_of(script(tmp_path / "odd/python", "sleep 60 & sleep 60"))
    assert time.monotonic() - started < 5


def test_what_is_no_interpreter(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("hello")
    with pytest.raises(Refused, match="cannot be run"):
        environment_of(tmp_path / "python")
    with pytest.raises(Invalid, match="not that of a Python interpreter"):
        environment_of(script(tmp_path / "bin/remove", f"touch {tmp_path}/ran"))
    assert not (tmp_path / "ran").exists()
    with pytest.raises(Invalid, match="it is a directory"):
        environment_of(tmp_path)
    with pytest.raises(Invalid, match="not a file that exists"):
        environment_of(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Invalid, match="not a file that exists"):
        environment_of(tmp_path / "pipe")
    with pytest.raises(Invalid):
        environment_of(Path("nul\0"))


def test_a_pipe_as_config_never_blocks(tmp_path: Path) -> None:
    python = virtual(tmp_path / "venv")
    (tmp_path / "venv/pyvenv.cfg").unlink()
    os.mkfifo(tmp_path / "venv/pyvenv.cfg")
    assert environment_of(python).folders == (tmp_path / "venv/lib/python3.11/site-packages",)
