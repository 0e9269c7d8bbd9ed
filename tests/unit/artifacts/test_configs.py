from pathlib import Path

import pytest

from registry.artifacts.configs import parse_config, read_config
from registry.domain.artifact_faults import ArtifactFault, FaultKind


def fault(found: object) -> ArtifactFault:
    assert isinstance(found, tuple)
    assert len(found) == 1
    assert isinstance(found[0], ArtifactFault)
    return found[0]


def test_an_object_is_read_as_it_is() -> None:
    assert parse_config(b'{"architectures": ["X"], "n": 61}') == {"architectures": ["X"], "n": 61}


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff", b"\xef\xbb\xbf{}", b"[" * 10_000])
def test_everything_else_is_malformed(data: bytes) -> None:
    assert fault(parse_config(data)).kind is FaultKind.CONFIG_MALFORMED


def test_repeated_keys_are_named() -> None:
    found = fault(parse_config(b'{"a": {"ids": [2], "ids": [3]}}', file="draft.json"))
    assert found.kind is FaultKind.DUPLICATE_KEY
    assert (found.file, found.where) == ("draft.json", "/a/ids")


def test_a_file_is_read_and_links_and_giants_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"a": 1}')
    (tmp_path / "link.json").symlink_to("config.json")
    with (tmp_path / "giant.json").open("wb") as stream:
        stream.truncate(1 << 40)
    assert read_config(tmp_path / "config.json") == {"a": 1}
    assert fault(read_config(tmp_path / "link.json")).kind is FaultKind.SYMLINK
    assert fault(read_config(tmp_path / "giant.json")).kind is FaultKind.CONFIG_MALFORMED
    assert fault(read_config(tmp_path)).kind is FaultKind.UNREADABLE
    with pytest.raises(FileNotFoundError):
        read_config(tmp_path / "none.json")
