"""The wheel claims two top-level names, carries its data, and works without the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    # Without isolation: the build backend is a test dependency, so that no network is needed here.
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_it_claims_exactly_two_names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"registry", "roost"}


def test_it_carries_schemas_migrations_and_profiles(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for path in sorted((ROOT / "schemas").glob("*.json")):
        assert f"registry/data/schemas/{path.name}" in names
    for path in sorted((ROOT / "migrations" / "versions").glob("*.py")):
        assert f"registry/data/migrations/versions/{path.name}" in names
    for path in sorted((ROOT / "registry" / "engines" / "profiles").glob("*.json")):
        assert f"registry/engines/profiles/{path.name}" in names
    assert {"registry/py.typed", "roost/py.typed"} <= names
    assert not [name for name in names if name.startswith(("registry/tests", "tests/", "tools/"))]


def test_schemas_are_found_in_an_unpacked_wheel(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = "import registry.resources as r; print(r.schema_text('provenance')[:1], r.migrations_dir())"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout.strip() == f"{{ {tmp_path / 'registry/data/migrations'}", done.stderr


def test_the_command_answers_from_an_unpacked_wheel(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "roost", "rule", "TAP101"], cwd="/", capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "TAP101" in done.stdout
