"""`roost check`: what one engine build makes of a checkpoint, a config and launch options."""

from pathlib import Path
from typing import Any

import click

from roost import option_values
from roost.client import Client
from roost.engine_option import takes_engine
from roost.failures import PASSED, REFUSED
from roost.inputs import read_config
from roost.render_verdict import render
from roost.screen import Screen, takes_format


@click.command(name="check")
@click.argument("checkpoint", metavar="NAME[@N]", callback=option_values.checkpoint)
@takes_engine("The engine build, such as sglang==0.5.23.")
@click.option(
    "--draft-config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Judge this config instead of the one stored with the checkpoint.",
)
@click.option(
    "--target",
    metavar="NAME",
    callback=option_values.name,
    help="The target it is to run on; default: the one it was trained for.",
)
@click.option("--launch", metavar="'ARGS'", help="Launch options, or the whole command line, quoted as for a shell.")
@click.option("--runner", type=click.Choice(["v1", "v2"]), help="The model runner; default: the build's own.")
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@takes_format
def command(  # noqa: PLR0913 - one parameter per option
    checkpoint: str,
    engine: str,
    draft_config: Path | None,
    target: str | None,
    launch: str | None,
    runner: str | None,
    *,
    strict: bool,
    screen: Screen,
) -> int:
    """Judge a checkpoint and config on one engine build.

    Without --draft-config the config stored with the checkpoint is judged, as that build reads it. Nothing is stored.
    Exit codes: 0 pass or warn, 1 block or refused, 2 usage, 3 could not run.
    """
    option_values.require_launch(launch, engine)
    proposal: dict[str, Any] = {"schema": "roost.proposal/1", "checkpoint": checkpoint, "engine": engine}
    optional = {"target": target, "launch": launch, "runner": runner}
    proposal |= {name: value for name, value in optional.items() if value is not None}
    if draft_config is not None:
        proposal["draft_config"] = read_config(draft_config)
    answer = Client.from_environment().post("/v1/check", proposal)
    verdict = answer.json()
    screen.result(answer.body, render(verdict, checkpoint=checkpoint, paint=screen.paint, width=screen.width))
    return exit_code(verdict["decision"], strict=strict)


def exit_code(decision: str, *, strict: bool = False) -> int:
    """Return the exit code of a decision."""
    return REFUSED if decision == "block" or (strict and decision == "warn") else PASSED
