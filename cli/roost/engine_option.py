"""The option `--engine E==V`, the same for every command that has it."""

from collections.abc import Callable
from typing import Any

import click


def takes_engine(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--engine` to a command, with `text` as its help; what is no build at all is a usage error."""
    return click.option("--engine", required=True, metavar="E==V", help=text, callback=_checked)


def _checked(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    engine, separator, version = value.partition("==")
    if not (engine and separator and version):
        raise click.BadParameter(f"{value!r} is not an engine build: expected ENGINE==VERSION, such as sglang==0.5.23")
    if version[:1] in {"v", "V"} and version[1:2].isdigit():
        raise click.BadParameter(f"{value!r}: versions are written without v; did you mean {engine}=={version[1:]}?")
    return value
