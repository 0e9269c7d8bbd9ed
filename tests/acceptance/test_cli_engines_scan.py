"""Scanning an engine's sources with the real command: from a tree of text to a profile that a registry judges with."""

import json

import pytest
from fakes import small_engine

from registry.documents import engine_profile


@pytest.fixture
def tree(tmp_path):
    """A made-up engine on disk, as a checkout holds it."""
    for name, text in small_engine.engine().items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


def test_a_tree_becomes_a_profile(bare_roost, tree, tmp_path):
    out = tmp_path / "profile.json"
    done = bare_roost("engines", "scan", tree, "--as", "9.9.9+mine", "--out", out, "--format", "json", check=True)
    assert json.loads(done.stdout) == json.loads(out.read_text())
    profile = engine_profile.parse(json.loads(out.read_text()))
    assert profile.build == "sglang==9.9.9+mine"
    assert profile.upstream == "9.9.9"
    assert profile.targets["OakForCausalLM"].dialect == "plus_one"


def test_people_see_what_was_found_and_what_was_not(bare_roost, tree):
    done = bare_roost("engines", "scan", tree, "--as", "9.9.9", check=True)
    assert "sglang==9.9.9" in done.stdout
    assert "unresolved" in done.stdout
    assert str(tree) not in done.stdout


def test_a_tree_without_a_version_asks_for_one(bare_roost, tree):
    done = bare_roost("engines", "scan", tree)
    assert done.returncode == 3
    assert "--as" in done.stderr


def test_scanned_twice_is_the_same(bare_roost, tree):
    first, second = (bare_roost("engines", "scan", tree, "--as", "1.0", "--format", "json").stdout for _ in range(2))
    assert first == second


@pytest.mark.parametrize("source", ["nothing-here.whl", "empty"])
def test_what_holds_no_engine_is_refused(bare_roost, tmp_path, source):
    (tmp_path / "empty").mkdir()
    done = bare_roost("engines", "scan", tmp_path / source)
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")


def test_one_source_is_named(bare_roost, tree):
    assert bare_roost("engines", "scan").returncode == 2
    assert bare_roost("engines", "scan", tree, "--python", "/usr/bin/python3").returncode == 2


def test_a_registry_judges_with_what_was_scanned(own_roost, tree, tmp_path):
    out = tmp_path / "profile.json"
    own_roost("engines", "scan", tree, "--as", "9.9.1", "--out", out, check=True)
    own_roost("engines", "add", out, "--reason", "scanned from our tree", check=True)
    listed = own_roost("engines", "show", "sglang==9.9.1", "--format", "json", check=True)
    assert json.loads(listed.stdout)["version"] == "9.9.1"
