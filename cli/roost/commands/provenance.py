"""`roost provenance`: how a drafter was trained: written for the first time, corrected, shown."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roost import option_values, provenance_file
from roost.client import Client, in_path
from roost.draft_provenance import FACTS, Fact, NotOfItsKind, applies, compose, faults_in, lacking, value_of
from roost.failures import COULD_NOT_RUN, Misused, Refused
from roost.inputs import fault_lines, unreadable
from roost.problems import plain
from roost.render_verdict import spell
from roost.screen import Paint, Screen, takes_format
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
    said = _stated(options, out)
    seen = seen_in(inventory)
    if not yes and sys.stdin.isatty():
        _ask(said, seen, out)
    missing = lacking(said)
    if missing:
        raise Misused(
            "these facts are required and nothing states them: " + ", ".join(f"--{fact.option}" for fact in missing),
            hint="facts that nobody has cannot be made up: without them no verdict is possible.",
        )
    document = compose(said, seen)
    _require_sound(document, out)
    _write(out, document)
    screen.result(document, f"wrote {out}; next: roost register {directory} --name NAME --provenance {out}")


def _stated(options: Mapping[str, str | None], out: Path) -> dict[str, object]:
    """Return the facts that options state, all of them checked.

    Raises:
        Misused: a value cannot stand in a provenance document.
        Refused: the source is not a file beside it.
    """
    said: dict[str, object] = {}
    for fact in FACTS:
        text = options.get(fact.option.replace("-", "_"))
        if text is None:
            continue
        try:
            said[fact.option] = value_of(fact, text)
        except NotOfItsKind as error:
            raise Misused(f"--{fact.option} {error}") from None
    for fact, fault in faults_in(said):
        raise Misused(f"--{fact.option}: {fault}")
    if "verifier-norm" in said and "verifier-layer" in said and not isinstance(said["verifier-layer"], Mapping):
        raise Misused("--verifier-norm is of the state that --verifier-layer names, and that is separate")
    if "source" in said:
        provenance_file.source_beside(out, str(said["source"]), place=f"--source {said['source']!r}")
    return said


def _inspected(directory: Path) -> "Inventory":
    from registry.artifacts.directory import inspect  # noqa: PLC0415 - not for --help

    try:
        found = inspect(directory, hash_contents=False)
    except OSError as error:
        raise unreadable(directory, error) from None
    if found.inventory is None:
        raise Refused(f"{directory} cannot be used", details=fault_lines(found.faults))
    return found.inventory


def _sights(inventory: "Inventory") -> list[str]:
    """Say what the files show and no record can contradict; it helps to answer the questions."""
    config, fc = inventory.config, inventory.find("fc.weight")
    lines = [f"{len(inventory.tensors)} tensors, {_architecture(config.get('architectures'))}"]
    if fc is not None and len(fc.shape) == 2 and fc.shape[0] and fc.shape[1] % fc.shape[0] == 0:  # noqa: PLR2004 - a matrix
        taps, width, hidden = fc.shape[1] // fc.shape[0], fc.shape[1], fc.shape[0]
        lines.append(f"fc takes {taps} {'tap' if taps == 1 else 'taps'}: {width} inputs at hidden size {hidden}")
    return lines


def _architecture(names: object) -> str:
    named = ", ".join(map(str, names)) if isinstance(names, list) else ""
    return f"architecture {named}" if named else "no architecture in its config"


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


def _ask(said: dict[str, object], seen: Mapping[str, Any], out: Path) -> None:
    """Ask for every fact that neither options nor files give; an answer that cannot stand is asked for again."""
    for fact in FACTS:
        while fact.option not in said and fact.pointer[1:] not in _known(seen) and applies(fact, said):
            skip = "" if fact.required else " (empty: not known)"
            text = click.prompt(f"{fact.question}{skip}", default="", show_default=False, err=True).strip()
            if not text and not fact.required:
                break
            fault = _taken(fact, text, said, out)
            if fault:
                print(f"  {fault}", file=sys.stderr)


def _known(seen: Mapping[str, Any]) -> set[str]:
    return {key for key, value in seen.items() if value is not None}


def _taken(fact: Fact, text: str, said: dict[str, object], out: Path) -> str:
    """Put an answer to what was said; where it cannot stand, say why instead."""
    if not text:
        return "this has to be known: without it no verdict is possible"
    try:
        value = value_of(fact, text)
        if fact.option == "source":
            provenance_file.source_beside(out, text, place=repr(text))
    except (NotOfItsKind, Refused) as error:
        return str(error)
    faults = [fault for about, fault in faults_in({**said, fact.option: value}) if about == fact]
    if not faults:
        said[fact.option] = value
    return "; ".join(faults)


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
        raise unreadable(out, error) from None


@command.command(name="amend")
@click.argument("checkpoint", metavar="NAME@N", callback=option_values.checkpoint)
@click.option("--provenance", "path", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Corrected.")
@click.option(
    "--reason", required=True, callback=option_values.reason, help="Why the record changes; it stays in the history."
)
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
    for warning in found.get("warnings") or ():
        screen.warn(warning)
    done = "amended" if answer.status == _CREATED else "unchanged, these facts are on record:"
    head = f"{done} {found.get('ref', checkpoint)}, provenance revision {found.get('revision', '?')}"
    screen.result(answer.body, f"{head}; {_taps(found)}")


def _taps(amended: Mapping[str, Any]) -> str:
    taps = amended.get("trained_taps")
    return f"taps unknown: {amended.get('why_unknown')}" if taps is None else f"taps {spell(taps)}  (depths)"


@command.command(name="show")
@click.argument("checkpoint", metavar="NAME[@N]", callback=option_values.checkpoint)
@takes_format
def show(checkpoint: str, *, screen: Screen) -> None:
    """Show a checkpoint's provenance and its history.

    The newest revision as a whole, and what each revision changed. JSON holds every revision as a whole.
    """
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).get(f"/v1/provenance/{in_path(checkpoint)}")
    screen.result(answer.body, history(answer.json(), paint=screen.paint))


def history(found: Mapping[str, Any], *, paint: Paint) -> str:
    """Put the revisions of a checkpoint's provenance, oldest first, into words. Pure."""
    from registry.domain.differences import differences  # noqa: PLC0415 - not for --help

    lines, before = [paint(found["ref"], "bold")], found["revisions"][0]["document"]
    for entry in found["revisions"]:
        when = entry["created_at"][:19].replace("T", " ")
        lines.append(f"revision {entry['revision']}  {when}  {entry['actor']}: {entry['reason']}")
        lines += [
            f"  {one.pointer}: {plain(one.registered)} -> {plain(one.given)}"
            for one in differences(before, entry["document"])
        ]
        before = entry["document"]
    newest = found["revisions"][-1]
    whole = json.dumps(in_written_order(newest["document"]), indent=2, ensure_ascii=False)
    return "\n".join([*lines, "", f"as of revision {newest['revision']}:", whole])


def in_written_order(value: Any, place: tuple[str, ...] = ()) -> Any:
    """Return a part of a provenance document with its members in the order in which people write them."""
    if not isinstance(value, Mapping):
        return value
    below = (fact.place[len(place) :] for fact in FACTS if fact.place[: len(place)] == place)
    order = ["schema", "layer", *dict.fromkeys(way[0] for way in below if way)]
    keys = sorted(value, key=lambda key: (order.index(key) if key in order else len(order), key))
    return {key: in_written_order(value[key], (*place, key)) for key in keys}
