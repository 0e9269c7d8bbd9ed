"""`roost engines scan`: an engine's sources in, its profile out. Offline; nothing of the engine is imported or run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roost.screen import Screen, takes_format
from roost.tables import facts

if TYPE_CHECKING:
    from registry.services.scanning import Scanned

_MOST_SHOWN = 8


@click.command(name="scan")
@click.argument("source", required=False, metavar="WHEEL|SDIST|DIR", type=click.Path(path_type=Path))
@click.option(
    "--python", type=click.Path(path_type=Path), help="Scan the engine installed for this interpreter instead."
)
@click.option("--as", "version", metavar="VERSION", help="Call the build this, such as 0.5.9+mine for a fork.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the profile to this file.")
@takes_format
def command(source: Path | None, python: Path | None, version: str | None, out: Path | None, *, screen: Screen) -> None:
    """Read an engine's source text and show its profile.

    What cannot be established is unresolved in the profile and listed with file and line; a proposal that needs it is
    then blocked as unknown. SGLang only so far. `roost engines add FILE` makes a registry judge with it.
    """
    from registry.artifacts.engine_sources import installed_sources, open_sources  # noqa: PLC0415  # heavy, needed here only
    from registry.services.scanning import scan  # noqa: PLC0415

    if (source is None) == (python is None):
        raise click.UsageError("name either WHEEL|SDIST|DIR or --python PATH")
    with open_sources(source) if source is not None else installed_sources(python or Path()) as sources:
        scanned = scan(sources, version=version)
    if out is not None:
        out.write_text(json.dumps(scanned.document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    screen.result(dict(scanned.document), _described(scanned, out))


def _described(scanned: "Scanned", out: Path | None) -> str:
    supported = sum(entry.supported for entry in scanned.profile.targets.values())
    pairs = [
        ("build", scanned.profile.build),
        ("from", scanned.origin),
        ("sources", scanned.source_digest),
        ("targets", f"{len(scanned.profile.targets)} classes, {supported} serve EAGLE-3"),
        ("drafts", ", ".join(name for draft in scanned.profile.drafts for name in draft.architectures)),
        ("graphs", "ids hold" if scanned.profile.graphs.ids_hold else "decode graphs keep the default"),
        ("unresolved", str(len(scanned.unresolved))),
    ]
    lines = [f"  {entry.file}:{entry.line}  {entry.about}: {entry.what}" for entry in scanned.unresolved[:_MOST_SHOWN]]
    if len(scanned.unresolved) > _MOST_SHOWN:
        lines.append(f"  and {len(scanned.unresolved) - _MOST_SHOWN} more")
    written = [f"written to {out}"] if out else []
    return "\n".join([facts(pairs, indent=""), *lines, *written])
