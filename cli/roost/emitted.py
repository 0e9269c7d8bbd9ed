"""Writing an emission into a directory: whole, verified, repeatable.

Each file is fetched under another name, held against its digest and then renamed; the lock comes last. So a directory
with a lock is complete, and one without is finished by the next attempt.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from roost.client import Client, in_path
from roost.failures import Failure, Refused
from roost.progress import Bar
from roost.screen import Screen

LOCK: Final = "roost.lock.json"
_PARTIAL: Final = ".roost-partial"
"""Where files are fetched to, inside the directory: a rename must not cross file systems."""


def require_usable(directory: Path) -> None:
    """Refuse a directory that cannot become an emission, before anything is asked of the registry.

    Raises:
        Refused: it is no directory.
    """
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise Refused(f"{directory} is not a directory", hint="name one that is absent, empty, or holds this emission.")


def write(client: Client, emission: Mapping[str, Any], directory: Path, *, screen: Screen) -> int:
    """Write the files of `emission` into `directory`; return how many had to be fetched.

    Raises:
        Refused: the directory holds something else.
        Failure: a file cannot be fetched, is not what the emission says, or cannot be written.
    """
    files = sorted(emission["files"], key=lambda file: (file["name"] == LOCK, file["name"]))
    for file in files:
        _require_inside(file["name"])
    wanted = _missing(directory, files)
    partial = directory / _PARTIAL
    partial.mkdir(parents=True, exist_ok=True)
    with Bar("fetching", screen=screen, total=sum(file["size"] for file in wanted)) as bar:
        for file in wanted:
            _fetch(client, emission["id"], file, directory, bar=bar)
    partial.rmdir()
    _flush(directory)
    return len(wanted)


def _require_inside(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or {"..", _PARTIAL} & set(path.parts) or "\\" in name or "\0" in name:
        raise Failure(f"the registry names a file {name!r}, which is not inside the directory")


def _missing(directory: Path, files: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the files that are not there yet.

    Raises:
        Refused: a file is there that the emission lacks, or has other bytes.
    """
    expected = {file["name"]: file for file in files}
    present = set(_files_below(directory))
    foreign = sorted(present - expected.keys())
    different = sorted(name for name in present & expected.keys() if not _is(directory / name, expected[name]))
    if foreign or different:
        reasons = [f"{name} is not part of this emission" for name in foreign]
        reasons += [f"{name} has other contents" for name in different]
        raise Refused(
            f"{directory} holds {_held_by(directory)}",
            details=reasons,
            hint="name a directory that is absent or empty.",
        )
    return [file for file in files if file["name"] not in present]


def _held_by(directory: Path) -> str:
    """Say what lies there, where its lock tells."""
    try:
        lock = json.loads((directory / LOCK).read_bytes())
        text = f"another emission: {lock['checkpoint']} for {lock['engine']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "something else"
    return text if text.isprintable() else "something else"


def _files_below(directory: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(directory):
        if Path(folder) == directory and _PARTIAL in folders:
            folders.remove(_PARTIAL)
            _sweep(directory / _PARTIAL)
        linked = [name for name in folders if (Path(folder) / name).is_symlink()]
        for name in (*names, *linked):
            yield (Path(folder) / name).relative_to(directory).as_posix()


def _sweep(partial: Path) -> None:
    """Remove what an interrupted attempt left."""
    for path in partial.iterdir():
        path.unlink()


def _is(path: Path, file: Mapping[str, Any]) -> bool:
    from registry.artifacts.hashing import digest_file  # noqa: PLC0415 - only where something lies there already

    try:
        return digest_file(path) == (file["sha256"], file["size"])
    except OSError:
        return False


def _fetch(client: Client, emission: str, file: Mapping[str, Any], directory: Path, *, bar: Bar) -> None:
    name = file["name"]
    partial = directory / _PARTIAL / file["sha256"].replace(":", "-")
    try:
        found = client.download(f"/v1/emissions/{emission}/files/{in_path(name)}", partial, progress=bar.advance)
        if found != file["sha256"]:
            raise Failure(f"{name} arrived with the digest {found}, expected {file['sha256']}", hint="try again.")
        place = directory / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name == LOCK:
            _flush(directory)
        partial.rename(place)
    finally:
        partial.unlink(missing_ok=True)


def _flush(directory: Path) -> None:
    """Make renames last through a crash of the machine."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
