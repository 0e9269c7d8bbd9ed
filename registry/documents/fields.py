"""Typed access to the parts of a document that its schema has accepted, and the shapes several kinds share.

Nothing here checks anything: a wrong type means that schema and code disagree, which is a bug of ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from registry.domain.digests import Digest
from registry.domain.reading import PhaseTaps
from registry.domain.taps import Norm, Tap, Taps

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file as documents list it."""

    name: str
    """Relative to its directory, never outside it."""
    size: int
    """Bytes."""
    sha256: Digest


def text(fields: Fields, key: str) -> str:
    """Return the text at `key`."""
    return cast("str", fields[key])


def maybe_text(fields: Fields, key: str) -> str | None:
    """Return the text at `key`; None where it is null or absent."""
    return cast("str | None", fields.get(key))


def digest(fields: Fields, key: str) -> Digest:
    """Return the digest at `key`."""
    return Digest(text(fields, key))


def maybe_digest(fields: Fields, key: str) -> Digest | None:
    """Return the digest at `key`; None where it is absent."""
    return cast("Digest | None", fields.get(key))


def whole(fields: Fields, key: str) -> int:
    """Return the whole number at `key`; 3.0 is one in JSON Schema."""
    return int(cast("float", fields[key]))


def maybe_whole(fields: Fields, key: str) -> int | None:
    """Return the whole number at `key`; None where it is null or absent."""
    return None if fields.get(key) is None else whole(fields, key)


def maybe_number(fields: Fields, key: str) -> float | None:
    """Return the number at `key`; None where it is absent."""
    value = cast("float | None", fields.get(key))
    return None if value is None else float(value)


def maybe_flag(fields: Fields, key: str) -> bool | None:
    """Return the boolean at `key`; None where it is absent."""
    return cast("bool | None", fields.get(key))


def part(fields: Fields, key: str) -> Fields:
    """Return the object at `key`, empty where it is absent."""
    return cast("Fields", fields.get(key, {}))


def maybe_part(fields: Fields, key: str) -> Fields | None:
    """Return the object at `key`; None where it is null or absent."""
    return cast("Fields | None", fields.get(key))


def parts(fields: Fields, key: str) -> Sequence[Fields]:
    """Return the objects in the list at `key`, none where it is absent."""
    return cast("Sequence[Fields]", fields.get(key, ()))


def texts(fields: Fields, key: str) -> tuple[str, ...]:
    """Return the texts in the list at `key`, none where it is absent."""
    return tuple(cast("Sequence[str]", fields.get(key, ())))


def text_values(fields: Fields, key: str) -> dict[str, str]:
    """Return the object of texts at `key`, empty where it is absent."""
    return dict(cast("Mapping[str, str]", fields.get(key, {})))


def present(members: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Return the members that are there: None and empty objects are left out."""
    return {key: value for key, value in members if value is not None and value != {}}


def files(fields: Fields, key: str) -> tuple[FileEntry, ...]:
    """Return the files listed at `key`, none where it is absent."""
    return tuple(
        FileEntry(name=text(entry, "name"), size=whole(entry, "size"), sha256=digest(entry, "sha256"))
        for entry in parts(fields, key)
    )


def render_file(entry: FileEntry) -> dict[str, object]:
    """Return a file as documents list it."""
    return {"name": entry.name, "size": entry.size, "sha256": entry.sha256}


def maybe_taps(fields: Fields, key: str) -> Taps | None:
    """Return the taps listed at `key`; None where it is null."""
    listed = cast("Sequence[Fields] | None", fields.get(key))
    return None if listed is None else tuple(map(_tap, listed))


def maybe_phases(fields: Fields, key: str) -> PhaseTaps | None:
    """Return the taps per phase at `key`; None where it is null."""
    phases = maybe_part(fields, key)
    if phases is None:
        return None
    return PhaseTaps(prefill=maybe_taps(phases, "prefill") or (), decode=maybe_taps(phases, "decode") or ())


def render_taps(taps: Taps | None) -> list[dict[str, object]] | None:
    """Return taps as documents list them; None stays None."""
    return None if taps is None else [{"depth": tap.depth, "stream": tap.stream, "norm": tap.norm} for tap in taps]


def render_phases(phases: PhaseTaps | None) -> dict[str, object] | None:
    """Return taps per phase as documents hold them; None stays None."""
    return None if phases is None else {phase: render_taps(taps) for phase, taps in phases.items()}


def _tap(fields: Fields) -> Tap:
    return Tap(depth=whole(fields, "depth"), stream=text(fields, "stream"), norm=cast("Norm", text(fields, "norm")))
