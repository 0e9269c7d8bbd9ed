"""`EngineSources`: the relevant source text of one engine build, wherever it lies."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from registry.artifacts.engine_sources import selection
from registry.artifacts.engine_sources.limits import invalid, shown
from registry.artifacts.engine_sources.selection import EngineName
from registry.domain.errors import NotFound

_HEADER = f"roost engine sources {selection.REVISION}\n"


def digest_of(files: Mapping[str, str]) -> str:
    """Return the digest of relevant files from the SHA-256 (hex) of each, by path.

    The digested text is a header line with the table's revision, then one line `SHA256  PATH` per file, sorted by path.
    """
    lines = "".join(f"{sha256}  {path}\n" for path, sha256 in sorted(files.items()))
    return f"sha256:{hashlib.sha256((_HEADER + lines).encode()).hexdigest()}"


def _nothing_to_close() -> None:
    """Release nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSources:
    """The relevant files of one engine build, read on demand. A context manager; safe to use from several threads.

    Attributes:
        engine: which engine it is.
        version: what the source's own metadata says, local part included; None where no text says it, as in a
            checkout whose version comes from git tags.
        origin: where it was read, in words and without an absolute path.
        digest: `sha256:` over the relevant files' paths and bytes; equal for a wheel, an sdist and a tree of equal
            files.
        files: SHA-256 (hex) of each relevant file, by its path from the package folder on.
    """

    engine: EngineName
    version: str | None
    origin: str
    digest: str
    files: Mapping[str, str]
    _read: Callable[[str], bytes] = field(repr=False, compare=False)
    _close: Callable[[], None] = field(default=_nothing_to_close, repr=False, compare=False)

    def paths(self) -> tuple[str, ...]:
        """Return the relevant paths, sorted: `sglang/srt/models/llama.py`."""
        return tuple(sorted(self.files))

    def data(self, path: str) -> bytes:
        """Return the bytes of one file: those that were digested, or an error.

        Raises:
            NotFound: `path` is not among `paths()`.
            Invalid: the file changed since it was digested, or can no longer be read.
        """
        if path not in self.files:
            raise NotFound(f"{self.origin}: there is no relevant file '{shown(path)}'.")
        data = self._read(path)
        if hashlib.sha256(data).hexdigest() != self.files[path]:
            raise invalid(
                self.origin, f"'{shown(path)}' changed while it was scanned", hint="Scan again when nothing writes it."
            )
        return data

    def text(self, path: str) -> str:
        """Return one file as text; a byte order mark is dropped.

        Raises:
            NotFound: `path` is not among `paths()`.
            Invalid: it is not UTF-8, or what `data` raises.
        """
        try:
            return self.data(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise invalid(
                self.origin,
                f"'{shown(path)}' is not UTF-8 (byte {error.start})",
                hint="Convert the file to UTF-8, as Python source is by default.",
            ) from None

    def close(self) -> None:
        """Release what is held open; reading afterwards is not possible."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
