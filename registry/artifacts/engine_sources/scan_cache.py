"""Remembers what was made of sources, and the digests of files that have not changed since.

Best effort: whatever is wrong with the cache, a scan works as without it. Entries carry their own checksum and are put
in place by one rename, so that parallel processes and killed ones leave nothing half-written that counts.
"""

import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from registry.artifacts.engine_sources import selection
from registry.artifacts.engine_sources.limits import MIB
from registry.artifacts.engine_sources.sources import EngineSources, digest_of

_ENTRY_CAP = 64 * MIB
_MOST_ENTRIES = 512
_PRUNED_AT_ONCE = 128
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_SECOND = 1_000_000_000
_FINE_TICK = _SECOND // 20
_COARSE_TICK = 2 * _SECOND

State = Sequence[int]
"""Size, mtime and ctime in nanoseconds, inode and device of one file."""


def cache_key(sources: EngineSources, *, scanner: str) -> str:
    """Return the key of what a scan of `sources` gives.

    Args:
        sources: what is scanned.
        scanner: the scanner's own revision; a later one must not be given an earlier one's result.
    """
    parts = (scanner, sources.engine, sources.version or "", sources.digest)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class ScanCache:
    """A folder of JSON texts by key. Safe with parallel processes; never raises for what is on the disk."""

    def __init__(self, root: Path) -> None:
        """Take the folder, which is made (for its owner only) when something is first stored."""
        self._root = root

    def read(self, key: str) -> str | None:
        """Return the text stored at `key`; None where there is none, or it is damaged."""
        return _load(self._path("scans", key))

    def write(self, key: str, text: str) -> bool:
        """Store `text` at `key` in place of what was there; False where that cannot be done."""
        return _store(self._path("scans", key), text)

    def seen(self, place: str) -> str | None:
        """Return what was noted about the files at `place`."""
        return _load(self._path("seen", place))

    def note(self, place: str, text: str) -> bool:
        """Note `text` about the files at `place`."""
        return _store(self._path("seen", place), text)

    def _path(self, kind: str, key: str) -> Path:
        # Hashed: a key is never a path, and the folder tells nothing about the machine it is on.
        return self._root / kind / hashlib.sha256(os.fsencode(key)).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What was noted about unchanged files: SHA-256 (hex) by path, and whatever else the reader noted."""

    files: Mapping[str, str]
    facts: Mapping[str, str | None]


def state_of(found: os.stat_result) -> State:
    """Return what changes when a file does. The ctime cannot be set back, so a preserved mtime hides no change."""
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)


def fingerprint(states: Mapping[str, State]) -> str:
    """Return one value for the states of files, by name."""
    lines = "".join(f"{name!r} {' '.join(map(str, state))}\n" for name, state in sorted(states.items()))
    return hashlib.sha256(f"{selection.REVISION}\n{lines}".encode()).hexdigest()


def recall(cache: ScanCache, place: str, states: Mapping[str, State]) -> Remembered | None:
    """Return what was noted about the files at `place`, if their states are still the same."""
    text = cache.seen(place)
    if text is None:
        return None
    try:
        noted = json.loads(text)
        if noted["fingerprint"] != fingerprint(states) or noted["digest"] != digest_of(noted["files"]):
            return None
        return Remembered(files=dict(noted["files"]), facts=dict(noted["facts"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def remember(
    cache: ScanCache, place: str, states: Mapping[str, State], *, started: int, remembered: Remembered
) -> bool:
    """Note what files at `place` hold.

    Files that changed within one tick of the file system's clock before `started` are not noted: a second change in
    that tick would not show.

    Args:
        cache: where to note it.
        place: names the files on this machine.
        states: of each file before it was read.
        started: `time.time_ns()` before the first file was read.
        remembered: what was read.

    Returns:
        Whether it was noted.
    """
    changed = [state[2] for state in states.values()]
    coarse = all(moment % _SECOND == 0 for moment in changed)
    if not changed or max(changed) > started - (_COARSE_TICK if coarse else _FINE_TICK):
        return False
    noted = {
        "fingerprint": fingerprint(states),
        "digest": digest_of(remembered.files),
        "files": dict(remembered.files),
        "facts": dict(remembered.facts),
    }
    return cache.note(place, json.dumps(noted))


def now() -> int:
    """Return the moment to give to `remember`, in nanoseconds since the epoch."""
    return time.time_ns()


def _load(path: Path) -> str | None:
    try:
        with open(os.open(path, _FLAGS), "rb") as stream:  # noqa: PTH123  # a descriptor, not a path
            found = os.fstat(stream.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > _ENTRY_CAP:
                return None
            checksum, _, data = stream.read(_ENTRY_CAP).partition(b"\n")
        if hashlib.sha256(data).hexdigest().encode() != checksum:
            return None
        return data.decode()
    except (OSError, UnicodeDecodeError):
        return None


def _store(path: Path, text: str) -> bool:
    try:
        data = text.encode()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    except (OSError, UnicodeEncodeError):
        return False
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123  # a descriptor, not a path
            stream.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        Path(temporary).replace(path)
    except OSError:
        with suppress(OSError):
            Path(temporary).unlink()
        return False
    _prune(path.parent)
    return True


def _prune(folder: Path) -> None:
    """Remove the oldest entries where there are too many; another process may be doing the same."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
        if len(names) <= _MOST_ENTRIES:
            return
        ages = sorted((os.lstat(folder / name).st_mtime_ns, name) for name in names)
    except OSError:
        return
    for _, name in ages[:_PRUNED_AT_ONCE]:
        with suppress(OSError):
            (folder / name).unlink()
