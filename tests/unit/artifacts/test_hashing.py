import hashlib
import os
import threading
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.artifacts import hashing
from registry.artifacts.faults import FaultError
from registry.artifacts.files import OpenFile, mapped_files
from registry.artifacts.hashing import HashJob, digest_file, digest_files, hash_files
from registry.domain.artifact_faults import FaultKind


def job(path: Path, *, spans: tuple[tuple[int, int], ...] = ()) -> HashJob:
    files = mapped_files({path.name: path})

    def opened() -> AbstractContextManager[OpenFile]:
        return files.open(path.name)

    return HashJob(open=opened, size=path.stat().st_size, spans=spans)


def written(path: Path, size: int, *, seed: int = 0) -> bytes:
    data = hashlib.shake_128(seed.to_bytes(4, "big")).digest(size)
    path.write_bytes(data)
    return data


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, (21 << 20) + 7])
def test_one_pass_gives_what_separate_hashes_give(tmp_path: Path, size: int, threads: int) -> None:
    data = written(tmp_path / "f", size)
    marks = sorted({0, size // 3, size // 2, size})
    spans = tuple(pairwise(marks))
    (found,) = hash_files([job(tmp_path / "f", spans=spans)], threads=threads)
    assert found.sha256 == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert list(found.spans) == [f"blake3:{blake3(data[begin:end]).hexdigest()}" for begin, end in spans]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 5000), max_size=30), st.integers(0, 3000), st.integers(1, 4096))
def test_spans_of_every_size_are_digested_over_chunks_of_every_size(sizes: list[int], begin: int, chunk: int) -> None:
    data = hashlib.shake_128(bytes([begin % 256])).digest(begin + sum(sizes))
    spans, place = [], begin
    for size in sizes:
        spans.append((place, place + size))
        place += size
    chunks = (memoryview(data)[at : at + chunk] for at in range(0, len(data), chunk))
    found = hashing._digest_spans(chunks, tuple(spans))
    assert list(found) == [f"blake3:{blake3(data[start:end]).hexdigest()}" for start, end in spans]


def test_many_files_keep_their_order_and_progress_is_complete(tmp_path: Path) -> None:
    sizes = [0, 9 << 20, 10, 3 << 20, 17]
    contents = [written(tmp_path / f"f{number}", size, seed=number) for number, size in enumerate(sizes)]
    calls: list[tuple[int, int]] = []
    found = hash_files(
        [job(tmp_path / f"f{number}") for number in range(len(sizes))],
        progress=lambda done, total: calls.append((done, total)),
        threads=4,
    )
    assert [one.sha256 for one in found] == [f"sha256:{hashlib.sha256(data).hexdigest()}" for data in contents]
    assert {total for _, total in calls} == {sum(sizes)}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1][0] == sum(sizes)


def test_a_file_that_got_shorter_is_truncated(tmp_path: Path) -> None:
    written(tmp_path / "f", 9 << 20)
    short = job(tmp_path / "f")
    os.truncate(tmp_path / "f", 1 << 20)
    with pytest.raises(FaultError) as caught:
        hash_files([short], threads=2)
    assert caught.value.fault.kind is FaultKind.TRUNCATED
    assert caught.value.fault.observed == f"have {1 << 20} of {9 << 20} bytes"


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failing_progress_stops_everything_and_is_what_the_caller_sees(tmp_path: Path, threads: int) -> None:
    for number in range(6):
        written(tmp_path / f"f{number}", 8 << 20, seed=number)

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        hash_files([job(tmp_path / f"f{number}") for number in range(6)], progress=interrupt, threads=threads)
    assert threading.active_count() == before


def test_the_first_real_error_is_told_not_its_echo(tmp_path: Path) -> None:
    for number in range(4):
        written(tmp_path / f"f{number}", 6 << 20, seed=number)
    jobs = [job(tmp_path / f"f{number}") for number in range(4)]
    (tmp_path / "f3").unlink()
    (tmp_path / "f3").symlink_to(tmp_path / "f0")
    with pytest.raises(FaultError) as caught:
        hash_files(jobs, threads=4)
    assert caught.value.fault.kind is FaultKind.SYMLINK


def test_digest_file_gives_sha256_and_size(tmp_path: Path) -> None:
    data = written(tmp_path / "f", 12345)
    assert digest_file(tmp_path / "f") == (f"sha256:{hashlib.sha256(data).hexdigest()}", 12345)


def test_digest_files_keeps_names(tmp_path: Path) -> None:
    data = written(tmp_path / "stored", 10)
    assert digest_files({"sub/config.json": tmp_path / "stored"}) == {
        "sub/config.json": (f"sha256:{hashlib.sha256(data).hexdigest()}", 10)
    }


def test_digest_file_follows_no_link_and_says_what_is_missing(tmp_path: Path) -> None:
    written(tmp_path / "f", 1)
    (tmp_path / "link").symlink_to("f")
    with pytest.raises(FaultError, match="symbolic link"):
        digest_file(tmp_path / "link")
    with pytest.raises(FileNotFoundError):
        digest_file(tmp_path / "none")
