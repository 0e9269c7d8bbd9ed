"""The data folder's lock and record: they name one process, and never a stranger."""

import json
import os
from pathlib import Path

import pytest

from roost import data_folder
from roost.failures import Failure


def test_the_default_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder.default_folder() == tmp_path / "xdg" / "roost"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert data_folder.default_folder() == tmp_path / ".local" / "share" / "roost"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_folder.default_folder() == tmp_path / ".local" / "share" / "roost"


def test_a_folder_is_made_and_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    assert data_folder.prepared(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure, match="file"):
        data_folder.prepared(tmp_path / "file")


def test_one_process_at_a_time_holds_a_folder(tmp_path: Path) -> None:
    assert not data_folder.is_held(tmp_path)
    with data_folder.held(tmp_path) as mine:
        assert mine
        assert data_folder.is_held(tmp_path)
        with data_folder.held(tmp_path, patience=0.02) as again:
            assert not again
    assert not data_folder.is_held(tmp_path)


def test_the_record_counts_only_while_the_folder_is_held(tmp_path: Path) -> None:
    data_folder.write_record(tmp_path, url="http://x:1", port=1)
    assert data_folder.running(tmp_path) is None
    with data_folder.held(tmp_path):
        found = data_folder.running(tmp_path)
        assert found is not None
        assert (found.pid, found.url, found.port) == (os.getpid(), "http://x:1", 1)


@pytest.mark.parametrize("change", [{"started": "1"}, {"pid": 2**22 + 1}, {"started": ""}, {"more": 1}])
def test_a_record_of_another_process_is_no_record(tmp_path: Path, change: dict[str, object]) -> None:
    data_folder.write_record(tmp_path, url="http://x:1", port=1)
    path = tmp_path / "roost.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with data_folder.held(tmp_path):
        assert data_folder.running(tmp_path) is None


def test_a_damaged_record_is_no_record(tmp_path: Path) -> None:
    with data_folder.held(tmp_path):
        for text in ("", "{", "[]", "null"):
            (tmp_path / "roost.json").write_text(text)
            assert data_folder.running(tmp_path) is None


def test_a_process_is_known_by_when_it_started() -> None:
    assert data_folder.start_of(os.getpid()) == data_folder.start_of(os.getpid()) != ""
    assert data_folder.start_of(2**22 + 1) is None
