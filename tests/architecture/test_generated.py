"""Generated files are up to date. `make generate` writes them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("tool", ["generate_rule_pages", "generate_openapi"])
def test_generated_files_are_current(tool):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / f"{tool}.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
