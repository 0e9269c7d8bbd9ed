"""Reading facts files: rows are plain JSON objects, so every access here states what it expects."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


class FactsError(ValueError):
    """The facts do not say what the generator needs, or contradict themselves; the message names row and reason."""


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return the rows of a facts file: a list, or the `entries` of an object.

    Raises:
        FactsError: the file holds neither.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = document.get("entries") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FactsError(f"{path.name}: expected a list of objects, or an object with `entries`")
    return tuple(rows)


def only(rows: tuple[Row, ...], **wanted: str) -> tuple[Row, ...]:
    """Return the rows whose fields equal `wanted`."""
    return tuple(row for row in rows if all(row.get(key) == value for key, value in wanted.items()))
