"""Opens a directory that holds an engine: a checkout, an unpacked wheel, site-packages, or the package folder itself.

No link below the package folder is followed, nothing special is opened, and a file that changes between its digest and
its reading is an error.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from registry.artifacts import files as opened_files
from registry.artifacts import names
from registry.artifacts.engine_sources import scan_cache, selection
from registry.artifacts.engine_sources.layout import no_engine
from registry.artifacts.engine_sources.limits import (
    ENTRIES_CAP,
    FILE_CAP,
    METADATA_CAP,
    Budget,
    invalid,
    refused,
    shown,
)
from registry.artifacts.engine_sources.scan_cache import Remembered, ScanCache, State
from registry.artifacts.engine_sources.selection import EngineName
from registry.artifacts.engine_sources.sources import EngineSources, digest_of
from registry.artifacts.engine_sources.versions import version_of
from registry.artifacts.faults import FaultError
from registry.artifacts.files import Files, directory_files, mapped_files
from registry.domain.artifact_faults import FaultKind
from registry.domain.errors import Refused, RegistryError

_PARENTS = ("", "python", "src")
_COPY = "Copy the tree with `cp -rL`, which puts files in place of links, and scan the copy."
_MOST_DISTRIBUTIONS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package folder on disk: `sglang/` or `vllm/`, whatever its folder is called."""

    engine: EngineName
    folder: Path
    source: str
    """What it is called in messages and as an origin."""


def open_tree(path: Path, *, engine: str | None, cache: ScanCache | None) -> EngineSources:
    """Open the engine in the directory `path`, or below its `python/` or `src/`.

    Raises:
        Invalid: it does not hold the engine.
        Refused: it holds several, links or special files in the way, or cannot be read.
    """
    source = f"directory {shown(Path(os.path.abspath(path)).name) or '/'}"  # noqa: PTH100  # no link is resolved
    found = packages_in(path, source=source, engine=engine)
    if not found:
        raise no_engine(source, engine)
    if len(found) > 1:
        where = ", ".join(f"'{os.path.relpath(package.folder, path)}'" for package in found)
        raise refused(source, f"it holds more than one engine: {where}", hint="Give one of these folders.")
    package = found[0]
    if package.folder != path and package.folder.is_symlink():
        target = os.path.realpath(package.folder)
        if not target.startswith(os.path.realpath(path) + os.sep):
            observed = f"'{package.engine}' in it is a link out of the directory"
            raise refused(source, observed, hint="Give the folder that the link points to, if you trust it.")
    return open_package(package, cache=cache)


def packages_in(path: Path, *, source: str, engine: str | None) -> tuple[Package, ...]:
    """Return the package folders at `path`; those of `engine` only, where it is given."""
    wanted = [name for name in selection.ENGINES if engine in {None, name}]
    for name in wanted:
        if _has_models(path, name):
            return (Package(engine=name, folder=path, source=source),)
    return tuple(
        Package(
            engine=name,
            folder=path / parent / name,
            source=f"{source} ({parent}/{name})" if parent else source,
        )
        for parent in _PARENTS
        for name in wanted
        if _has_models(path / parent / name, name)
    )


def open_package(package: Package, *, cache: ScanCache | None, metadata: Path | None = None) -> EngineSources:
    """Digest the relevant files of a package folder, or recall their digests if none changed.

    Args:
        package: the folder.
        cache: where digests of unchanged files are remembered.
        metadata: the METADATA or PKG-INFO that describes it, where it is known; else looked for beside the folder.
    """
    started = scan_cache.now()
    states = dict(_walk(package))
    if not selection.holds_models(states, package.engine):
        raise no_engine(package.source, package.engine)
    place = f"tree {os.path.realpath(package.folder)} {package.engine}"
    known = scan_cache.recall(cache, place, states) if cache is not None else None
    version = version_of(package.source, _stating(package, metadata))
    stack = ExitStack()
    try:
        files = stack.enter_context(directory_files(package.folder))
        digests = known.files if known is not None else _digests(package, files, states)
    except OSError as error:
        stack.close()
        raise _unreadable(package, "it", error) from None
    except BaseException:
        stack.close()
        raise
    if cache is not None and known is None:
        remembered = Remembered(files=digests, facts={})
        scan_cache.remember(cache, place, states, started=started, remembered=remembered)
    return EngineSources(
        engine=package.engine,
        version=version,
        origin=package.source,
        digest=digest_of(digests),
        files=digests,
        _read=lambda path: _data(package, files, path),
        _close=stack.close,
    )


def _has_models(folder: Path, engine: EngineName) -> bool:
    models = selection.SELECTIONS[engine].models.partition("/")[2]
    return os.path.isdir(folder / models)  # noqa: PTH112  # Path.is_dir raises for some hostile names


