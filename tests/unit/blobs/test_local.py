import asyncio
import hashlib
import os
import stat
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.blobs import incoming, local
from registry.blobs.local import LocalBlobs
from registry.domain.errors import IntegrityMismatch, Invalid, NotFound, Refused, Unavailable

DATA = b"drafter" * 1000


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.fixture
def blobs(tmp_path: Path) -> LocalBlobs:
    store = LocalBlobs(tmp_path / "blobs")
    store.prepare()
    return store


def files_of(blobs: LocalBlobs) -> list[Path]:
    return [path for path in blobs.root.rglob("*") if path.is_file()]


async def read(blobs: LocalBlobs, digest: str, chunk: int) -> list[bytes]:
    return [piece async for piece in blobs.stream(digest, chunk)]


def test_bytes_come_back_under_their_digest(blobs: LocalBlobs) -> None:
    digest = digest_of(DATA)
    assert blobs.exists(digest) is None
    assert asyncio.run(blobs.write(digest, pieces(DATA[:10], b"", DATA[10:]), len(DATA))) == len(DATA)
    assert blobs.exists(digest) == len(DATA)
    assert blobs.path(digest) == blobs.root / "sha256" / digest[7:9] / digest[9:11] / digest[7:]
    assert asyncio.run(read(blobs, digest, 4000)) == [DATA[:4000], DATA[4000:]]
    assert files_of(blobs) == [blobs.path(digest)]


def test_a_blob_is_read_only(blobs: LocalBlobs) -> None:
    path = blobs.path(blobs.write_bytes(DATA))
    assert stat.S_IMODE(path.stat().st_mode) & 0o222 == 0


def test_nothing_is_a_blob_too(blobs: LocalBlobs) -> None:
    assert asyncio.run(blobs.write(digest_of(b""), pieces(), 0)) == 0
    assert blobs.exists(digest_of(b"")) == 0


@given(parts=st.lists(st.binary(max_size=40), max_size=8), step=st.integers(min_value=1, max_value=64))
def test_how_the_bytes_are_cut_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], step: int
) -> None:
    blobs = LocalBlobs(tmp_path_factory.mktemp("blobs"))
    blobs.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "CHUNK", step)
        whole = b"".join(parts)
        asyncio.run(blobs.write(digest_of(whole), pieces(*parts)))
    assert blobs.path(digest_of(whole)).read_bytes() == whole


@pytest.mark.parametrize(
    ("sent", "size", "limit", "error"),
    [
        pytest.param(DATA[:-1], None, None, IntegrityMismatch, id="truncated"),
        pytest.param(DATA[:-1] + b"!", None, None, IntegrityMismatch, id="one byte changed"),
        pytest.param(DATA[:-1], len(DATA), None, IntegrityMismatch, id="shorter than announced"),
        pytest.param(DATA + b"!", len(DATA), None, IntegrityMismatch, id="longer than announced"),
        pytest.param(DATA, len(DATA) + 1, None, IntegrityMismatch, id="right bytes, wrong size announced"),
        pytest.param(DATA, None, len(DATA) - 1, Refused, id="over the limit"),
        pytest.param(b"", len(DATA), len(DATA) - 1, Refused, id="announced over the limit"),
    ],
)
def test_other_bytes_than_announced_are_refused_and_nothing_is_left(
    blobs: LocalBlobs, sent: bytes, size: int | None, limit: int | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        asyncio.run(blobs.write(digest_of(DATA), pieces(sent), size, limit=limit))
    assert files_of(blobs) == []


def test_the_refusal_names_both_digests(blobs: LocalBlobs) -> None:
    with pytest.raises(IntegrityMismatch) as caught:
        asyncio.run(blobs.write(digest_of(DATA), pieces(b"other")))
    assert digest_of(DATA) in caught.value.detail
    assert digest_of(b"other") in caught.value.detail


def test_exactly_the_limit_is_taken(blobs: LocalBlobs) -> None:
    assert asyncio.run(blobs.write(digest_of(DATA), pieces(DATA), limit=len(DATA))) == len(DATA)


def test_a_wrong_write_leaves_the_right_bytes_alone(blobs: LocalBlobs) -> None:
    digest = blobs.write_bytes(DATA)
    with pytest.raises(IntegrityMismatch):
        asyncio.run(blobs.write(digest, pieces(b"other")))
    assert blobs.path(digest).read_bytes() == DATA


def test_writing_again_heals_a_damaged_file(blobs: LocalBlobs) -> None:
    path = blobs.path(blobs.write_bytes(DATA))
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    blobs.write_bytes(DATA)
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "sha256:",
        "sha256:" + "a" * 63,
        "sha256:" + "a" * 65,
        "sha256:" + "A" * 64,
        "sha256:" + "a" * 64 + "\n",
        "blake3:" + "a" * 64,
        "a" * 64,
        "sha256:../../../../etc/passwd",
        "sha256:" + "../" * 21 + "a",
        "sha256:" + "\N{ARABIC-INDIC DIGIT ONE}" * 64,
        "sha256:" + "a" * 62 + "\0a",
    ],
)
def test_a_malformed_digest_touches_no_file(tmp_path: Path, digest: str) -> None:
    blobs = LocalBlobs(tmp_path / "never made")
    for use in (
        lambda: blobs.exists(digest),
        lambda: blobs.path(digest),
        lambda: asyncio.run(read(blobs, digest, 1)),
        lambda: asyncio.run(blobs.write(digest, pieces(DATA))),
    ):
        with pytest.raises(Invalid):
            use()
    assert not blobs.root.exists()


