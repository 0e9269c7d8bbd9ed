"""What is typed on the command line, checked before anything is asked of the registry, in the words of the options.

Whatever is wrong here is a usage error: exit 2, and nothing was read, sent or stored.
"""

import re
from typing import TYPE_CHECKING, Final

import click

from roost.failures import Misused

if TYPE_CHECKING:
    from registry.domain.proposal import Build

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*(@[1-9][0-9]{0,8})?")
_LONGEST_PLAIN: Final = 200
_WEIGHTS: Final = "blake3:"
_LONGEST_REASON: Final = 500
_COMMIT_DIGITS: Final = 40


def checkpoint(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check NAME, NAME@N or a weights digest."""
    if _plainly_fine(value):
        return value
    from registry.domain.digests import parse  # noqa: PLC0415 - only to word what is wrong
    from registry.domain.errors import Invalid  # noqa: PLC0415 - as above
    from registry.domain.refs import parse_ref  # noqa: PLC0415 - as above

    try:
        if value.startswith(_WEIGHTS):
            parse(value)
        else:
            parse_ref(value)
    except (Invalid, ValueError) as error:
        raise click.BadParameter(str(error)) from None
    return value


def name(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Check the name of a drafter or target."""
    if value is None or ("@" not in value and _plainly_fine(value)):
        return value
    from registry.domain.errors import Invalid  # noqa: PLC0415 - only to word what is wrong
    from registry.domain.refs import parse_name  # noqa: PLC0415 - as above

    try:
        return parse_name(value)
    except Invalid as error:
        raise click.BadParameter(str(error)) from None


def _plainly_fine(text: str) -> bool:
    """Tell at a glance, without an import, that `text` is a reference; where it is not plain, the registry's code says.

    Commands that only ask import nothing of the registry: people wait for them.
    """
    return len(text) <= _LONGEST_PLAIN and _PLAIN.fullmatch(text) is not None


def reason(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check a reason: one line of text that is not blank."""
    if not value.strip():
        raise click.BadParameter("it is empty: say why the record changes")
    if not value.isprintable():
        raise click.BadParameter("it is not one line of printable text")
    if len(value) > _LONGEST_REASON:
        raise click.BadParameter(f"it has {len(value)} characters, at most {_LONGEST_REASON} are kept")
    return value


def revision(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Check a revision: a commit, or a tag without spaces."""
    if value is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,127}", value):
        raise click.BadParameter(f"{value!r} is not a revision: expected a commit, or a tag without spaces")
    return value


def is_commit(value: str) -> bool:
    """Tell whether `value` is a whole commit, which never means anything else later."""
    return len(value) >= _COMMIT_DIGITS and all(digit in "0123456789abcdef" for digit in value.lower())


def build_of(text: str) -> "Build":
    """Return the engine build that `--engine` names.

    Raises:
        Misused: it names none.
    """
    from registry.domain.proposal import parse_build  # noqa: PLC0415 - not for --help

    try:
        return parse_build(text)
    except ValueError as error:
        raise Misused(f"--engine: {error}") from None


def require_launch(text: str | None, engine: str) -> None:
    """Check that `--launch` can be read as the one command that starts `engine`.

    Raises:
        Misused: it cannot.
    """
    if text is None:
        return
    from registry.domain.errors import Invalid  # noqa: PLC0415 - only where there is a line
    from registry.engines.launch import parse_launch  # noqa: PLC0415 - as above

    try:
        parse_launch(text, build_of(engine).engine)
    except Invalid as error:
        raise Misused(f"--launch: {error.detail}", hint=error.hint) from None
