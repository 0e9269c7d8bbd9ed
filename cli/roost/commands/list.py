"""`roost list`: the drafters of a registry, or the versions of one."""

from collections.abc import Mapping
from typing import Any

import click

from roost import option_values
from roost.client import Client
from roost.failures import COULD_NOT_RUN, Failure
from roost.screen import Screen, takes_format
from roost.tables import table


@click.command(name="list")
@click.argument("name", required=False, callback=option_values.name)
@takes_format
def command(name: str | None, *, screen: Screen) -> None:
    """List drafters, or with NAME the versions of one."""
    client = Client.from_environment(refusal_exit=COULD_NOT_RUN)
    if name is None:
        _drafters(client, screen)
    else:
        _versions(client, name, screen)


def _drafters(client: Client, screen: Screen) -> None:
    items = list(client.items("/v1/drafters"))
    rows = [[item["name"], str(item["versions"]), _text(item["newest"]), _text(item["target"])] for item in items]
    empty = "No drafter is registered yet. `roost register DIR --name NAME --provenance provenance.json` adds one."
    text = table(["NAME", "VERSIONS", "NEWEST", "TARGET"], rows, paint=screen.paint) if rows else empty
    screen.result({"items": items}, text)


def _versions(client: Client, name: str, screen: Screen) -> None:
    items = list(client.items("/v1/checkpoints", name=name))
    if not items:
        raise Failure(f"no drafter is called {name}", hint="`roost list` shows all.")
    headings = ["REF", "TAPS", "TARGET", "WEIGHTS", "REGISTERED"]
    screen.result({"items": items}, table(headings, [_row(item) for item in items], paint=screen.paint))


def _row(item: Mapping[str, Any]) -> list[str]:
    depths = item["trained_depths"]
    return [
        item["ref"],
        "unknown" if depths is None else ", ".join(map(str, depths)),
        _text(item["target"]),
        short(item["weights_digest"]),
        item["created_at"][:19].replace("T", " "),
    ]


def _text(value: object) -> str:
    """Return a name, or the name in a small object that has one."""
    return str(value.get("name", value)) if isinstance(value, Mapping) else str(value)


def short(digest: str) -> str:
    """Return the first digits of a digest, with its algorithm."""
    algorithm, _, digits = digest.partition(":")
    return f"{algorithm}:{digits[:12]}"
