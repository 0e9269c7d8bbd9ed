"""`roost engines`: the engine builds that a registry knows."""

import json
from collections.abc import Mapping
from typing import Any

import click

from roost.client import Client, in_path
from roost.failures import COULD_NOT_RUN
from roost.screen import Screen, takes_format
from roost.tables import facts, table


@click.group(name="engines")
def command() -> None:
    """List and show known engine builds."""


@command.command(name="list")
@takes_format
def list_engines(*, screen: Screen) -> None:
    """List every engine build that a profile is shipped for."""
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).get("/v1/engines")
    items = answer.json()["items"]
    headings = ["ENGINE", "VERSION", "KIND", "TARGETS", "PROFILE"]
    screen.result(answer.body, table(headings, [_row(item) for item in items], paint=screen.paint))


@command.command(name="show")
@click.argument("build", metavar="E==V")
@takes_format
def show_engine(build: str, *, screen: Screen) -> None:
    """Show what one engine build does, as data."""
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).get(f"/v1/engines/{in_path(build)}")
    screen.result(answer.body, _described(answer.json()))


def _row(item: Mapping[str, Any]) -> list[str]:
    upstream = f"fork of {item['upstream']}" if item["upstream"] else "release"
    return [item["engine"], item["version"], upstream, str(item["targets"]), str(item["profile"])]


def _described(profile: Mapping[str, Any]) -> str:
    """Return single facts a line each, and say how much there is of the others."""
    pairs = [(key, _brief(value)) for key, value in profile.items()]
    return facts(pairs, indent="") + "\n\n`--format json` gives the whole document."


def _brief(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{len(value)} entries"
    if isinstance(value, list):
        short = json.dumps(value, ensure_ascii=False)
        return short if len(short) <= 80 else f"{len(value)} entries"  # noqa: PLR2004 - what fits on a line
    return str(value) if isinstance(value, str) else json.dumps(value)
