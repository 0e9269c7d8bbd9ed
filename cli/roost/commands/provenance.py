"""`roost provenance`: how a drafter was trained: written for the first time, corrected, shown."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roost import provenance_file
from roost.client import Client, in_path
from roost.draft_provenance import FACTS, compose, lacking, value_of
from roost.failures import COULD_NOT_RUN, Failure, Misused, Refused
from roost.inputs import fault_lines
from roost.screen import Screen, takes_format
from roost.uploads import send

if TYPE_CHECKING:
    from registry.domain.tensors import Inventory

_CREATED = 201


@click.group(name="provenance")
def command() -> None:
    """Write, correct and show how a drafter was trained."""


def _takes_facts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option per fact; they are handed over together as `facts`."""
    for fact in reversed(FACTS):
        text = fact.question + (" (required)." if fact.required else ".")
        function = click.option(f"--{fact.option}", metavar="VALUE", help=text)(function)
    return function


@command.command(name="init")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default="provenance.json", show_default=True, metavar="FILE")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--yes", is_flag=True, help="Ask nothing: facts that no option states are left out.")
@_takes_facts
@takes_format
def init(directory: Path, out: Path, *, force: bool, yes: bool, screen: Screen, **options: str | None) -> None:
    """Write provenance.json for the drafter in DIR.

    Fills in what the files show and asks for the rest. A fact that nobody has is left out: an empty answer skips it.
    """
    if (out.exists() or out.is_symlink()) and not force:
        raise Refused(f"{out} is there already", hint="--force replaces it, --out writes another file.")
    inventory = _inspected(directory)
    for line in _sights(inventory):
        screen.note(line)
    said = {
        fact.option: value_of(fact, text)
        for fact in FACTS
        if (text := options.get(fact.option.replace("-", "_"))) is not None
    }
    if not yes and sys.stdin.isatty():
        _ask(said)
    missing = lacking(said)
    if missing:
        raise Misused(
            "these facts are required and nothing states them: " + ", ".join(f"--{fact.option}" for fact in missing),
            hint="facts that nobody has cannot be made up: without them no verdict is possible.",
        )
    document = compose(said, seen_in(inventory))
    _require_sound(document, out)
    _write(out, document)
    screen.result(document, f"wrote {out}; next: roost register {directory} --name NAME --provenance {out}")


def _inspected(directory: Path) -> "Inventory":
    from registry.artifacts.directory import inspect  # noqa: PLC0415 - not for --help

    try:
        found = inspect(directory, hash_contents=False)
    except OSError as error:
        raise Failure(f"{directory}: {(error.strerror or str(error)).lower()}") from None
    if found.inventory is None:
        raise Refused(f"{directory} cannot be used", details=fault_lines(found.faults))
    return found.inventory


def _sights(inventory: "Inventory") -> list[str]:
    """Say what the files show and no record can contradict; it helps to answer the questions."""
    config, fc = inventory.config, inventory.tensor("fc.weight")
    lines = [f"{len(inventory.tensors)} tensors, architecture {config.get('architectures')}"]
    if fc is not None and len(fc.shape) == 2 and fc.shape[0] and fc.shape[1] % fc.shape[0] == 0:  # noqa: PLR2004 - a matrix
        lines.append(
            f"fc has {fc.shape[1] // fc.shape[0]} taps: its width is {fc.shape[1]}, the hidden size {fc.shape[0]}"
        )
    return lines


def seen_in(inventory: "Inventory") -> dict[str, Any]:
    """Return the members of a provenance document that the files show, and how well they show them."""
    from registry.domain.semantics import seen_in_tensors  # noqa: PLC0415 - not for --help

    semantics = seen_in_tensors(frozenset(tensor.name for tensor in inventory.tensors))
    members = ("norm_before_fc", "fc_norm", "embedding", "head")
    shown = {name: value for name in members if (value := getattr(semantics, name)) is not None}
    return {
        "tokenizer_digest": inventory.tokenizer_digest,
        "chat_template_digest": inventory.chat_template_digest,
        "semantics": shown or None,
        "grades": {f"/semantics/{name}": "measured" for name in shown} or None,
    }


def _ask(said: dict[str, object]) -> None:
    for fact in FACTS:
        while fact.option not in said:
            skip = "" if fact.required else " (empty: not known)"
            text = click.prompt(f"{fact.question}{skip}", default="", show_default=False, err=True).strip()
            if not text:
                if fact.required:
                    continue
                break
            try:
                said[fact.option] = value_of(fact, text)
            except Misused as failure:
                print(failure.message, file=sys.stderr)


def _require_sound(document: Mapping[str, object], out: Path) -> None:
    from registry.documents.validation import validated  # noqa: PLC0415 - jsonschema, not for --help
    from registry.domain.errors import Invalid  # noqa: PLC0415 - as above

    try:
        validated("provenance", document)
    except Invalid as error:
        raise provenance_file.refused_document(out, error) from None


def _write(out: Path, document: Mapping[str, object]) -> None:
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(out)
    except OSError as error:
        raise Failure(f"{out}: {(error.strerror or str(error)).lower()}") from None


@command.command(name="amend")
@click.argument("checkpoint", metavar="NAME@N")
@click.option("--provenance", "path", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Corrected.")
@click.option("--reason", required=True, help="Why the record changes; it stays in the history.")
@takes_format
def amend(checkpoint: str, path: Path, reason: str, *, screen: Screen) -> None:
    """Append a corrected revision to a checkpoint's provenance.

    Earlier revisions stay. Verdicts that were stored before become stale.
    """
    corrected = provenance_file.read(path)
    client = Client.from_environment()
    send(client, corrected.sources, screen=screen)
    document: dict[str, object] = {
        "provenance": corrected.document,
        "reason": reason,
        "sources": [source.entry for source in corrected.sources],
    }
    answer = client.post(f"/v1/provenance/{in_path(checkpoint)}", document)
    found = answer.json()
    done = "amended" if answer.status == _CREATED else "unchanged, these facts are on record:"
    screen.result(
        answer.body, f"{done} {found.get('ref', checkpoint)}, provenance revision {found.get('revision', '?')}"
    )


@command.command(name="show")
@click.argument("checkpoint", metavar="NAME[@N]")
@takes_format
def show(checkpoint: str, *, screen: Screen) -> None:
    """Show every revision of a checkpoint's provenance, oldest first."""
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).get(f"/v1/provenance/{in_path(checkpoint)}")
    found = answer.json()
    parts = [screen.paint(found["ref"], "bold")]
    for entry in found["revisions"]:
        when = entry["created_at"][:19].replace("T", " ")
        head = f"revision {entry['revision']}  {when}  {entry['actor']}: {entry['reason']}"
        parts.append(f"{head}\n{json.dumps(entry['document'], indent=2, ensure_ascii=False)}")
    screen.result(answer.body, "\n\n".join(parts))
