"""Writing an emission: verified, repeatable, and never over something else."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from roost import emitted
from roost.client import Client, Progress
from roost.failures import Failure, Refused
from roost.screen import Screen

FILES = {"config.json": b"{}", "sub/model.safetensors": b"weights", emitted.LOCK: b'{"lock": 1}'}


class Served(Client):
    """A registry that serves FILES; the class keeps what was asked for."""

    fetched: list[str] = []  # noqa: RUF012 - emptied by the fixture
    spoiled: str = ""

    def download(self, path: str, destination: Path, *, progress: Progress | None = None) -> str:
        name = path.split("/files/")[1]
        data = b"other" if name == self.spoiled else FILES[name]
        destination.write_bytes(data)
        self.fetched.append(name)
        return f"sha256:{hashlib.sha256(data).hexdigest()}"


def emission(files: dict[str, bytes] = FILES) -> dict[str, Any]:
    entries = [
        {"name": name, "size": len(data), "sha256": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        for name, data in files.items()
    ]
    return {"id": "sha256:0", "files": entries}


@pytest.fixture
def client() -> Served:
    Served.fetched, Served.spoiled = [], ""
    return Served()


def write(client: Client, directory: Path, document: dict[str, Any] | None = None) -> int:
    return emitted.write(client, document or emission(), directory, screen=Screen(format="quiet"))


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_all_files_are_there_and_the_lock_came_last(client: Served, tmp_path: Path) -> None:
    assert write(client, tmp_path / "a" / "out") == 3
    assert contents(tmp_path / "a" / "out") == FILES
    assert client.fetched[-1] == emitted.LOCK


def test_again_nothing_is_fetched(client: Served, tmp_path: Path) -> None:
    write(client, tmp_path)
    client.fetched.clear()
    assert write(client, tmp_path) == 0
    assert client.fetched == []


def test_what_an_interrupted_attempt_left_is_swept_and_finished(client: Served, tmp_path: Path) -> None:
    (tmp_path / ".roost-partial").mkdir()
    (tmp_path / ".roost-partial" / "sha256-x").write_bytes(b"half")
    (tmp_path / "config.json").write_bytes(FILES["config.json"])
    assert write(client, tmp_path) == 2
    assert contents(tmp_path) == FILES
    assert not (tmp_path / ".roost-partial").exists()


@pytest.mark.parametrize(("name", "data"), [("notes.txt", b"mine"), ("config.json", b"mine"), (emitted.LOCK, b"old")])
def test_something_else_is_refused_and_left_alone(client: Served, tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Refused) as caught:
        write(client, tmp_path)
    assert name in caught.value.details[0]
    assert contents(tmp_path) == {name: data}
    assert client.fetched == []


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        (b'{"checkpoint": "k@1", "engine": "sglang==0.5.11"}', "holds another emission: k@1 for sglang==0.5.11"),
        (b'{"checkpoint": "k@1", "engine": "\\u001b[31m"}', "holds something else"),
        (b"[]", "holds something else"),
        (b"{", "holds something else"),
    ],
)
def test_an_older_emission_is_named_by_its_lock(client: Served, tmp_path: Path, lock: bytes, words: str) -> None:
    (tmp_path / emitted.LOCK).write_bytes(lock)
    with pytest.raises(Refused) as caught:
        write(client, tmp_path)
    assert caught.value.message.endswith(words)


def test_a_link_in_the_directory_is_something_else(client: Served, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "sub").symlink_to(elsewhere)
    with pytest.raises(Refused):
        write(client, out)
    assert list(elsewhere.iterdir()) == []


def test_bytes_that_are_not_what_was_announced_never_get_their_name(client: Served, tmp_path: Path) -> None:
    Served.spoiled = "sub/model.safetensors"
    with pytest.raises(Failure, match=r"sub/model\.safetensors arrived with the digest"):
        write(client, tmp_path)
    assert contents(tmp_path) == {"config.json": b"{}"}


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", "a\\..\\x", ".roost-partial/x", "x\0"])
def test_a_name_that_leads_out_is_refused_before_anything_is_written(client: Served, tmp_path: Path, name: str) -> None:
    with pytest.raises(Failure, match="not inside the directory"):
        write(client, tmp_path / "out", emission({name: b""}))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_only_a_directory_is_written_into(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "out"
    if kind == "file":
        place.write_text("")
    else:
        place.symlink_to(tmp_path)
    with pytest.raises(Refused, match="is not a directory"):
        emitted.require_usable(place)
    emitted.require_usable(tmp_path / "absent")
