"""Opens wheels and sdists: zip files member by member on demand, gzipped tars in one pass that keeps what matters."""

import hashlib
import io
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from registry.artifacts.engine_sources import layout, scan_cache, selection
from registry.artifacts.engine_sources.layout import Layout
from registry.artifacts.engine_sources.limits import METADATA_CAP, Budget, invalid, refused, shown
from registry.artifacts.engine_sources.scan_cache import Remembered, ScanCache, State
from registry.artifacts.engine_sources.sources import EngineSources, digest_of
from registry.artifacts.engine_sources.tar_stream import TarStream
from registry.artifacts.engine_sources.versions import version_of
from registry.artifacts.engine_sources.zip_archive import ZipArchive
from registry.domain.errors import Invalid

_ZIPS = (".whl", ".zip")
_TARS = (".tar.gz", ".tgz")
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not make the open wait for a writer
_LFS = b"version https://git-lfs.github.com/spec/"
_EXPECTED = "Expected a wheel (.whl), an sdist (.tar.gz, .zip) or a directory."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """An opened archive: where the engine is in it, and how to get a member's bytes."""

    place: Layout
    members: Mapping[str, str]
    """Member name of each relevant path."""
    names: tuple[str, ...]
    read: Callable[[str], bytes]


def open_archive(path: Path, *, engine: str | None, cache: ScanCache | None) -> EngineSources:
    """Open the wheel or sdist at `path`.

    Raises:
        Invalid: it is no such archive, is damaged, contradicts itself, or holds no engine.
        Refused: it is understood and not read: several engines, links in the way, sizes beyond any engine's.
    """
    source = _in_words(path)
    file = _regular(path, source)
    try:
        started = scan_cache.now()
        states = {"archive": scan_cache.state_of(os.fstat(file.fileno()))}
        place = f"archive {os.path.realpath(path)} {engine}"
        known = scan_cache.recall(cache, place, states) if cache is not None else None
        if known is not None:
            sources = _recalled(known, file, path=path, source=source, engine=engine)
            if sources is not None:
                return sources
        sources = _opened(file, path=path, source=source, engine=engine)
        _check_unchanged(file, states["archive"], source)
        if cache is not None:
            facts = {"engine": sources.engine, "version": sources.version}
            remembered = Remembered(files=sources.files, facts=facts)
            scan_cache.remember(cache, place, states, started=started, remembered=remembered)
    except BaseException:
        file.close()
        raise
    return sources


def _opened(file: BinaryIO, *, path: Path, source: str, engine: str | None) -> EngineSources:
    contents = _contents(file, path=path, source=source, engine=engine)
    budget = Budget(source)
    files = {}
    for relevant, member in sorted(contents.members.items()):
        data = contents.read(member)
        budget.take(relevant, len(data))
        files[relevant] = hashlib.sha256(data).hexdigest()
    stating = layout.version_members(contents.place, contents.names)
    version = version_of(source, ((name, _metadata(contents, name, source)) for name in stating))
    return EngineSources(
        engine=contents.place.engine,
        version=version,
        origin=source,
        digest=digest_of(files),
        files=files,
        _read=lambda relevant: contents.read(contents.members[relevant]),
        _close=file.close,
    )


def _recalled(
    known: Remembered, file: BinaryIO, *, path: Path, source: str, engine: str | None
) -> EngineSources | None:
    """Return the sources from what was noted; the archive itself is only opened when a file is read."""
    found = known.facts.get("engine")
    if found not in selection.ENGINES or engine not in {None, found}:
        return None
    contents: list[_Contents] = []

    def read(relevant: str) -> bytes:
        if not contents:
            file.seek(0)
            contents.append(_contents(file, path=path, source=source, engine=engine))
        member = contents[0].members.get(relevant)
        if member is None:
            raise invalid(source, "it changed while it was scanned", hint="Scan again when nothing writes it.")
        return contents[0].read(member)

    return EngineSources(
        engine="sglang" if found == "sglang" else "vllm",
        version=known.facts.get("version"),
        origin=source,
        digest=digest_of(known.files),
        files=known.files,
        _read=read,
        _close=file.close,
    )


def _contents(file: BinaryIO, *, path: Path, source: str, engine: str | None) -> _Contents:
    if path.name.lower().endswith(_TARS):
        return _of_tar(file, source=source, engine=engine)
    return _of_zip(file, source=source, engine=engine)


def _of_zip(file: BinaryIO, *, source: str, engine: str | None) -> _Contents:
    archive = ZipArchive(file.fileno(), size=os.fstat(file.fileno()).st_size, source=source)
    for member in archive.members.values():
        if member.link and layout.leads_to_taken(member.name.removesuffix("/")):
            observed = f"'{shown(member.name)}' is a link, where source files are expected"
            raise refused(source, observed, hint="Get the file from its index: wheels hold no links.")
    place, members = layout.chosen(source, archive.members, engine=engine)
    return _Contents(
        place=place,
        members=members,
        names=tuple(archive.members),
        read=lambda name: archive.read(archive.members[name]),
    )


def _of_tar(file: BinaryIO, *, source: str, engine: str | None) -> _Contents:
    kept = TarStream(file, source=source).kept(layout.taken, redirects=layout.leads_to_taken)
    place, members = layout.chosen(source, kept, engine=engine)
    return _Contents(place=place, members=members, names=tuple(kept), read=kept.__getitem__)


def _metadata(contents: _Contents, name: str, source: str) -> bytes:
    data = contents.read(name)
    Budget(source).take(name, len(data), cap=METADATA_CAP)
    return data


def _check_unchanged(file: BinaryIO, state: State, source: str) -> None:
    if scan_cache.state_of(os.fstat(file.fileno())) != state:
        raise invalid(source, "it changed while it was read", hint="Wait until whatever writes it is done.")


def _regular(path: Path, source: str) -> io.FileIO:
    """Open `path`, which must be a regular file with a suffix that is read, without waiting for anything."""
    if not path.name.lower().endswith(_ZIPS + _TARS):
        raise invalid(source, "its suffix is not one that is read", hint=_EXPECTED)
    try:
        file = io.FileIO(os.open(path, _FLAGS), closefd=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise invalid(source, f"it cannot be opened ({reason})", hint=_EXPECTED) from None
    fault = _disguised(file, source)
    if fault is not None:
        file.close()
        raise fault
    return file


def _disguised(file: io.FileIO, source: str) -> Invalid | None:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return invalid(source, "this is a special file, not a regular one", hint=_EXPECTED)
    try:
        head = os.pread(file.fileno(), len(_LFS), 0)
    except OSError as error:
        return invalid(source, f"it cannot be read ({error.strerror})", hint=_EXPECTED)
    if head == _LFS:
        return invalid(source, "this is a Git LFS pointer, not the file", hint="Fetch it with `git lfs pull`.")
    if head[:1] == b"<":
        return invalid(source, "this is a web page, not an archive", hint="Download the file itself, not its page.")
    return None


def _in_words(path: Path) -> str:
    kind = "wheel" if path.name.lower().endswith(".whl") else "archive"
    return f"{kind} {shown(path.name)}"
