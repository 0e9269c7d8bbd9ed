"""What is generated from the rules: complete, and its drift is found."""

import importlib.util
import json
from pathlib import Path

import pytest

from registry.rules import catalogue

TOOL = Path(__file__).parents[2] / "tools" / "generate_rule_pages.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("generate_rule_pages", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_rule_has_a_page_a_line_in_the_index_and_a_record(tool):
    files = tool.generated()
    records = json.loads(files[tool.RECORDS])
    assert [entry["code"] for entry in records["rules"]] == [rule.code for rule in catalogue().rules]
    for rule in catalogue().rules:
        assert files[tool.PAGES / f"{rule.code}.md"].startswith(f"# {rule.code} {rule.name}\n")
        assert f"| [{rule.code}]({rule.code}.md) | {rule.name} |" in files[tool.PAGES / "README.md"]


def test_what_was_written_is_up_to_date(tool, tmp_path):
    tool.write(tmp_path, tool.generated())
    assert tool.outdated(tmp_path, tool.generated()) == []


def test_a_changed_a_missing_and_a_stray_page_are_found_and_mended(tool, tmp_path):
    tool.write(tmp_path, tool.generated())
    pages = tmp_path / tool.PAGES
    (pages / "TAP101.md").write_text("another text")
    (pages / "TAP102.md").unlink()
    (pages / "TAP000.md").write_text("a rule that is gone")
    stale = [tool.PAGES / name for name in ("TAP000.md", "TAP101.md", "TAP102.md")]
    assert tool.outdated(tmp_path, tool.generated()) == stale
    tool.write(tmp_path, tool.generated())
    assert tool.outdated(tmp_path, tool.generated()) == []
