"""Opens the files of one directory so that no link is followed and no file changes unseen between two reads.

A drafter's files are read from a directory on a client and from stored blobs on a server. Both are `Files`: names, and
a way to get a descriptor for one. What a name means is decided in `names`, what is in a file elsewhere.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from registry.artifacts import sniffing
from registry.artifacts.faults import FaultError, faulty
from registry.domain.artifact_faults import FaultKind

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_FILE = _FLAGS | os.O_NONBLOCK  # a FIFO must not make the open wait for a writer
_DIRECTORY = _FLAGS | os.O_DIRECTORY

_FINISHED = "a finished file: wait until whatever writes it is done"
_NO_LINKS = (
    "a regular file. A snapshot of a hub cache is made of links: copy it with `cp -rL SNAPSHOT DIR`, "
    "or download with `hf download REPO --local-dir DIR`"
)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """An open regular file: an unbuffered stream at offset 0 and its size in bytes."""

    stream: FileIO
    size: int


class Files:
    """The files of one directory by relative name. Safe to use from several threads."""

    def __init__(self, names: tuple[str, ...], *, descriptor: Callable[[str], int]) -> None:
        """Take `names` and a function from a name to a new descriptor, which raises OSError or FaultError."""
        self.names = names
        self._descriptor = descriptor
        self._states: dict[str, tuple[int, ...]] = {}

    @contextmanager
    def open(self, name: str) -> Iterator[OpenFile]:
        """Open `name` for reading; on leaving, and on every later opening, it must be the unchanged same file.

        Raises:
            FileNotFoundError: there is no such file, nor is it among `names`.
            FaultError: `SYMLINK`; `UNREADABLE` for special files, denied access and files that change or vanish;
                `TRUNCATED` where the reader raised EOFError.
        """
        try:
            descriptor = self._descriptor(name)
        except FileNotFoundError:
            if name in self.names:
                raise _changed(name, "it vanished") from None
            raise
        except OSError as error:
            raise _refused(name, error) from None
        with _regular_stream(name, descriptor) as stream:
            before = os.fstat(descriptor)
            self._compare(name, before)
            try:
                yield OpenFile(stream=stream, size=before.st_size)
            except EOFError as error:
                raise faulty(FaultKind.TRUNCATED, name, observed=str(error), expected=_FINISHED) from None
            except OSError as error:
                raise _refused(name, error) from None
            self._compare(name, os.fstat(descriptor))

    def read(self, name: str, *, cap: int, kind: FaultKind) -> bytes:
        """Return the whole of a small file.

        Args:
            name: the file.
            cap: most bytes it may have.
            kind: the fault where it has more.

        Raises:
            FileNotFoundError: there is no such file.
            FaultError: larger than `cap`, an LFS pointer, a pickle, or what `open` refuses.
        """
        with self.open(name) as file:
            if file.size > cap:
                raise faulty(kind, name, observed=f"{file.size} bytes", expected=f"at most {cap} bytes")
            data = read_exactly(file.stream, file.size)
        pretender = sniffing.disguise(data[: sniffing.HEAD], file=name, size=len(data))
        if pretender is not None:
            raise FaultError(pretender)
        return data

    def head(self, name: str) -> tuple[bytes, int]:
        """Return the first bytes of a file and its size."""
        with self.open(name) as file:
            return file.stream.read(sniffing.HEAD), file.size

    def _compare(self, name: str, found: os.stat_result) -> None:
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if self._states.setdefault(name, state) != state:
            raise _changed(name, "it changed while it was read")


@contextmanager
def directory_files(directory: Path) -> Iterator[Files]:
    """Give the files directly in `directory`; directories have a name that ends with `/`.

    Files in subdirectories can be opened by their relative name. No link below `directory` is followed; `directory`
    itself may be one, since the user named it.

    Raises:
        OSError: `directory` is none or cannot be read.
    """
    root = os.open(directory, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        with os.scandir(root) as entries:
            names = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries]
        yield Files(tuple(sorted(names)), descriptor=lambda name: _open_below(root, name))
    finally:
        os.close(root)


def mapped_files(paths: Mapping[str, Path]) -> Files:
    """Give files by claimed name whose bytes lie elsewhere, each at `paths[name]`."""

    def descriptor(name: str) -> int:
        if name not in paths:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return os.open(paths[name], _FILE)

    return Files(tuple(sorted(paths)), descriptor=descriptor)


def _open_below(root: int, name: str) -> int:
    """Open `name` below the directory `root`, part by part, so that no part can be a link."""
    *parents, last = name.split("/")
    current = os.dup(root)
    try:
        for parent in parents:
            below = _open_part(current, parent, _DIRECTORY)
            os.close(current)
            current = below
        return _open_part(current, last, _FILE)
    finally:
        os.close(current)


def _open_part(parent: int, part: str, flags: int) -> int:
    try:
        return os.open(part, flags, dir_fd=parent)
    except OSError as error:
        # With O_DIRECTORY a link gives ENOTDIR, as a plain file does; say ELOOP where it is a link.
        if error.errno == errno.ENOTDIR and stat.S_ISLNK(os.lstat(part, dir_fd=parent).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part) from None
        raise


def read_exactly(stream: BinaryIO, count: int) -> bytes:
    """Read `count` bytes, fewer only at the end of the file; a raw stream may give less per call."""
    parts: list[bytes] = []
    while count > 0 and (part := stream.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _regular_stream(name: str, descriptor: int) -> FileIO:
    """Take over `descriptor` as a stream, or close it and refuse what is no regular file."""
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode):
        return FileIO(descriptor, closefd=True)
    os.close(descriptor)
    raise faulty(FaultKind.UNREADABLE, name, observed=_type_of(found), expected="a regular file")


def _changed(name: str, observed: str) -> FaultError:
    return faulty(FaultKind.UNREADABLE, name, observed=observed, expected=_FINISHED)


def _refused(name: str, error: OSError) -> FaultError:
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return faulty(FaultKind.SYMLINK, name, observed="a symbolic link, or a path through one", expected=_NO_LINKS)
    reason = error.strerror or type(error).__name__
    return faulty(FaultKind.UNREADABLE, name, observed=reason, expected="a regular file that can be read")


def _type_of(found: os.stat_result) -> str:
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    )
    return next((what for test, what in kinds if test(found.st_mode)), "a special file")
