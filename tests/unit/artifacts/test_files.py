import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from registry.artifacts.faults import FaultError
from registry.artifacts.files import directory_files, mapped_files, read_exactly
from registry.domain.artifact_faults import FaultKind


def test_files_in_subdirectories_are_opened_but_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/x").write_bytes(b"inside")
    (tmp_path / "way").symlink_to("sub")
    with directory_files(tmp_path) as files:
        assert files.names == ("sub/", "way")
        assert files.read("sub/x", cap=10, kind=FaultKind.CONFIG_MALFORMED) == b"inside"
        for name in ("way", "way/x"):
            with pytest.raises(FaultError) as caught, files.open(name):
                pass
            assert caught.value.fault.kind is FaultKind.SYMLINK
            assert "hub cache" in caught.value.fault.expected
        with pytest.raises(FileNotFoundError), files.open("sub/none"):
            pass


def test_a_listed_file_that_vanishes_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    with directory_files(tmp_path) as files:
        (tmp_path / "x").unlink()
        with pytest.raises(FaultError, match="vanished"), files.open("x"):
            pass


def test_a_file_replaced_between_two_reads_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    with directory_files(tmp_path) as files:
        assert files.head("x") == (b"old", 3)
        (tmp_path / "y").write_bytes(b"new")
        (tmp_path / "y").rename(tmp_path / "x")
        with pytest.raises(FaultError, match="changed while it was read"):
            files.head("x")


def test_a_file_that_grows_while_it_is_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    files = mapped_files({"x": tmp_path / "x"})
    with ExitStack() as stack:
        file = stack.enter_context(files.open("x"))
        (tmp_path / "x").write_bytes(b"longer")
        assert read_exactly(file.stream, 100) == b"longer"
        with pytest.raises(FaultError, match="changed"):
            stack.close()


def test_special_files_do_not_hang_and_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with directory_files(tmp_path) as files:
        with pytest.raises(FaultError) as caught, files.open("pipe"):
            pass
        assert caught.value.fault.kind is FaultKind.UNREADABLE
        assert caught.value.fault.observed == "a named pipe"


def test_a_file_beyond_its_cap_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as stream:
        stream.truncate(1 << 40)
    files = mapped_files({"x": tmp_path / "x"})
    with pytest.raises(FaultError) as caught:
        files.read("x", cap=100, kind=FaultKind.INDEX_MALFORMED)
    assert caught.value.fault.kind is FaultKind.INDEX_MALFORMED


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_bytes(b"x")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # names only, of a pseudo directory
    with directory_files(tmp_path) as files:
        for name in ("a/b/c", "a/none", "a/b", "a/b/c/d"):
            try:
                files.head(name)
            except (FaultError, FileNotFoundError):
                continue
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
