"""Most that is read of any one source, and the errors of what goes beyond. Real engines stay far below each."""

from registry.artifacts.names import printable
from registry.domain.errors import Invalid, Refused

MIB = 1 << 20

FILE_CAP = 8 * MIB
"""Most bytes of one source file; the largest of any release seen has 0.4 MB."""

METADATA_CAP = 2 * MIB
"""Most bytes of one metadata file, such as METADATA or pyproject.toml."""

TOTAL_CAP = 256 * MIB
"""Most bytes of all relevant files together; real releases have 10 to 25 MB."""

FILES_CAP = 20_000
"""Most relevant files; real releases have 300 to 1,500."""

ENTRIES_CAP = 200_000
"""Most entries of an archive or a walked directory; real ones have 2,000 to 10,000."""

RATIO_CAP = 100
"""Most bytes out per byte in; source text reaches 11."""

RATIO_FREE = MIB
"""Bytes from which on the ratio counts: a short file of one repeated line is no bomb."""

_SHOWN = 120


def shown(name: str) -> str:
    """Return a name from an archive or a directory so that it can stand in a message."""
    return printable(name[:_SHOWN])


def invalid(source: str, observed: str, *, hint: str) -> Invalid:
    """Return the error for a source that is not what it must be."""
    return Invalid(f"{source}: {observed}.", hint=hint)


def refused(source: str, observed: str, *, hint: str) -> Refused:
    """Return the error for a source that is understood and not read."""
    return Refused(f"{source}: {observed}.", hint=hint)


class Budget:
    """Counts what is taken from one source and stops before it is too much."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._files = 0
        self._bytes = 0

    def take(self, name: str, size: int, *, cap: int = FILE_CAP) -> None:
        """Count one file of `size` bytes.

        Raises:
            Refused: it, or all files together, are more than any engine's source has.
        """
        self._files += 1
        self._bytes += size
        if size > cap:
            raise self._too_much(f"'{shown(name)}' has {size} bytes, more than the {cap} that are read of one file")
        if self._bytes > TOTAL_CAP:
            raise self._too_much(f"its relevant files have more than {TOTAL_CAP} bytes together")
        if self._files > FILES_CAP:
            raise self._too_much(f"it has more than {FILES_CAP} relevant files")

    def _too_much(self, observed: str) -> Refused:
        return refused(self._source, observed, hint="Check that this is an engine's source and nothing else.")
