"""`roost emit`: the files that one engine build needs, written into a directory."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from roost import emitted, option_values
from roost.client import Client
from roost.engine_option import takes_engine
from roost.failures import Refused
from roost.launch_line import launch_line
from roost.problems import ProblemFailure
from roost.progress import size
from roost.render_verdict import headline, spell, taps_of
from roost.render_verdict import render as render_verdict
from roost.screen import Paint, Screen, takes_format
from roost.tables import facts


@click.command(name="emit")
@click.argument("checkpoint", metavar="NAME[@N]", callback=option_values.checkpoint)
@takes_engine("The engine build, such as vllm==0.33.0.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Absent, empty, or holding this emission.",
)
@click.option(
    "--target",
    metavar="NAME",
    callback=option_values.name,
    help="The target it is to run on; default: the one it was trained for.",
)
@click.option("--runner", type=click.Choice(["v1", "v2"]), help="The model runner; default: the build's own.")
@takes_format
def command(checkpoint: str, engine: str, out: Path, target: str | None, runner: str | None, *, screen: Screen) -> None:
    """Write the config, launch options, weights and lock that an engine build needs.

    Before it is written, every emission is read back as that build reads it and must give the trained taps. Where that
    cannot be had, nothing is written and the verdict says why.
    """
    emitted.require_usable(out)
    client = Client.from_environment()
    emission = _asked(client, checkpoint, engine=engine, target=target, runner=runner, screen=screen)
    emitted.write(client, emission, out, screen=screen)
    costs = json.loads((out / emitted.LOCK).read_bytes())["option_costs"]
    directory = out.absolute()
    line = launch_line(
        engine=emission["engine"].partition("==")[0],
        target=emission["target"],
        options=emission["options"],
        environment=emission.get("environment") or {},
    )
    document = {**emission, "directory": str(directory), "launch_line": line}
    screen.result(document, render(document, costs=costs, paint=screen.paint, width=screen.width))


def _asked(
    client: Client, checkpoint: str, *, engine: str, target: str | None, runner: str | None, screen: Screen
) -> dict[str, Any]:
    request: dict[str, object] = {"schema": "roost.emission-request/1", "checkpoint": checkpoint, "engine": engine}
    request |= {key: value for key, value in (("target", target), ("runner", runner)) if value is not None}
    try:
        answer: dict[str, Any] = client.post("/v1/emissions", request).json()
    except ProblemFailure as failure:
        verdict = failure.problem.get("verdict")
        if verdict is None:
            raise
        if screen.format == "human":
            print(render_verdict(verdict, checkpoint=checkpoint, paint=screen.paint, width=screen.width))
        # The verdict has just been shown: its headline is not said twice.
        shown = screen.format == "human" and verdict["headline"] in failure.message
        message = f"nothing is emitted for {engine}: the verdict blocks" if shown else failure.message
        raise Refused(message, hint=failure.hint, document=failure.problem) from None
    return answer


def render(document: Mapping[str, Any], *, costs: list[dict[str, str]], paint: Paint, width: int) -> str:
    """Put a finished emission into words. Pure."""
    verdict = document["verdict"]
    runner = f" (runner {document['runner']})" if document.get("runner") else ""
    pairs = [
        ("for", f"{document['engine']}{runner}"),
        ("target", document["target"]),
        ("verdict", verdict["decision"]),
        ("taps", f"prefill {spell(taps_of(verdict, 'prefill'))}; decode {spell(taps_of(verdict, 'decode'))}"),
        ("lock", document["lock_digest"]),
    ]
    parts = [f"emitted {paint(document['checkpoint'], 'bold')} into {document['directory']}\n{facts(pairs)}"]
    parts.append(headline(verdict, width=width, indent="  "))
    longest = max(len(file["name"]) for file in document["files"])
    parts.append("\n".join(f"  {file['name']:<{longest}}  {size(file['size'])}" for file in document["files"]))
    parts += [f"{paint('note', 'yellow', 'bold')}: {cost['option']} is needed: {cost['cost']}" for cost in costs]
    here = "start it from inside that directory, wherever it lies by then"
    parts.append(f"{paint(here, 'bold')}\n  {document['launch_line']}")
    return "\n\n".join(parts)
