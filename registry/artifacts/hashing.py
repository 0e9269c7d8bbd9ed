"""SHA-256 of a file and BLAKE3 of each of its tensors in one pass over its bytes.

SHA-256 is the public digest (transfer, interoperation), BLAKE3 the tensors' (identity). SHA-256 is the slower one, so
in a file that decides how long everything takes it runs in a thread of its own, beside reading and BLAKE3. All three
release the GIL. Several files are read in parallel. Memory is bounded by the ring: 8 MiB per file in work.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from queue import SimpleQueue
from typing import Self

from blake3 import blake3

from registry.artifacts.files import OpenFile, mapped_files
from registry.domain.digests import Digest

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in total), from any thread but never from two at once; done never decreases."""

Span = tuple[int, int]
"""Byte offsets in a file, begin and exclusive end."""

_CHUNK = 1 << 20  # measured: 256 KiB to 4 MiB differ by less than the noise
_RING = 8
_ALONE = 4 << 20  # below this a second thread costs more than it saves


class _StoppedError(Exception):
    """Another file failed; this one need not be finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashJob:
    """One file to digest. `spans` are the tensors' bytes, sorted by offset and not overlapping."""

    open: Callable[[], AbstractContextManager[OpenFile]]
    size: int
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHashes:
    """What one pass gives: the file's SHA-256 and, in the order of the job's spans, each tensor's BLAKE3."""

    sha256: Digest
    spans: tuple[Digest, ...] = ()


def hash_files(
    jobs: Sequence[HashJob], *, progress: Progress | None = None, threads: int | None = None
) -> tuple[FileHashes, ...]:
    """Digest all files and return their hashes in the order of `jobs`.

    Args:
        jobs: the files.
        progress: told how many bytes are done.
        threads: files read at once; the number of usable cores where None, never more than there are files.

    Raises:
        FaultError: `TRUNCATED` where a file has less bytes than its job says.
        Exception: whatever opening or reading a file, or `progress`, raises first; the other files are abandoned.
    """
    if not jobs:
        return ()
    run = _Run(jobs, progress=progress, threads=threads or usable_cores())
    if run.threads == 1:
        return tuple(run.hash(job) for job in jobs)
    # Largest first, so that none starts late and is waited for alone.
    order = sorted(range(len(jobs)), key=lambda place: -jobs[place].size)
    with ThreadPoolExecutor(run.threads, thread_name_prefix="roost-hash") as pool:
        futures = {place: pool.submit(run.hash, jobs[place]) for place in order}
        try:
            return tuple(futures[place].result() for place in range(len(jobs)))
        except BaseException:
            run.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            # The exception that stopped the others is the one to tell; theirs are only echoes of it.
            for future in futures.values():
                error = None if future.cancelled() else future.exception()
                if error is not None and not isinstance(error, _StoppedError):
                    raise error from None
            raise


def digest_file(path: Path, *, progress: Progress | None = None) -> tuple[Digest, int]:
    """Return SHA-256 and size in bytes of one regular file.

    Raises:
        FileNotFoundError: there is no such file.
        FaultError: it is a symbolic link, a special file, cannot be read, or changes while it is read.
    """
    return digest_files({path.name: path}, progress=progress)[path.name]


