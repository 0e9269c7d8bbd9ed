"""Where texts come from: a set of paths and their contents, loaded only when asked for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Sources(Protocol):
    """The files of one engine build, by path relative to the folder that holds its package.

    Paths use forward slashes, such as `sglang/srt/models/llama.py`.
    """

    def paths(self) -> Iterable[str]:
        """Return every path, in any order; no text is loaded for this."""

    def text(self, path: str) -> str:
        """Return the text of one file.

        Raises:
            KeyError: there is no such file.
            ValueError: the file is no text, or larger than the reader takes.
        """


@dataclass(frozen=True, slots=True)
class HeldSources:
    """Sources that are held in memory already."""

    texts: Mapping[str, str]

    def paths(self) -> Iterable[str]:
        """Return every path."""
        return self.texts.keys()

    def text(self, path: str) -> str:
        """Return the text of one file.

        Raises:
            KeyError: there is no such file.
        """
        return self.texts[path]
