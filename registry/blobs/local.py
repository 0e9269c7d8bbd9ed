"""Blobs in a local directory, named by the SHA-256 of their bytes.

    ROOT/sha256/ab/cd/<64 hex>    whole, verified, durable, never changed
    ROOT/incoming/                being written; a name under `sha256/` appears only by a rename of a verified file

What a killed writer leaves in `incoming/` is removed at the next start: a live writer holds a lock on its file, and
the kernel frees the lock of a dead one.
"""

import asyncio
import contextlib
import fcntl
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from registry.blobs.incoming import Incoming, make_durable_folder
from registry.domain.digests import Digest
from registry.domain.errors import Invalid, NotFound, Unavailable

CHUNK: Final = 1 << 20
"""Bytes that are hashed and written in one step, in a thread: large enough that the hop costs nothing."""

_WRITTEN = re.compile(r"sha256:([0-9a-f]{64})", re.ASCII)

_GRACE_SECONDS = 60.0
"""A file younger than this may have a writer that has not locked it yet."""


class LocalBlobs:
    """Content-addressed files below one folder. Any number of processes may share it.

    Every method that takes a digest raises Invalid where it is not `sha256:` and 64 lower-case hex digits, before
    anything touches the file system.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> int:
        """Make the folders and remove what dead writers left; return how many files that was.

        Raises:
            Unavailable: the folder cannot be made or read.
        """
        removed = 0
        try:
            for folder in (self.root / "sha256", self._incoming):
                make_durable_folder(folder)
            for leftover in self._incoming.iterdir():
                removed += _remove_if_abandoned(leftover)
        except OSError as error:
            raise Unavailable(
                f"The blob folder {self.root} cannot be used: {error.strerror}.",
                hint="Check its owner and the disk, or name another data folder.",
            ) from error
        return removed

    async def write(
        self, digest: str, stream: AsyncIterator[bytes], expected_size: int | None = None, *, limit: int | None = None
    ) -> int:
        """Store the bytes of `stream` under `digest` once they are seen to have it; return their number.

        Nothing is visible before, and nothing is left when the stream ends early, the caller is cancelled or the
        process is killed. Writing a digest that is there verifies the bytes and changes nothing for readers.

        Args:
            digest: the digest the bytes must have.
            stream: the bytes, in pieces of any size.
            expected_size: the number of bytes that must come, where it was announced.
            limit: the largest number of bytes that is taken.

        Raises:
            Invalid: `digest` is malformed.
            IntegrityMismatch: the bytes have another digest or another number.
            Refused: more than `limit` bytes came.
            Unavailable: the disk refuses, for example because it is full.
        """
        target = self._locate(digest)
        incoming = Incoming.open(self._incoming, digest=digest, expected_size=expected_size, limit=limit)
        try:
            async for piece in _gathered(stream):
                await asyncio.to_thread(incoming.feed, piece)
            return await asyncio.to_thread(incoming.publish, target)
        except BaseException:
            incoming.discard()
            raise

    def write_bytes(self, data: bytes) -> Digest:
        """Store `data`, which is in memory anyway, and return its digest.

        Raises:
            Unavailable: the disk refuses.
        """
        incoming = Incoming.open(self._incoming)
        try:
            incoming.feed(data)
            digest = incoming.digest
            incoming.publish(self._locate(digest))
        except BaseException:
            incoming.discard()
            raise
        return Digest(digest)

    def exists(self, digest: str) -> int | None:
        """Return the number of bytes stored under `digest`, or None.

        Raises:
            Invalid: `digest` is malformed.
        """
        try:
            return self._locate(digest).stat().st_size
        except FileNotFoundError:
            return None

    def path(self, digest: str) -> Path:
        """Return the file that holds the bytes of `digest`; it is read-only.

        Raises:
            Invalid: `digest` is malformed.
            NotFound: nothing is stored under it.
        """
        path = self._locate(digest)
        if not path.is_file():
            raise NotFound(f"There is no blob {digest}.", hint="Upload it first.")
        return path

    async def stream(self, digest: str, chunk: int = CHUNK) -> AsyncIterator[bytes]:
        """Yield the bytes of `digest` in pieces of `chunk` bytes, read in threads.

        Raises:
            Invalid: `digest` is malformed.
            NotFound: nothing is stored under it; raised at the first step.
        """
        file = await asyncio.to_thread(self.path(digest).open, "rb")
        try:
            while piece := await asyncio.to_thread(file.read, chunk):
                yield piece
        finally:
            file.close()

    @property
    def _incoming(self) -> Path:
        return self.root / "incoming"

    def _locate(self, digest: str) -> Path:
        match = _WRITTEN.fullmatch(digest)
        if match is None:
            raise Invalid(
                f"{digest[:100]!r} is not the digest of a blob.", hint="Expected sha256: and 64 lower-case hex digits."
            )
        name = match[1]
        return self.root / "sha256" / name[:2] / name[2:4] / name


async def _gathered(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Join small pieces to about CHUNK bytes: a network sends 64 KiB at a time."""
    pieces: list[bytes] = []
    size = 0
    async for piece in stream:
        pieces.append(piece)
        size += len(piece)
        if size >= CHUNK:
            yield b"".join(pieces)
            pieces, size = [], 0
    if pieces:
        yield b"".join(pieces)


def _remove_if_abandoned(path: Path) -> bool:
    """Remove a file that no living writer holds; tell whether it was removed."""
    with contextlib.suppress(FileNotFoundError):
        if time.time() - path.stat().st_mtime < _GRACE_SECONDS:
            return False
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            path.unlink()
            return True
    return False
