"""`roost preflight`: the minimal hook before a launch: files against the lock, and the proposal judged, offline."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roost.commands import verify
from roost.commands.check import exit_code
from roost.engine_option import takes_engine
from roost.failures import REFUSED
from roost.inputs import fault_lines
from roost.option_values import build_of, require_launch
from roost.render_verdict import render
from roost.screen import Screen, takes_format

if TYPE_CHECKING:
    from registry.domain.proposal import RunnerName
    from registry.services.preflight import PreflightResult


@click.command(name="preflight")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@takes_engine("The engine build that is about to be launched.")
@click.option("--launch", metavar="'ARGS'", help="Its launch options or command line; default: what the lock holds.")
@click.option(
    "--runner", type=click.Choice(["v1", "v2"]), help="The model runner, where the launch line does not tell."
)
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@takes_format
def command(
    directory: Path, engine: str, launch: str | None, runner: "RunnerName | None", *, strict: bool, screen: Screen
) -> int:
    """Verify an emitted directory and judge it again, with no network.

    Without --launch, options, variables and runner of the lock are judged; with it, what the line says. Exit 1 when a
    file is not as the lock says, or when the verdict blocks.
    """
    from registry.services.preflight import preflight  # noqa: PLC0415 - not for --help
    from registry.services.profiles import ShippedProfiles  # noqa: PLC0415 - as above

    build = build_of(engine)
    require_launch(launch, engine)
    with verify.lock_faults_worded(directory):
        result = preflight(directory, build, launch, profiles=ShippedProfiles(), runner=runner)
    screen.result(_document(result), _told(result, directory, screen))
    return REFUSED if result.verdict is None else exit_code(result.verdict.decision, strict=strict)


def _document(result: "PreflightResult") -> dict[str, object]:
    verdict = None if result.verdict is None else _verdict_of(result)
    return {**verify.document(result.verification), "faults": fault_lines(result.faults), "verdict": verdict}


def _verdict_of(result: "PreflightResult") -> dict[str, object] | None:
    from registry.documents.verdict import verdict_bytes  # noqa: PLC0415 - not for --help

    if result.verdict is None:
        return None
    document: dict[str, object] = json.loads(verdict_bytes(result.verdict))
    return document


def _told(result: "PreflightResult", directory: Path, screen: Screen) -> str:
    parts = [verify.render(result.verification, directory, paint=screen.paint)]
    parts += fault_lines(result.faults)
    verdict = _verdict_of(result)
    if verdict is None:
        return "\n\n".join([*parts, "not judged: the files are not what the lock says"])
    checkpoint = str(result.verification.lock.checkpoint)
    return "\n\n".join([*parts, render(verdict, checkpoint=checkpoint, paint=screen.paint, width=screen.width)])
