"""Finds the folders from which a Python interpreter imports, from files alone where that is possible.

Where the layout is not a known one, the interpreter is asked, isolated and without `site` (`-I -S`), so that no `.pth`
file, customization module or package of its environment runs.
"""

import json
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from registry.artifacts.engine_sources.limits import invalid, refused, shown

_QUESTION = (
    "import json, sys, sysconfig; p = sysconfig.get_paths();"
    " print(json.dumps([sys.executable, sys.prefix, p['purelib'], p['platlib']]))"
)
_ANSWER_SECONDS = 10.0
_ANSWER_CAP = 1 << 16
_CONFIG_CAP = 1 << 16
_VERSIONED = re.compile(r"^(?:python|pypy)(3\.\d{1,3}t?)$")
_HINT = "Name the interpreter of the engine's environment, such as venv/bin/python."


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An interpreter's environment: its name in words, and the folders that it imports from, first one first."""

    name: str
    folders: tuple[Path, ...]


def environment_of(python: Path) -> Environment:
    """Return the environment of the interpreter at `python`.

    Raises:
        Invalid: there is no interpreter.
        Refused: its environment cannot be told.
    """
    source = f"interpreter {shown(python.name)}"
    if not os.path.isfile(python):  # noqa: PTH113  # Path.is_file raises for some hostile names
        what = "a directory" if os.path.isdir(python) else "not a file that exists"  # noqa: PTH112
        raise invalid(source, f"it is {what}", hint=_HINT)
    if not any("py" in name.lower() for name in (python.name, Path(os.path.realpath(python)).name)):
        raise invalid(source, "its name is not that of a Python interpreter", hint=_HINT)
    found = _from_files(python)
    if found.folders:
        return found
    executable, prefix, *folders = _asked(python, source)
    found = _from_files(Path(executable))
    paths = tuple(Path(folder) for folder in folders if os.path.isabs(folder))  # noqa: PTH117
    return Environment(name=shown(Path(prefix).name), folders=_existing((*found.folders, *paths)))


def _from_files(python: Path) -> Environment:
    # Not resolved: what makes an interpreter a virtual environment's is where its link lies.
    here = Path(os.path.abspath(python)).parent  # noqa: PTH100
    for prefix in (here.parent, here):
        config = _config(prefix / "pyvenv.cfg")
        if config is not None:
            folders = [*_site_packages(prefix, config.get("version_info") or config.get("version"))]
            if config.get("include-system-site-packages", "").lower() == "true" and config.get("home"):
                folders += _base_folders(Path(config["home"]) / "python3", config.get("version"))
            return Environment(name=shown(prefix.name), folders=_existing(folders))
    resolved = Path(os.path.realpath(python))
    versioned = _VERSIONED.match(resolved.name)
    folders = [*_base_folders(resolved, versioned[1] if versioned else None)]
    return Environment(name=shown(resolved.parent.parent.name) or "/", folders=_existing(folders))


def _base_folders(python: Path, version: str | None) -> list[Path]:
    """Return the folders of an interpreter outside any virtual environment; the user's own comes first."""
    prefix = python.parent.parent
    folders = [*_site_packages(prefix, version)]
    if prefix == Path("/usr"):  # Debian keeps pip's and apt's packages apart
        folders = [*_site_packages(prefix / "local", version), *folders, Path("/usr/lib/python3/dist-packages")]
    if not _existing(folders):
        return []  # an unknown layout: the user's folder alone would hide that
    return [*_site_packages(Path("~/.local").expanduser(), version), *folders]


def _site_packages(prefix: Path, version: str | None) -> Iterator[Path]:
    """Yield folders for packages below `prefix`: of the interpreter's version where it is known, else of all."""
    match = re.match(r"3\.\d{1,3}t?", version or "")
    for lib in ("lib", "lib64"):
        versions = [f"python{match[0]}"] if match else _versions_in(prefix / lib)
        for name in versions:
            yield prefix / lib / name / "site-packages"
            yield prefix / lib / name / "dist-packages"


def _versions_in(lib: Path) -> list[str]:
    try:
        with os.scandir(lib) as entries:
            return sorted(entry.name for entry in entries if _VERSIONED.match(entry.name))
    except OSError:
        return []


def _existing(folders: "list[Path] | tuple[Path, ...]") -> tuple[Path, ...]:
    """Return the folders that exist, each once: `lib64` is often a link to `lib`."""
    found: dict[str, Path] = {}
    for folder in folders:
        if os.path.isdir(folder):  # noqa: PTH112
            found.setdefault(os.path.realpath(folder), folder)
    return tuple(found.values())


def _config(path: Path) -> Mapping[str, str] | None:
    """Return the settings of a `pyvenv.cfg`: lines `key = value`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    with open(descriptor, "rb") as stream:  # noqa: PTH123  # a descriptor, not a path
        try:
            text = stream.read(_CONFIG_CAP).decode("utf-8", "replace")
        except (OSError, TypeError):  # a FIFO without a writer reads as nothing, a directory not at all
            return None
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _asked(python: Path, source: str) -> list[str]:
    answer = _answer(python, source)
    try:
        parts = json.loads(answer)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != 4 or not all(isinstance(part, str) for part in parts):  # noqa: PLR2004
        raise refused(source, "it does not answer where its packages are, as Python 3 does", hint=_HINT)
    return parts


def _answer(python: Path, source: str) -> bytes:
    """Run the fixed question; the answer is read up to a cap and a deadline, then the process is ended."""
    command = [os.path.abspath(python), "-I", "-S", "-c", _QUESTION]  # noqa: PTH100
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        process = subprocess.Popen(  # noqa: S603  # the user named this interpreter to be looked into
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=surroundings,
            start_new_session=True,
        )
    except OSError as error:
        raise refused(source, f"it cannot be run ({error.strerror})", hint=_HINT) from None
    with process:
        try:
            return _within(process, time.monotonic() + _ANSWER_SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _within(process: "subprocess.Popen[bytes]", deadline: float) -> bytes:
    stdout = process.stdout
    if stdout is None:
        return b""
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while sum(map(len, parts)) < _ANSWER_CAP and selector.select(max(0.0, deadline - time.monotonic())):
            part = os.read(stdout.fileno(), _ANSWER_CAP)
            if not part:
                break
            parts.append(part)
    return b"".join(parts)
