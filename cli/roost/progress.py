"""A progress bar on stderr, for work on many bytes at a terminal; elsewhere nothing is drawn."""

import sys
import time
from types import TracebackType
from typing import Final, Self

from roost.screen import Screen

SMALLEST: Final = 64 << 20
"""Bytes from which work is worth a bar."""

_CELLS: Final = 28
_EVERY: Final = 0.1
"""Seconds between two drawings: more often costs more than it tells."""


class Bar:
    """Draws how many bytes are done. A context manager; the line is cleared at the end."""

    def __init__(self, label: str, *, screen: Screen, total: int = 0) -> None:
        self._label = label
        self._enabled = screen.format != "quiet" and sys.stderr.isatty()
        self._total = total
        self._done = 0
        self._started = self._drawn = time.monotonic()
        self._visible = False

    def __enter__(self) -> Self:
        """Start the clock."""
        self._started = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the line."""
        if self._visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def advance(self, count: int) -> None:
        """Count `count` more bytes."""
        self.at(self._done + count, self._total)

    def at(self, done: int, total: int) -> None:
        """Say that `done` of `total` bytes are done."""
        self._done, self._total = done, total
        now = time.monotonic()
        if self._enabled and total >= SMALLEST and now - self._drawn >= _EVERY:
            self._drawn, self._visible = now, True
            line = draw(self._label, done=done, total=total, seconds=now - self._started)
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def draw(label: str, *, done: int, total: int, seconds: float) -> str:
    """Return one drawing of a bar. Pure."""
    share = min(done / total, 1.0) if total else 1.0
    full = int(share * _CELLS)
    rate = f"  {size(int(done / seconds))}/s" if seconds > 0 else ""
    return f"{label}  [{'#' * full}{'.' * (_CELLS - full)}] {share:4.0%}  {size(done)} of {size(total)}{rate}"


def size(count: int) -> str:
    """Spell a number of bytes in binary units."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:  # noqa: PLR2004 - what binary units are
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
