"""Columns of text, aligned. Pure."""

from collections.abc import Sequence

from roost.screen import Paint


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, paint: Paint) -> str:
    """Return `rows` under `headings`, each column as wide as its widest cell; cells hold no colors."""
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    head = paint(_row(headings, widths), "bold")
    return "\n".join([head, *(_row(row, widths) for row in rows)])


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def facts(pairs: Sequence[tuple[str, object]], *, indent: str = "  ") -> str:
    """Return one `name  value` line per pair whose value is there."""
    known = [(name, value) for name, value in pairs if value not in {None, ""}]
    width = max((len(name) for name, _ in known), default=0)
    return "\n".join(f"{indent}{name:<{width}}  {value}" for name, value in known)
