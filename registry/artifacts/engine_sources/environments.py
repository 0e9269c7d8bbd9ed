"""Finds the engine that is installed in an interpreter's environment, through metadata files, importing nothing."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from registry.artifacts import strict_json
from registry.artifacts.engine_sources import selection, tree
from registry.artifacts.engine_sources.interpreters import Environment, environment_of
from registry.artifacts.engine_sources.limits import METADATA_CAP, invalid, refused, shown
from registry.artifacts.engine_sources.opening import check_engine
from registry.artifacts.engine_sources.scan_cache import ScanCache
from registry.artifacts.engine_sources.selection import EngineName
from registry.artifacts.engine_sources.sources import EngineSources
from registry.artifacts.engine_sources.tree import Package
from registry.artifacts.faults import FaultError
from registry.artifacts.files import mapped_files
from registry.domain.artifact_faults import FaultKind

_MOST_ENTRIES = 100_000
_MOST_PATH_LINES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Installed:
    """An engine as one folder of an environment has it."""

    engine: EngineName
    folder: Path
    """Its package folder."""
    metadata: Path | None
    editable: bool


def installed_sources(python: Path, engine: str | None = None, *, cache: ScanCache | None = None) -> EngineSources:
    """Open the engine in the environment of the interpreter at `python`.

    The package folder in the first folder of its import path counts, as for Python. Editable installs are followed
    through `direct_url.json`, `.egg-link` and the path lines of `.pth` files; code in `.pth` files is never run.

    Args:
        python: an interpreter, such as `venv/bin/python`. A link is not resolved first.
        engine: `sglang` or `vllm`; needed only where both are installed.
        cache: as for `open_sources`.

    Raises:
        Invalid: there is no interpreter, or the engine is not installed.
        Refused: both engines are, or what is installed cannot be followed without running it.
    """
    check_engine(engine)
    environment = environment_of(python)
    source = f"environment {environment.name}"
    found = [
        installed
        for name in selection.ENGINES
        if engine in {None, name} and (installed := _installed(environment, name, source)) is not None
    ]
    if not found:
        what = engine or "neither sglang nor vllm"
        observed = f"{what} is not installed in it" if engine else f"{what} is installed in it"
        where = ", ".join(shown(folder.name) for folder in environment.folders) or "no folder for packages"
        raise invalid(source, f"{observed} (looked in {where})", hint="Name the interpreter that serves the engine.")
    if len(found) > 1:
        raise refused(source, "it holds both sglang and vllm", hint="Say which with --engine.")
    return _open(found[0], source, cache)


def _open(installed: _Installed, source: str, cache: ScanCache | None) -> EngineSources:
    how = "editable, " if installed.editable else ""
    package = Package(
        engine=installed.engine,
        # Python follows a link here, so this is what the environment serves.
        folder=Path(os.path.realpath(installed.folder)),
        source=f"{source} ({how}{installed.engine})",
    )
    return tree.open_package(package, cache=cache, metadata=installed.metadata)


def _installed(environment: Environment, engine: EngineName, source: str) -> _Installed | None:
    for folder in environment.folders:
        entries = _entries(folder)
        metadata = _metadata(folder, entries, engine, source)
        found = _package(folder, engine)
        if found is not None:
            return _Installed(engine=engine, folder=found, metadata=metadata, editable=False)
        found = _linked(folder, entries, engine, metadata)
        if found is not None:
            return _Installed(engine=engine, folder=found, metadata=metadata, editable=True)
        if metadata is not None:
            raise refused(
                source,
                f"{engine} is installed there ('{shown(metadata.parent.name)}') and its files are not: an import hook "
                "would find them, and hooks are not run",
                hint="Give its source folder itself in place of --python.",
            )
    return None


def _entries(folder: Path) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) >= _MOST_ENTRIES:
                    break
    except OSError:
        return []
    return sorted(names)


def _metadata(folder: Path, entries: list[str], engine: EngineName, source: str) -> Path | None:
    found = [name for name in entries if name.endswith(".dist-info") and name.partition("-")[0].lower() == engine]
    if len(found) > 1:
        both = ", ".join(f"'{shown(name)}'" for name in found)
        raise refused(source, f"two distributions claim {engine}: {both}", hint="Remove the leftover one.")
    return folder / found[0] / "METADATA" if found else None


def _package(folder: Path, engine: EngineName) -> Path | None:
    found = [
        package.folder
        for package in tree.packages_in(folder, source="", engine=engine)
        if package.folder == folder / engine
    ]
    return found[0] if found else None


def _linked(folder: Path, entries: list[str], engine: EngineName, metadata: Path | None) -> Path | None:
    """Return the package folder that an editable install points to."""
    targets: list[Path] = []
    if metadata is not None:
        targets += _direct_url(metadata.parent / "direct_url.json")
    if f"{engine}.egg-link" in entries:
        targets += _path_lines(folder / f"{engine}.egg-link", folder)[:1]
    for name in entries:
        if name.endswith(".pth"):
            targets += _path_lines(folder / name, folder)
    for target in targets:
        packages = tree.packages_in(target, source="", engine=engine)
        if packages:
            return packages[0].folder
    return None


def _direct_url(path: Path) -> list[Path]:
    """Return the folder of an editable install from its record (PEP 610)."""
    try:
        document = strict_json.parse(_text(path).encode()).value
    except strict_json.MalformedJsonError:
        return []
    if not isinstance(document, dict):
        return []
    about, url = document.get("dir_info"), document.get("url")
    if not isinstance(about, dict) or about.get("editable") is not True or not isinstance(url, str):
        return []
    try:
        parts = urlsplit(url)
        target = unquote(parts.path)
    except ValueError:
        return []
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or "\0" in target:
        return []
    below = document.get("subdirectory")
    plain = isinstance(below, str) and below and not below.startswith("/") and ".." not in below.split("/")
    return [Path(target) / str(below)] if plain else [Path(target)]


def _path_lines(path: Path, folder: Path) -> list[Path]:
    """Return the folders that a `.pth` or `.egg-link` file names; lines of code are passed over."""
    lines = [line.strip() for line in _text(path).splitlines()[:_MOST_PATH_LINES]]
    return [
        folder / line
        for line in lines
        if line and not line.startswith(("#", "import ", "import\t")) and "\0" not in line and line != "."
    ]


def _text(path: Path) -> str:
    """Return a small metadata file as text, empty where it cannot be read."""
    files = mapped_files({path.name: path})
    try:
        return files.read(path.name, cap=METADATA_CAP, kind=FaultKind.UNREADABLE).decode("utf-8", "replace")
    except (FaultError, OSError):
        return ""
