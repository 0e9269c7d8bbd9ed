"""Where output goes: results on stdout, everything else on stderr, in the format that the caller asked for.

JSON stands alone on stdout and is written as the bytes it came in. `quiet` leaves the exit code and errors only.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TextIO, TypeVar

import click

Format = Literal["human", "json", "quiet"]
FORMATS: Final[tuple[Format, ...]] = ("human", "json", "quiet")

_WIDEST: Final = 100
"""Prose wider than this is hard to read, however wide the terminal."""

_CODES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """Colors, or none."""

    on: bool = False

    def __call__(self, text: str, *styles: str) -> str:
        """Return `text` in `styles` (`bold`, `dim`, `red`, `green`, `yellow`, `cyan`), plain when colors are off."""
        if not self.on or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The two streams of one command."""

    format: Format = "human"

    @property
    def paint(self) -> Paint:
        """Colors for stdout."""
        return Paint(on=colored(sys.stdout))

    @property
    def width(self) -> int:
        """Columns that prose may take."""
        return max(40, min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST))

    def result(self, document: bytes | Mapping[str, object] | Sequence[object], text: str) -> None:
        """Write a result: `text` for people, `document` as JSON, nothing when quiet."""
        if self.format == "json":
            write_json(document)
        elif self.format == "human":
            print(text)

    def note(self, text: str) -> None:
        """Say on stderr what is going on."""
        if self.format != "quiet":
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """Say on stderr what deserves attention."""
        if self.format != "quiet":
            paint = Paint(on=colored(sys.stderr))
            print(f"{paint('warning', 'yellow', 'bold')}: {text}", file=sys.stderr, flush=True)


def write_json(document: bytes | Mapping[str, object] | Sequence[object]) -> None:
    """Write `document` to stdout: bytes exactly as they are, anything else indented.

    A line end is added for terminals only where the bytes are somebody else's: they are compared and digested.
    """
    if isinstance(document, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(document + (b"\n" if sys.stdout.isatty() else b""))
        sys.stdout.buffer.flush()
    else:
        print(json.dumps(document, indent=2, ensure_ascii=False))


def colored(stream: TextIO) -> bool:
    """Tell whether `stream` takes colors: a terminal that is not dumb, and NO_COLOR unset or empty."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def takes_format(command: Command) -> Command:
    """Add `--format` to a command; it is handed a `Screen` as `screen`."""
    return click.option(
        "--format",
        "screen",
        type=click.Choice(FORMATS),
        default="human",
        show_default=True,
        callback=lambda _context, _parameter, chosen: Screen(format=chosen),
        help="JSON stands alone on stdout; quiet leaves the exit code and errors.",
    )(command)
