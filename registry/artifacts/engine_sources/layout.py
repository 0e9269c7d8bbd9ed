"""Where the package folder lies among the names of an archive, and which of its other files tell the version."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.artifacts.engine_sources import selection
from registry.artifacts.engine_sources.limits import invalid, refused
from registry.artifacts.engine_sources.selection import EngineName
from registry.domain.errors import Invalid

_PLACED = re.compile(
    r"^(?P<prefix>[^/]+\.data/(?:purelib|platlib)/|(?:[^/]+/)?(?:python/|src/)?)"
    r"(?P<path>(?P<engine>sglang|vllm)/.+)$"
)
_METADATA = re.compile(
    r"^(?:[^/]+\.dist-info/METADATA"
    r"|(?:[^/]+/)?(?:python/|src/)?(?:PKG-INFO|pyproject\.toml|(?:sglang|vllm)\.egg-info/PKG-INFO)"
    r"|(?:[^/]+\.data/(?:purelib|platlib)/|(?:[^/]+/)?(?:python/|src/)?)(?:sglang|vllm)/_?version\.py)$"
)
_NO_ENGINE = (
    "Give a wheel or sdist of sglang or vllm, a checkout, an unpacked wheel, a site-packages folder, or --python PATH."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which engine an archive holds, below which prefix of names (empty, or with a final `/`)."""

    engine: EngineName
    prefix: str


def placed(name: str) -> tuple[Layout, str] | None:
    """Return where a member's name would lie and its path from the package folder on; None where it cannot matter."""
    match = _PLACED.match(name)
    if match is None:
        return None
    engine: EngineName = "sglang" if match["engine"] == "sglang" else "vllm"
    return Layout(engine=engine, prefix=match["prefix"]), match["path"]


def taken(name: str) -> bool:
    """Tell whether the member `name` is kept: a relevant file at any prefix, or one that may tell the version."""
    found = placed(name)
    return (found is not None and selection.is_relevant(found[1], found[0].engine)) or _METADATA.match(name) is not None


def leads_to_taken(name: str) -> bool:
    """Tell whether `name` is a file to keep or a folder with such files, where a link would redirect what is read."""
    found = placed(f"{name}/x")
    return taken(name) or (found is not None and selection.may_hold(found[1].rpartition("/")[0], found[0].engine))


def chosen(source: str, names: Iterable[str], *, engine: str | None) -> tuple[Layout, Mapping[str, str]]:
    """Return the one layout that holds an engine, and the member of each relevant path.

    Raises:
        Invalid: there is no engine, or not the one that was asked for.
        Refused: there are several.
    """
    members: dict[Layout, dict[str, str]] = {}
    for name in names:
        found = placed(name)
        if found is not None and selection.is_relevant(found[1], found[0].engine):
            members.setdefault(found[0], {})[found[1]] = name
    engines = {
        layout: paths
        for layout, paths in members.items()
        if selection.holds_models(paths, layout.engine) and engine in {None, layout.engine}
    }
    if not engines:
        raise no_engine(source, engine)
    if len(engines) > 1:
        where = ", ".join(sorted(f"'{layout.prefix}{layout.engine}/'" for layout in engines))
        raise refused(source, f"it holds more than one engine: {where}", hint="Say which with --engine, or keep one.")
    return next(iter(engines.items()))


def no_engine(source: str, engine: str | None) -> Invalid:
    """Return the error for a source without the engine."""
    what = f"the engine {engine}" if engine else "neither sglang nor vllm"
    folders = " or ".join(
        f"{selected.models}*.py" for name, selected in selection.SELECTIONS.items() if engine in {None, name}
    )
    observed = f"it does not hold {what}" if engine else f"it holds {what}"
    return invalid(source, f"{observed} (looked for {folders})", hint=_NO_ENGINE)


def version_members(layout: Layout, names: Iterable[str]) -> tuple[str, ...]:
    """Return the members that may tell the version of the engine at `layout`, best first.

    Distribution metadata comes first, then files written by the build, then the project file.
    """
    folder = f"{layout.prefix}{layout.engine}/"

    def order(name: str) -> int | None:
        last = name.rpartition("/")[2]
        if last == "METADATA":
            return 0
        if last == "PKG-INFO":
            return 1
        if name in {f"{folder}_version.py", f"{folder}version.py"}:
            return 2 if last == "_version.py" else 3
        return 4 if last == "pyproject.toml" else None

    ranked = [(rank, name) for name in names if _METADATA.match(name) and (rank := order(name)) is not None]
    return tuple(name for _, name in sorted(ranked))
