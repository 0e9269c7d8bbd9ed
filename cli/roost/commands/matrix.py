"""`roost matrix`: a checkpoint and config on every known engine build, and what each of them needs."""

from pathlib import Path
from typing import Any

import click

from roost.client import Client
from roost.failures import COULD_NOT_RUN
from roost.inputs import read_config
from roost.render_matrix import render
from roost.screen import Screen, takes_format


@click.command(name="matrix")
@click.argument("checkpoint", metavar="NAME[@N]")
@click.option("--engine", metavar="NAME", help="Only builds of this engine, such as sglang; default: of every engine.")
@click.option(
    "--draft-config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Judge this config instead of the one stored with the checkpoint.",
)
@click.option("--target", metavar="NAME", help="The target it is to run on; default: the one it was trained for.")
@click.option("--launch", metavar="'ARGS'", help="Launch options, quoted as for a shell.")
@click.option("--runner", type=click.Choice(["v1", "v2"]), help="The model runner; default: each build's own.")
@takes_format
def command(
    checkpoint: str,
    engine: str | None,
    draft_config: Path | None,
    target: str | None,
    launch: str | None,
    runner: str | None,
    *,
    screen: Screen,
) -> None:
    """Judge a checkpoint and config on every known engine build.

    Neighboring releases that take the same are one row; forks stand below. Nothing is stored. `roost check` tells the
    reasons for one build.
    """
    if engine is not None and "==" in engine:
        raise click.BadParameter(
            f"{engine!r} is one build: give the engine's name alone, or ask `roost check`", param_hint="--engine"
        )
    request: dict[str, Any] = {"schema": "roost.matrix-request/1", "checkpoint": checkpoint}
    optional = {"engine": engine, "target": target, "launch": launch, "runner": runner}
    request |= {name: value for name, value in optional.items() if value is not None}
    if draft_config is not None:
        request["draft_config"] = read_config(draft_config)
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).post("/v1/matrix", request)
    screen.result(answer.body, render(answer.json(), paint=screen.paint, width=screen.width))