def test_what_is_not_there_is_not_found(blobs: LocalBlobs) -> None:
    with pytest.raises(NotFound, match=digest_of(DATA)):
        blobs.path(digest_of(DATA))
    with pytest.raises(NotFound):
        asyncio.run(read(blobs, digest_of(DATA), 1))


def test_a_client_that_disconnects_leaves_nothing(blobs: LocalBlobs) -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield DATA
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        asyncio.run(blobs.write(digest_of(DATA), breaks()))
    assert files_of(blobs) == []


def test_cancelling_while_waiting_for_bytes_leaves_nothing(blobs: LocalBlobs) -> None:
    async def scenario() -> None:
        waiting = asyncio.Event()

        async def hangs() -> AsyncIterator[bytes]:
            yield DATA
            waiting.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(blobs.write(digest_of(DATA), hangs()))
        await waiting.wait()
        assert len(files_of(blobs)) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert files_of(blobs) == []


@pytest.mark.parametrize("step", ["feed", "publish"])
def test_cancelling_during_a_step_leaves_no_half(blobs: LocalBlobs, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A thread cannot be stopped: the step that runs ends, and afterwards there is the whole blob or nothing."""
    entered, go_on = threading.Event(), threading.Event()
    system = {"feed": "write", "publish": "fsync"}[step]
    real = getattr(os, system)

    def slow(*args: object) -> object:
        entered.set()
        assert go_on.wait(10)
        return real(*args)

    async def scenario() -> None:
        task = asyncio.create_task(blobs.write(digest_of(DATA), pieces(DATA)))
        await asyncio.to_thread(entered.wait, 10)
        task.cancel()
        threading.Timer(0.1, go_on.set).start()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setattr(os, system, slow)
    asyncio.run(scenario())
    # asyncio.run has waited for its threads.
    assert blobs.exists(digest_of(DATA)) == (None if step == "feed" else len(DATA))
    assert len(files_of(blobs)) == (0 if step == "feed" else 1)


def test_parallel_writers_of_one_digest_both_succeed(blobs: LocalBlobs) -> None:
    async def scenario() -> list[int]:
        both_began = asyncio.Barrier(2)

        async def meets() -> AsyncIterator[bytes]:
            yield DATA[:5]
            await both_began.wait()
            yield DATA[5:]

        return await asyncio.gather(*(blobs.write(digest_of(DATA), meets()) for _ in range(2)))

    assert asyncio.run(scenario()) == [len(DATA)] * 2
    assert files_of(blobs) == [blobs.path(digest_of(DATA))]
    assert blobs.path(digest_of(DATA)).read_bytes() == DATA


def test_one_of_two_writers_of_a_digest_may_fail(blobs: LocalBlobs) -> None:
    async def scenario() -> list[int | BaseException]:
        writes = (blobs.write(digest_of(DATA), pieces(data)) for data in (DATA, b"other"))
        return await asyncio.gather(*writes, return_exceptions=True)

    good, bad = asyncio.run(scenario())
    assert good == len(DATA)
    assert isinstance(bad, IntegrityMismatch)
    assert blobs.path(digest_of(DATA)).read_bytes() == DATA


def test_the_event_loop_runs_on_while_the_disk_is_slow(blobs: LocalBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    ran_meanwhile = threading.Event()

    def waits(descriptor: int) -> None:
        assert ran_meanwhile.wait(10), "the event loop stood still"
        real(descriptor)

    async def scenario() -> None:
        task = asyncio.create_task(blobs.write(digest_of(DATA), pieces(DATA)))
        await asyncio.sleep(0.05)
        ran_meanwhile.set()
        await task

    monkeypatch.setattr(os, "fsync", waits)
    asyncio.run(scenario())


def test_bytes_and_name_are_synced_in_that_order(blobs: LocalBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real_sync, real_rename = os.fsync, Path.rename

    def sync(descriptor: int) -> None:
        seen.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    def rename(path: Path, target: Path) -> Path:
        seen.append("rename")
        return real_rename(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "rename", rename)
    blobs.write_bytes(DATA)
    # Two new folders, each entry synced in its parent, between the bytes and their name.
    assert seen == ["file", "folder", "folder", "rename", "folder"]


def test_a_full_disk_is_said_and_leaves_nothing(blobs: LocalBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(Unavailable, match="No space left") as caught:
        asyncio.run(blobs.write(digest_of(DATA), pieces(DATA)))
    assert str(blobs.root) in caught.value.detail
    assert "Free space" in caught.value.hint
    assert files_of(blobs) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="file/blobs cannot be used"):
        LocalBlobs(tmp_path / "file" / "blobs").prepare()


def test_prepare_removes_only_old_files_that_nobody_writes(blobs: LocalBlobs) -> None:
    old = time.time() - 3600
    abandoned, fresh = blobs.root / "incoming" / "abandoned", blobs.root / "incoming" / "fresh"
    for path in (abandoned, fresh):
        path.write_bytes(DATA)
    os.utime(abandoned, (old, old))
    written = incoming.Incoming.open(blobs.root / "incoming")
    written.feed(DATA)
    os.utime(written._path, (old, old))

    assert blobs.prepare() == 1
    assert not abandoned.exists()
    assert fresh.exists()
    assert written._path.exists()
    written.discard()
