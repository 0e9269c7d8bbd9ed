"""One file on its way into the blob store: hashed while written, checked, made durable, renamed into place."""

import contextlib
import errno
import fcntl
import hashlib
import os
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from registry.domain.errors import IntegrityMismatch, Refused, Unavailable

_READ_ONLY = 0o444


class Incoming:
    """A file that is being written. Blocking; its methods may be called from any thread, one after another.

    `discard` may come from another thread while `feed` or `publish` runs, as it does when a request is cancelled.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor
        self._hash = hashlib.sha256()
        self._size = 0
        self._lock = threading.Lock()
        self._publishing = False
        self._announced: str | None = None
        self._expected_size: int | None = None
        self._limit: int | None = None

    @classmethod
    def open(
        cls, folder: Path, *, digest: str | None = None, expected_size: int | None = None, limit: int | None = None
    ) -> Self:
        """Begin a file in `folder`.

        Args:
            folder: where it lies while it is incomplete, on the same file system as its place.
            digest: what its bytes must hash to; None where nothing was announced.
            expected_size: how many bytes must come, where that was announced.
            limit: how many bytes may come.

        Raises:
            Refused: more was announced than may come.
            Unavailable: the disk refuses.
        """
        if limit is not None and expected_size is not None and expected_size > limit:
            raise _over_limit(limit)
        path = folder / uuid.uuid4().hex
        with _disk(folder):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _READ_ONLY)
            # Says "a living writer has this" to `LocalBlobs.prepare` of any process.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        incoming = cls(path, descriptor)
        incoming._announced, incoming._expected_size, incoming._limit = digest, expected_size, limit
        return incoming

    @property
    def digest(self) -> str:
        """The digest of the bytes so far."""
        return f"sha256:{self._hash.hexdigest()}"

    def feed(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            IntegrityMismatch: more bytes than announced.
            Refused: more bytes than allowed.
            Unavailable: the disk refuses.
        """
        with self._lock:
            if self._descriptor is None:
                return
            self._size += len(piece)
            if self._limit is not None and self._size > self._limit:
                raise _over_limit(self._limit)
            if self._expected_size is not None and self._size > self._expected_size:
                raise IntegrityMismatch(f"{self._expected_size} bytes were announced, and more came.")
            self._hash.update(piece)
            rest = memoryview(piece)
            with _disk(self._path.parent):
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]

    def publish(self, target: Path) -> int:
        """Check the bytes, make them durable and give them their name; return their number.

        Raises:
            IntegrityMismatch: another digest or another number of bytes than announced.
            Unavailable: the disk refuses.
        """
        with self._lock:
            if self._descriptor is None:
                # Discarded before this began: the caller is gone and nobody reads the answer.
                return self._size
            self._publishing = True
            try:
                self._check()
                with _disk(target.parent):
                    os.fsync(self._descriptor)
                    make_durable_folder(target.parent)
                    # Replaces a file of the same bytes, if any: readers keep the one they have open.
                    self._path.rename(target)
                    _sync_folder(target.parent)
            except BaseException:
                self._path.unlink(missing_ok=True)
                raise
            finally:
                self._close()
        return self._size

    def discard(self) -> None:
        """Forget the file; does nothing after `publish`, which cleans up after itself."""
        if self._publishing:
            # Verified bytes are being made durable in another thread. Waiting would block the event loop.
            return
        with self._lock:
            if self._descriptor is not None:
                self._path.unlink(missing_ok=True)
                self._close()

    def _check(self) -> None:
        if self._expected_size is not None and self._size != self._expected_size:
            raise IntegrityMismatch(
                f"{self._expected_size} bytes were announced, {self._size} came.", hint="Send the file again."
            )
        if self._announced is not None and self.digest != self._announced:
            raise IntegrityMismatch(
                f"The {self._size} bytes have the digest {self.digest}, not {self._announced}.",
                hint="The file was changed or damaged on the way: hash and send it again.",
            )

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def make_durable_folder(folder: Path) -> None:
    """Make `folder` and its parents so that they survive a crash of the machine."""
    if folder.is_dir():
        return
    make_durable_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Write a folder's entries through: a renamed file is durable only with the name it got."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _over_limit(limit: int) -> Refused:
    return Refused(f"A file may have {limit} bytes here, and more came.", hint="Raise the limit, or send less.")


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise Unavailable(
            f"The blob folder {folder} cannot be written: {error.strerror}.",
            hint="Free space on that disk and repeat." if full else "Check the folder's owner and the disk.",
        ) from error