def _walk(package: Package) -> Iterator[tuple[str, State]]:
    """Yield path and state of every relevant file; only folders that can hold one are entered."""
    seen = 0
    pending: list[str] = [package.engine]
    while pending:
        folder = pending.pop()
        for entry in _entries(package, folder):
            seen += 1
            if seen > ENTRIES_CAP:
                raise refused(package.source, f"it has more than {ENTRIES_CAP} entries", hint="Give the engine alone.")
            path = f"{folder}/{entry.name}"
            matters = selection.is_relevant(path, package.engine)
            if not matters and not selection.may_hold(path, package.engine):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            elif matters or entry.is_symlink():
                yield path, _state(package, path, entry)


def _entries(package: Package, folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(package.folder / folder.partition("/")[2]) as entries:
            return list(entries)
    except OSError as error:
        raise _unreadable(package, f"'{shown(folder)}'", error) from None


def _state(package: Package, path: str, entry: "os.DirEntry[str]") -> State:
    reason = names.unsafe_reason(path)
    if reason is not None:
        raise invalid(package.source, f"the file name '{shown(path)}' {reason}", hint="Rename or remove it.")
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        raise _unreadable(package, f"'{shown(path)}'", error) from None
    if not stat.S_ISREG(found.st_mode):
        what = "a link" if stat.S_ISLNK(found.st_mode) else "a special file"
        raise refused(package.source, f"'{shown(path)}' is {what}, where a source file is expected", hint=_COPY)
    return scan_cache.state_of(found)


def _digests(package: Package, files: Files, states: Mapping[str, State]) -> Mapping[str, str]:
    budget = Budget(package.source)
    digests = {}
    for path, state in sorted(states.items()):
        budget.take(path, state[0])
        digests[path] = hashlib.sha256(_data(package, files, path)).hexdigest()
    return digests


def _data(package: Package, files: Files, path: str) -> bytes:
    return _read(package.source, files, path.partition("/")[2], shown_as=path, cap=FILE_CAP)


def _read(source: str, files: Files, name: str, *, shown_as: str, cap: int) -> bytes:
    """Read one file through descriptors that follow no link."""
    try:
        with files.open(name) as file:
            if file.size > cap:
                observed = f"'{shown(shown_as)}' has {file.size} bytes, more than the {cap} that are read of one file"
                raise refused(source, observed, hint="Check that this is an engine's source and nothing else.")
            data = opened_files.read_exactly(file.stream, file.size)
            if len(data) != file.size:
                raise EOFError("it became shorter while it was read")  # `open` turns this into a fault
            return data
    except FileNotFoundError:
        raise invalid(source, f"'{shown(shown_as)}' vanished", hint="Scan again when nothing writes there.") from None
    except FaultError as error:
        fault = error.fault
        what = f"'{shown(shown_as)}': {fault.observed}"
        if fault.kind is FaultKind.SYMLINK:
            raise refused(source, what, hint=_COPY) from None
        raise invalid(source, what, hint=f"Expected {fault.expected}.") from None


def _stating(package: Package, metadata: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield the files that may tell the version, best first; those that cannot be read are passed over."""
    beside = package.folder.parent
    candidates = [metadata] if metadata is not None else _distributions(package)
    candidates += [package.folder / "_version.py", package.folder / "version.py", beside / "pyproject.toml"]
    if beside.name in _PARENTS:
        candidates.append(beside.parent / "pyproject.toml")
    for candidate in candidates:
        try:
            data = _read(
                package.source,
                mapped_files({candidate.name: candidate}),
                candidate.name,
                shown_as=candidate.name,
                cap=METADATA_CAP,
            )
        except RegistryError:
            continue  # metadata is optional: what is not readable tells nothing
        yield candidate.name, data


def _distributions(package: Package) -> list[Path]:
    """Return the METADATA and PKG-INFO beside a package folder that belong to its engine.

    Raises:
        Refused: two distributions claim it.
    """
    beside = package.folder.parent
    found = []
    try:
        with os.scandir(beside) as entries:
            for seen, entry in enumerate(entries):
                if seen > _MOST_DISTRIBUTIONS:
                    break
                stem, dot, kind = entry.name.rpartition(".")
                if dot and kind == "dist-info" and stem.partition("-")[0].lower() == package.engine:
                    found.append(beside / entry.name / "METADATA")
    except OSError:
        return []
    if len(found) > 1:
        both = ", ".join(f"'{shown(path.parent.name)}'" for path in sorted(found))
        raise refused(package.source, f"two distributions claim it: {both}", hint="Remove the leftover one.")
    return [*found, beside / "PKG-INFO", beside / f"{package.engine}.egg-info" / "PKG-INFO"]


def _unreadable(package: Package, what: str, error: OSError) -> Refused:
    reason = error.strerror or type(error).__name__
    return refused(package.source, f"{what} cannot be read ({reason})", hint="Make it readable, or copy the tree.")
