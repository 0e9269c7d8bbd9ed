"""The architecture is a test: arrows as declared in pyproject.toml, and the pure middle kept pure."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PURE = ("domain", "engines", "rules")
IMPURE_CALLS = {"open", "input", "print", "exec", "eval"}
IMPURE_MODULES = {"socket", "subprocess", "urllib", "http", "asyncio", "threading", "datetime", "time", "random", "os"}


def test_arrows_point_inward():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def pure_modules():
    return sorted(path for part in PURE for path in (ROOT / "registry" / part).rglob("*.py"))


def test_the_pure_middle_does_no_io_and_asks_no_clock():
    found = []
    for path in pure_modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").split(".")[0]}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} calls {node.func.id}")
                continue
            else:
                continue
            found += [f"{path.relative_to(ROOT)}:{node.lineno} imports {name}" for name in names & IMPURE_MODULES]
    assert pure_modules()
    assert not found


def test_no_module_is_too_long():
    """Review starts above 450 lines; nothing has needed that yet."""
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for folder in ("registry", "cli/roost", "tools")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > 450} == {}


def test_no_file_has_a_name_that_says_nothing():
    vague = {"utils", "helpers", "manager", "base", "common", "misc"}
    named = [path for folder in ("registry", "cli", "tools") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in named if path.stem.strip("_") in vague] == []