def digest_files(paths: Mapping[str, Path], *, progress: Progress | None = None) -> dict[str, tuple[Digest, int]]:
    """Return SHA-256 and size of each file by name; the files are read in parallel.

    Raises:
        FileNotFoundError: one of them does not exist.
        FaultError: one is a symbolic link, a special file, cannot be read, or changes while it is read.
    """
    files = mapped_files(paths)
    sizes: dict[str, int] = {}
    for name in files.names:
        paths[name].lstat()  # a missing file is the caller's to judge, not a fault of the file
        with files.open(name) as file:
            sizes[name] = file.size
    jobs = [HashJob(open=partial(files.open, name), size=size) for name, size in sizes.items()]
    hashes = hash_files(jobs, progress=progress)
    return {name: (found.sha256, sizes[name]) for name, found in zip(sizes, hashes, strict=True)}


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Run:
    """The shared state of one call: bytes done, bytes not yet begun, whether to stop."""

    def __init__(self, jobs: Sequence[HashJob], *, progress: Progress | None, threads: int) -> None:
        self.cores = threads
        self._total = self._waiting = sum(job.size for job in jobs)
        self.threads = min(threads, len(jobs)) if self._total > _ALONE else 1
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._progress = progress
        self._done = 0

    def hash(self, job: HashJob) -> FileHashes:
        with self._lock:
            waiting, self._waiting = self._waiting, self._waiting - job.size
        # A file larger than its core's share of what is left decides the end: give it a second thread.
        beside = self.cores > 1 and job.size > _ALONE and job.size * self.cores > waiting
        sha = _Sha256Beside() if beside else _Sha256(min(_CHUNK, job.size))
        try:
            with job.open() as file, sha:
                spans = _digest_spans(self._chunks(file.stream, job.size, sha), job.spans)
        except BaseException:
            self.stop.set()
            raise
        return FileHashes(sha256=sha.digest(), spans=spans)

    def _chunks(self, stream: FileIO, size: int, sha: "_Sha256") -> Iterator[memoryview]:
        """Yield the file's bytes, each chunk valid until the next, after handing them to `sha`."""
        position = 0
        while position < size:
            if self.stop.is_set():
                raise _StoppedError
            buffer = sha.buffer()[: size - position]
            count = stream.readinto(buffer)
            if not count:
                raise EOFError(f"have {position} of {size} bytes")
            sha.update(buffer[:count])
            yield buffer[:count]
            position += count
            self._advance(count)

    def _advance(self, count: int) -> None:
        with self._lock:
            self._done += count
            if self._progress is not None:
                self._progress(self._done, self._total)


class _Sha256:
    """SHA-256 in the calling thread, over one reused buffer."""

    def __init__(self, chunk: int = _CHUNK) -> None:
        self._hash = hashlib.sha256()
        self._buffer = memoryview(bytearray(chunk))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return

    def buffer(self) -> memoryview:
        """Return a buffer to read into; what it held before is gone."""
        return self._buffer

    def update(self, chunk: memoryview) -> None:
        """Take `chunk`, the beginning of the buffer given last."""
        self._hash.update(chunk)

    def digest(self) -> Digest:
        """Return the digest; only after the `with` block."""
        return Digest(f"sha256:{self._hash.hexdigest()}")


class _Sha256Beside(_Sha256):
    """SHA-256 in a thread of its own. The ring bounds how far the reader runs ahead of it.

    A buffer comes back once its SHA-256 is done. The reader asks for the next one only after its own work on the last,
    so no buffer is overwritten while either still reads it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._free: SimpleQueue[memoryview] = SimpleQueue()
        self._filled: SimpleQueue[memoryview | None] = SimpleQueue()
        self._free.put(self._buffer)
        for _ in range(_RING - 1):
            self._free.put(memoryview(bytearray(_CHUNK)))
        self._thread = threading.Thread(target=self._work, name="roost-sha256", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._filled.put(None)
        self._thread.join()

    def buffer(self) -> memoryview:
        self._buffer = self._free.get()
        return self._buffer

    def update(self, chunk: memoryview) -> None:
        self._filled.put(chunk)

    def _work(self) -> None:
        while (chunk := self._filled.get()) is not None:
            self._hash.update(chunk)
            # The chunk is a slice of a whole buffer; that one goes back.
            self._free.put(memoryview(chunk.obj))


def _digest_spans(chunks: Iterable[memoryview], spans: tuple[Span, ...]) -> tuple[Digest, ...]:
    """Return the BLAKE3 of each span of the bytes that `chunks` give one after the other."""
    digests: list[Digest] = []
    hasher, position = blake3(), 0
    for chunk in chunks:
        end = position + len(chunk)
        while len(digests) < len(spans) and spans[len(digests)][0] < end:
            begin, stop = spans[len(digests)]
            hasher.update(chunk[max(begin - position, 0) : stop - position])
            if stop > end:
                break
            digests.append(_blake3(hasher))
            hasher = blake3()
        position = end
    # Tensors without elements may lie at the very end.
    digests.extend(_blake3(blake3()) for _ in spans[len(digests) :])
    return tuple(digests)


def _blake3(hasher: blake3) -> Digest:
    return Digest(f"blake3:{hasher.hexdigest()}")
