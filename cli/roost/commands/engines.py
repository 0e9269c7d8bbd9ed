"""`roost engines`: the engine builds that a registry knows."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from roost.client import Client, in_path
from roost.commands.engines_scan import command as scan_engine
from roost.engine_profile_file import read_profile
from roost.failures import COULD_NOT_RUN
from roost.render_engine_diff import render as render_diff
from roost.screen import Screen, takes_format
from roost.tables import facts, table

_CREATED = 201
_LONGEST = 80
"""Characters that fit on a line."""


@click.group(name="engines")
def command() -> None:
    """List, show, compare, scan and add engine builds."""


command.add_command(scan_engine)


@command.command(name="list")
@takes_format
def list_engines(*, screen: Screen) -> None:
    """List every engine build that has a profile.

    Shipped, added by somebody, or scanned on a node.
    """
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).get("/v1/engines")
    items = answer.json()["items"]
    headings = ["ENGINE", "VERSION", "KIND", "ORIGIN", "TARGETS", "PROFILE"]
    screen.result(answer.body, table(headings, [_row(item) for item in items], paint=screen.paint))


@command.command(name="show")
@click.argument("build", metavar="E==V")
@click.option("--revisions", is_flag=True, help="Show who changed what in its profile, and why, instead.")
@takes_format
def show_engine(build: str, *, revisions: bool, screen: Screen) -> None:
    """Show what one engine build does, as data."""
    client = Client.from_environment(refusal_exit=COULD_NOT_RUN)
    if revisions:
        answer = client.get(f"/v1/engine-revisions/{in_path(build)}")
        entries = answer.json()["revisions"]
        screen.result(answer.body, "\n\n".join(_revision(entry, screen=screen) for entry in entries))
        return
    answer = client.get(f"/v1/engines/{in_path(build)}")
    screen.result(answer.body, _described(answer.json()))


@command.command(name="add")
@click.argument("profile", metavar="PROFILE.json", type=click.Path(path_type=Path))
@click.option("--reason", required=True, metavar="TEXT", help="Why: what was wrong, or where the profile comes from.")
@takes_format
def add_engine(profile: Path, reason: str, *, screen: Screen) -> None:
    """Add the profile of an engine build, or a corrected one.

    A build that has a profile gets another revision of it, which counts from then on; earlier ones stay. The same
    facts again change nothing. `roost engines show BUILD --format json` gives a profile to start from.
    """
    document = {"schema": "roost.engine-profile-addition/1", "profile": read_profile(profile), "reason": reason}
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).post("/v1/engines", document)
    entry = answer.json()
    done = "added" if answer.status == _CREATED else "unchanged, these facts are known:"
    screen.result(answer.body, f"{done} {entry['build']}, {_revision(entry, screen=screen)}")


@command.command(name="diff")
@click.argument("before", metavar="E==V")
@click.argument("after", metavar="E==V")
@click.option("--checkpoints", is_flag=True, help="Say what the change asks of every registered checkpoint, too.")
@takes_format
def diff_engines(before: str, after: str, *, checkpoints: bool, screen: Screen) -> None:
    """Compare two engine builds: what an upgrade changes, fact by fact.

    With --checkpoints every registered checkpoint is judged on both, with the config that serves it on the first.
    """
    client = Client.from_environment(refusal_exit=COULD_NOT_RUN)
    asked = {"from": before, "to": after, "checkpoints": "true" if checkpoints else None}
    answer = client.get("/v1/engine-diff", **asked)
    diff, pages = answer.json(), 1
    while diff["checkpoints"] and diff["checkpoints"]["next"]:
        following = client.get("/v1/engine-diff", **asked, after=diff["checkpoints"]["next"]).json()["checkpoints"]
        diff["checkpoints"] = {**following, "items": [*diff["checkpoints"]["items"], *following["items"]]}
        pages += 1
    text = render_diff(diff, paint=screen.paint, width=screen.width)
    screen.result(answer.body if pages == 1 else diff, text)


def _row(item: Mapping[str, Any]) -> list[str]:
    upstream = f"fork of {item['upstream']}" if item["upstream"] else "release"
    return [item["engine"], item["version"], upstream, item["origin"], str(item["targets"]), str(item["profile"])]


def _described(profile: Mapping[str, Any]) -> str:
    """Return single facts a line each, and say how much there is of the others."""
    pairs = [(key, _brief(value)) for key, value in profile.items()]
    return facts(pairs, indent="") + "\n\n`--format json` gives the whole document."


def _brief(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{len(value)} entries"
    if isinstance(value, list):
        short = json.dumps(value, ensure_ascii=False)
        return short if len(short) <= _LONGEST else f"{len(value)} entries"
    return str(value) if isinstance(value, str) else json.dumps(value)


def _revision(entry: Mapping[str, Any], *, screen: Screen) -> str:
    """Return a revision: what it is, who added it and why, and what it changed, a line each."""
    counts = "" if entry["in_force"] else ", not in force"
    head = screen.paint(f"revision {entry['revision']}", "bold") + f" ({entry['origin']}{counts})"
    if entry["actor"]:
        head += f"  {entry['created_at'][:19].replace('T', ' ')}  {entry['actor']}: {entry['reason']}"
    return "\n".join([head, *_changes(entry)])


def _changes(entry: Mapping[str, Any]) -> Iterator[str]:
    for change in entry["changes"]:
        yield f"  {change['pointer']}: {_side(change['before'])} -> {_side(change['after'])}"


def _side(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
