"""The one error of the embedded Postgres: what is wrong, where, and what to do."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from registry.domain.errors import Unavailable

_LOG_LINES = 12
"""Enough for one FATAL with its DETAIL, HINT and the lines that led to it."""


class EmbeddedPostgresError(Unavailable):
    """The embedded Postgres cannot be used."""


def log_tail(log: Path, *, since: int = 0) -> str:
    """Return the last lines of a server log, for an error message.

    Args:
        log: the log file; need not exist.
        since: offset in bytes where the attempt in question began.
    """
    try:
        with log.open("rb") as file:
            file.seek(since)
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-_LOG_LINES:])


@contextlib.contextmanager
def translated(data: Path) -> Iterator[None]:
    """Turn what the file system refuses into the error of this package: the caller needs no second kind.

    Raises:
        EmbeddedPostgresError: an OSError, with the file it is about.
    """
    try:
        yield
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise EmbeddedPostgresError(
            f"The embedded Postgres of {data} cannot be used: {place}{error.strerror or error}.",
            hint="Use a data folder that belongs to this user, on a disk with room.",
        ) from error
