"""The README's steps, typed as they stand there, say what it says they do."""

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def steps() -> Iterator[tuple[list[str], list[str]]]:
    """Yield each command of the section `By hand`, as words, with the lines that it is to print."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## By hand")[2]
    block = section.partition("```console\n")[2].partition("```")[0].replace("\\\n", " ")
    for step in block.split("$ ")[1:]:
        if step.strip():
            command, *lines = step.splitlines()
            yield shlex.split(command, comments=True), lines


def spoken(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    return tmp_path


def test_the_steps_by_hand_work_as_they_stand_there(bare_roost, environment, clone):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    env = {"XDG_DATA_HOME": str(clone / "data"), "ROOST_URL": f"http://127.0.0.1:{port}", "COLUMNS": "100"}
    done = []
    try:
        for words, lines in steps():
            if words[0] == "python":
                subprocess.run([sys.executable, *words[1:]], cwd=clone, env=environment, check=True)
            elif words[0] == "roost":
                extra = ["--port", str(port)] if words[1] == "up" else []
                ended = bare_roost(*words[1:], *extra, cwd=clone, env=env)
                done.append((words[1], ended.returncode))
                for line in lines:
                    assert spoken(line) in spoken(ended.stdout), ended.stdout + ended.stderr
    finally:
        bare_roost("down", env=env)
    assert dict(done) == {"up": 0, "target": 0, "register": 0, "check": 1, "emit": 0, "preflight": 0, "down": 0}


def test_the_verdict_that_it_shows_is_the_real_one(roost, target, clone):
    (clone / "case").symlink_to(target.case.drafter.parent)
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What it says")[2]
    command, *shown = text.partition("```console\n$ roost ")[2].partition("```")[0].splitlines()
    roost("register", "case/drafter", "--name", command.split()[1], "--provenance", "case/provenance.json", cwd=clone)
    done = roost(*shlex.split(command), cwd=clone, env={"COLUMNS": "100"})
    assert done.returncode == 1
    assert [line for line in shown if line not in done.stdout.splitlines()] == []
