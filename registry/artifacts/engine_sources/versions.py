"""Reads the version of an engine from metadata text; nothing is imported or evaluated."""

import re
import tomllib
from collections.abc import Iterable

from registry.artifacts.engine_sources.limits import invalid, shown

_HEADER = re.compile(r"^Version:[ \t]*(\S+)[ \t]*\r?$", re.MULTILINE)
_ASSIGNED = re.compile(
    r"""^(?:__version__|version)[ \t]*(?::[^=\n]{1,80})?=[ \t]*(?:version[ \t]*=[ \t]*)?["']([^"'\n]*)["']""",
    re.MULTILINE,
)
_WRITTEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,99}")
_PLACEHOLDERS = frozenset({"", "dev", "0.0.0", "0.0.0.dev0", "0.0.0+unknown"})


def version_of(source: str, texts: Iterable[tuple[str, bytes]]) -> str | None:
    """Return the version that the first of `texts` states; None where none does.

    Args:
        source: what is read, for the message.
        texts: (file name, bytes) of METADATA, PKG-INFO, `_version.py`, `version.py`, `pyproject.toml`, best first.

    Raises:
        Invalid: a file states what cannot be a version.
    """
    for name, data in texts:
        stated = _stated(name.rpartition("/")[2], data.decode("utf-8", "replace"))
        if stated is None or stated in _PLACEHOLDERS:
            continue
        if not _WRITTEN.fullmatch(stated):
            raise invalid(
                source,
                f"'{shown(name)}' states the version '{shown(stated)}'",
                hint="Expected a version such as 0.5.9 or 0.5.9+local (PEP 440).",
            )
        return stated
    return None


def _stated(file: str, text: str) -> str | None:
    if file == "pyproject.toml":
        return _of_project(text)
    if file.endswith(".py"):
        found = _ASSIGNED.search(text)
    else:
        headers = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
        found = _HEADER.search(headers)
    return found[1] if found else None


def _of_project(text: str) -> str | None:
    try:
        project = tomllib.loads(text).get("project")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None  # a checkout may be mid-edit; the version is then told by nothing
    version = project.get("version") if isinstance(project, dict) else None
    return version if isinstance(version, str) else None
