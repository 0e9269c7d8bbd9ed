"""Why a command ends without having done its work, and with which exit code. What users read is decided here."""

from collections.abc import Mapping, Sequence
from typing import Final

PASSED: Final = 0
"""Pass, or pass with warnings; the work is done."""
REFUSED: Final = 1
"""A verdict blocks, or what was asked is understood and refused."""
USAGE: Final = 2
"""The command line is not one that the command understands."""
COULD_NOT_RUN: Final = 3
"""No answer could be had: nothing listens, a file cannot be read, a name is not known."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C, as shells number it."""


class Failure(Exception):
    """The command could not do its work.

    Attributes:
        message: what is wrong and where, in a sentence or two.
        hint: what to do about it.
        details: further lines, one per fault.
        document: what `--format json` puts on stdout; None where there is nothing to say in JSON.
    """

    exit_code = COULD_NOT_RUN

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        details: Sequence[str] = (),
        document: Mapping[str, object] | None = None,
    ) -> None:
        self.message = message
        self.hint = hint
        self.details = tuple(details)
        self.document = document
        super().__init__(message)


class Refused(Failure):
    """What was asked is understood and not done: the file, record or config is not what it must be."""

    exit_code = REFUSED


class Misused(Failure):
    """The command line asks for something that makes no sense."""

    exit_code = USAGE
