"""Where the data files of this package are: one resolver for a checkout, an installed wheel and a zipapp.

In a wheel, `schemas/` and `migrations/` travel inside the package as `registry/data/`; in a checkout they lie beside
it. Nothing else may compute a path to them.
"""

import re
from pathlib import Path
from typing import Final

from registry.domain.errors import NotFound, Unavailable

_PACKAGE: Final = Path(__file__).parent
_ENDING: Final = ".schema.json"
_KIND: Final = re.compile(r"[a-z][a-z-]*")


def schemas_dir() -> Path:
    """Return the directory of the published JSON Schemas.

    Raises:
        Unavailable: there is none on disk: the installation is damaged, or runs from inside a zip file.
    """
    return _data_dir("schemas", _PACKAGE, marker=f"provenance{_ENDING}")


def migrations_dir() -> Path:
    """Return the directory of the database migrations.

    Raises:
        Unavailable: there is none on disk.
    """
    return _data_dir("migrations", _PACKAGE, marker="env.py")


def schema_text(kind: str) -> str:
    """Return the text of the schema of `kind`, such as `provenance`; works inside a zipapp too.

    Raises:
        NotFound: there is no such kind.
        Unavailable: the schemas are not where they belong.
    """
    if not _KIND.fullmatch(kind):
        raise NotFound(f"{kind!r} is not a kind of document.")
    packed = _packed(kind)
    if packed is not None:
        return packed
    path = schemas_dir() / f"{kind}{_ENDING}"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"There is no schema for documents of kind {kind!r}.") from None


def schema_kinds() -> tuple[str, ...]:
    """Return every kind that has a schema, sorted.

    Raises:
        Unavailable: the schemas are not on disk.
    """
    return tuple(sorted(path.name.removesuffix(_ENDING) for path in schemas_dir().glob(f"*{_ENDING}")))


def _data_dir(name: str, package: Path, *, marker: str) -> Path:
    # The wheel's place first: beside an installed package, `../schemas` could be anybody's. The marker keeps an
    # unrelated folder of that name from being taken for ours.
    places = (package / "data" / name, package.parent / name)
    for place in places:
        if (place / marker).is_file():
            return place
    detail = f"The {name} of this installation are missing: looked in {places[0]} and {places[1]}."
    raise Unavailable(detail, hint="Install roost again.")


def _packed(kind: str) -> str | None:
    """Read a schema through the loader where the package is not a directory (zipapp)."""
    if _PACKAGE.is_dir():
        return None
    import importlib.resources  # noqa: PLC0415  # costs milliseconds, and is needed in zipapps only

    try:
        return (importlib.resources.files("registry") / "data" / "schemas" / f"{kind}{_ENDING}").read_text("utf-8")
    except (OSError, KeyError):
        raise NotFound(f"There is no schema for documents of kind {kind!r}.") from None
