"""Matrices for people: `roost.matrix/1` as a dict in, a narrow table out. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from roost.render_verdict import spell, wrap
from roost.screen import Paint
from roost.tables import table

_PLAIN: Final = Paint()

TAKES: Final[Mapping[str, str]] = {
    "nothing": "as is",
    "option": "option",
    "ids": "ids",
    "ids_and_option": "ids, option",
    "config": "config",
    "convert": "convert",
    "engine": "engine",
    "other_target": "other target",
    "retrain": "retrain",
    "reject": "reject",
    "unknown": "unknown",
}
"""What a row takes, in the table."""

KEYS: Final[Mapping[str, str]] = {
    "/eagle_config/eagle_aux_hidden_state_layer_ids": "nested",
    "/eagle_aux_hidden_state_layer_ids": "top",
}
"""Short names of the places where ids are usually kept."""


def render(matrix: Mapping[str, Any], *, paint: Paint = _PLAIN, width: int = 100) -> str:
    """Put a matrix into a table, what hinders below it.

    Args:
        matrix: The `roost.matrix/1` document.
        paint: Colors.
        width: Columns that prose may take.
    """
    rows: Sequence[Mapping[str, Any]] = matrix["rows"]
    if not rows:
        return f"{_head(matrix, paint=paint)}\n\nno build is known"
    parts = [_head(matrix, paint=paint), _table(rows, paint=paint)]
    parts += ["\n".join(lines) for lines in (list(_notes(rows, width=width)), list(_legend(rows))) if lines]
    return "\n\n".join(parts)


def builds_of(row: Mapping[str, Any]) -> str:
    """Name the builds of a row."""
    if row["first"] == row["last"]:
        return f"{row['engine']} {row['first']}"
    return f"{row['engine']} {row['first']} to {row['last']}"


def id_list(row: Mapping[str, Any]) -> str:
    """Spell the ids of a row and where they are written; `-` where there are none."""
    if row["ids"] is None:
        return "-"
    ids = ",".join(map(str, row["ids"])) or "none"
    pointer = row["pointer"]
    return f"{KEYS.get(pointer, pointer)} {ids}" if pointer else ids


def _head(matrix: Mapping[str, Any], *, paint: Paint) -> str:
    target = f" on {matrix['target']}" if matrix["target"] else ""
    config = "the proposed config" if matrix["proposed"] else "the config stored with it"
    trained = matrix["trained_taps"]
    taps = "taps unknown" if trained is None else f"trained on taps {spell(trained)}"
    return f"{paint(matrix['checkpoint'], 'bold')}{target}\n{taps}; judged with {config}"


def _table(rows: Sequence[Mapping[str, Any]], *, paint: Paint) -> str:
    columns: list[tuple[str, list[str]]] = [
        ("BUILDS", [builds_of(row) for row in rows]),
        ("PROPOSED", [row["decision"] for row in rows]),
        ("TAKES", [TAKES.get(row["takes"], row["takes"]) for row in rows]),
        ("IDS", [id_list(row) for row in rows]),
        ("OPTIONS", [" ".join(row["options"]) for row in rows]),
        ("RUNNER", [row["runner"] or "" for row in rows]),
    ]
    shown = [(heading, cells) for heading, cells in columns if any(cells)]
    return table([heading for heading, _ in shown], list(zip(*(cells for _, cells in shown), strict=True)), paint=paint)


def _notes(rows: Sequence[Mapping[str, Any]], *, width: int) -> Iterator[str]:
    for row in rows:
        notes = [*_fork(row), *_changes(row), *([row["obstacle"]] if row["obstacle"] else [])]
        if notes:
            yield wrap(f"{builds_of(row)}: {'; '.join(notes)}", width=width, indent="  ", first="")


def _fork(row: Mapping[str, Any]) -> Iterator[str]:
    if row["upstream"]:
        yield f"fork of {row['upstream']}"
    if row["same_as"]:
        yield f"for this case the same as {row['same_as']}"


def _changes(row: Mapping[str, Any]) -> Iterator[str]:
    if row["takes"] == "config":
        keys = ", ".join(setting["key"] for setting in row["settings"])
        yield f"more of the config has to change{f' ({keys})' if keys else ''}: `roost emit` writes it"


def _legend(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    used = {row["pointer"] for row in rows if row["ids"] is not None}
    yield from (f"{name}: {pointer}" for pointer, name in KEYS.items() if pointer in used)
