"""The entry point: the table of commands, and the one place where failures become words and exit codes."""

import itertools
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from roost.failures import INTERRUPTED, PASSED, USAGE, Failure
from roost.lazy_group import Entry, LazyGroup
from roost.screen import Paint, colored, write_json

_RECORDS: Final = "Drafters and their facts"
_JUDGE: Final = "Judge and emit"
_SERVICE: Final = "The service"

_MOST_DETAILS: Final = 5
"""Lines of details that are printed of many."""

COMMANDS: Final[dict[str, Entry]] = {
    "target": Entry(module="roost.commands.target", summary="Add, list and show target models.", section=_RECORDS),
    "provenance": Entry(
        module="roost.commands.provenance",
        summary="Write, correct and show how a drafter was trained.",
        section=_RECORDS,
    ),
    "register": Entry(
        module="roost.commands.register", summary="Register a drafter directory with its provenance.", section=_RECORDS
    ),
    "list": Entry(module="roost.commands.list", summary="List drafters, or the versions of one.", section=_RECORDS),
    "show": Entry(
        module="roost.commands.show", summary="Show one checkpoint: tap ladder, training, files.", section=_RECORDS
    ),
    "check": Entry(
        module="roost.commands.check", summary="Judge a checkpoint and config on one engine build.", section=_JUDGE
    ),
    "matrix": Entry(
        module="roost.commands.matrix", summary="Judge a checkpoint and config on every known build.", section=_JUDGE
    ),
    "emit": Entry(module="roost.commands.emit", summary="Write the config that an engine build needs.", section=_JUDGE),
    "verify": Entry(
        module="roost.commands.verify", summary="Check an emitted directory against its lock, offline.", section=_JUDGE
    ),
    "preflight": Entry(
        module="roost.commands.preflight", summary="Verify and judge an emitted directory, offline.", section=_JUDGE
    ),
    "rule": Entry(
        module="roost.commands.rule", summary="Print a rule's manual page, or list the rules.", section=_JUDGE
    ),
    "engines": Entry(
        module="roost.commands.engines", summary="List, show, compare and add engine builds.", section=_JUDGE
    ),
    "up": Entry(module="roost.commands.up", summary="Start a registry with its own Postgres.", section=_SERVICE),
    "down": Entry(module="roost.commands.down", summary="Stop what `roost up` started.", section=_SERVICE),
    "serve": Entry(module="roost.commands.serve", summary="Serve the API on a Postgres of yours.", section=_SERVICE),
    "db": Entry(module="roost.commands.db", summary="Migrate a database, or show where it stands.", section=_SERVICE),
    "completion": Entry(
        module="roost.commands.completion", summary="Print a completion script for your shell.", section=_SERVICE
    ),
}
"""Every command, in the order of `roost --help`."""


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if not wanted:
        return
    from importlib.metadata import version  # noqa: PLC0415 - only --version pays for it

    print(f"roost {version('roost')}")
    context.exit()


cli = LazyGroup(
    name="roost",
    entries=COMMANDS,
    help="The registry for speculative-decoding drafters: what was trained, what an engine build reads, "
    "and whether the two agree.",
    epilog="ROOST_URL names the registry (default http://127.0.0.1:8750).  "
    "Exit codes: 0 pass, 1 blocked or refused, 2 usage, 3 could not run.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        )
    ],
    no_args_is_help=True,
)
"""The command `roost`."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit. No traceback reaches a user unless ROOST_DEBUG is set."""
    _open_missing_streams()
    _tolerate_narrow_encodings()
    code = run(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        ended = cli.main(args=list(arguments), prog_name="roost", standalone_mode=False)
    except click.ClickException as error:
        return _misused(error)
    except (click.Abort, KeyboardInterrupt):
        # A terminal has just echoed ^C.
        print("\ninterrupted" if sys.stderr.isatty() else "interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return PASSED
    except Failure as failure:
        return _tell(failure, as_json=_wants_json(arguments))
    except Exception as error:  # noqa: BLE001 - the last line of defense: users get a sentence, not a traceback
        return _tell(_unexpected(error), as_json=False)
    return ended if isinstance(ended, int) else PASSED


def _misused(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.ctx.get_help())
        return USAGE
    error.show()
    return error.exit_code


def _tell(failure: Failure, *, as_json: bool) -> int:
    if as_json and failure.document is not None:
        write_json(failure.document)
    paint = Paint(on=colored(sys.stderr))
    print(f"{paint('error', 'red', 'bold')}: {failure.message}", file=sys.stderr)
    for detail in _first_of(failure.details):
        print(f"  {detail}", file=sys.stderr)
    if failure.hint:
        print(f"{paint('hint', 'cyan', 'bold')}: {failure.hint}", file=sys.stderr)
    return failure.exit_code


def _first_of(details: Sequence[str]) -> Sequence[str]:
    """Return what fits on a screen: of many faults the first few tell enough, and JSON holds all of them."""
    rest = len(details) - _MOST_DETAILS
    return details if rest <= 1 else [*details[:_MOST_DETAILS], f"and {rest} more"]


def _unexpected(error: Exception) -> Failure:
    """Put an exception that no command foresaw into one line; errors of the registry's own code have good ones."""
    if os.environ.get("ROOST_DEBUG"):
        import traceback  # noqa: PLC0415 - debugging only

        traceback.print_exception(error)
    errors = sys.modules.get("registry.domain.errors")
    if errors is not None and isinstance(error, errors.RegistryError):
        place = f" (at {error.pointer})" if error.pointer else ""
        return Failure(f"{error.detail}{place}", hint=error.hint)
    if isinstance(error, OSError) and error.strerror:
        return Failure(f"{error.filename or 'the system'}: {error.strerror}")
    text = " ".join(str(error).split()) or "no message"
    return Failure(f"unexpected {type(error).__name__}: {text}", hint="ROOST_DEBUG=1 shows where it came from.")


def _wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether `--format json` was given; a failure may have come before the option was parsed."""
    pairs = itertools.pairwise(arguments)
    return "--format=json" in arguments or ("--format", "json") in pairs


def _open_missing_streams() -> None:
    """Stand in for streams that were closed by whoever started this: `roost list >&-` says nothing, and works."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - stays open to the end


def _tolerate_narrow_encodings() -> None:
    """Print a replacement where a terminal's encoding lacks a character, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")


def _drop_stdout() -> None:
    """Point stdout to nowhere: the reader has gone, and the interpreter's last flush must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
