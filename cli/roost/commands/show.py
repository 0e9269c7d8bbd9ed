"""`roost show`: one checkpoint for people: tap ladder, how it was trained, its files."""

from collections.abc import Mapping
from typing import Any

import click

from roost import ladder, option_values
from roost.client import Client, in_path
from roost.failures import COULD_NOT_RUN
from roost.progress import size
from roost.screen import Paint, Screen, takes_format
from roost.tables import facts, table


@click.command(name="show")
@click.argument("checkpoint", metavar="NAME[@N]", callback=option_values.checkpoint)
@takes_format
def command(checkpoint: str, *, screen: Screen) -> None:
    """Show one checkpoint: tap ladder, training, files.

    NAME alone is the newest version; a weights digest (blake3:...) is understood too.
    """
    answer = Client.from_environment(refusal_exit=COULD_NOT_RUN).get(f"/v1/checkpoints/{in_path(checkpoint)}")
    screen.result(answer.body, render(answer.json(), paint=screen.paint))


def render(document: Mapping[str, Any], *, paint: Paint) -> str:
    """Put a `roost.checkpoint/1` document into words. Pure."""
    parts = [_head(document, paint=paint), _ladder(document, paint=paint)]
    provenance = document.get("provenance") or {}
    if provenance:
        parts.append(_section("training", facts(training_facts(provenance)), paint=paint))
    rows = [[f"  {file['name']}", size(file["size"]), file["sha256"]] for file in document["files"]]
    parts.append(table(["files", "size", "sha256"], rows, paint=paint))
    if document.get("linked"):
        parts.append(f"the same weights: {', '.join(document['linked'])}")
    parts += [f"{paint('warning', 'yellow', 'bold')}: {text}" for text in document.get("warnings") or ()]
    return "\n\n".join(parts)


def _head(document: Mapping[str, Any], *, paint: Paint) -> str:
    revision = document.get("target_revision")
    target = document["target"] + (f" at {revision[:12]}" if revision else "")
    registered = str(document.get("created_at") or "")[:19].replace("T", " ")
    pairs = [
        ("target", target),
        ("weights", document["weights_digest"]),
        ("tensors", document["tensors"]),
        ("provenance", f"revision {document['provenance_revision']}"),
        ("registered", registered),
    ]
    return f"{paint(document['ref'], 'bold')}\n{facts(pairs)}"


def _ladder(document: Mapping[str, Any], *, paint: Paint) -> str:
    taps = document.get("trained_taps")
    if taps is None:
        return _section("taps", f"  unknown: {document.get('why_unknown')}", paint=paint)
    verifier = verifier_of(document.get("provenance") or {})
    drawing = ladder.draw(layers=document.get("layers"), taps=taps, verifier=verifier, paint=paint)
    return _section("taps, by depth (decoder layers applied)", drawing, paint=paint)


def verifier_of(provenance: Mapping[str, Any]) -> dict[str, object] | None:
    """Return the verifier's state as a tap where its depth can be told from a plain counting, else None."""
    capture = provenance.get("capture") or {}
    state = capture.get("verifier_state")
    offset = {"before_layer": 0, "after_layer": 1}.get(str(capture.get("counting")))
    if not isinstance(state, Mapping) or offset is None:
        return None
    stream = capture.get("stream", "residual")
    return {"depth": state["layer"] + offset, "stream": stream, "norm": state.get("norm", "none")}


def training_facts(provenance: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return the lines that sum up a provenance document; facts that nobody has give none."""
    capture, recipe = provenance["capture"], provenance["standardization"]
    training, data = provenance.get("training") or {}, provenance.get("data") or {}
    layers = ", ".join(map(str, capture["layers"]))
    return [
        ("captured by", _joined(capture.get("tool"), capture.get("version"))),
        ("captured", f"layers {layers}, counted {capture['counting']}"),
        ("verifier", _verifier(capture.get("verifier_state"))),
        (
            "standardized",
            _joined(recipe["name"], "by" if recipe.get("tool") else None, recipe.get("tool"), recipe.get("version")),
        ),
        ("trainer", _joined(training.get("trainer"), training.get("version"))),
        ("steps", _grouped(training.get("steps"))),
        ("draft depth", training.get("draft_depth")),
        ("max length", _grouped(training.get("max_length"))),
        ("RoPE theta", training.get("rope_theta")),
        ("samples", _grouped(data.get("samples"))),
        ("tokens", _grouped(data.get("tokens"))),
        ("data cost", None if data.get("cost_usd") is None else f"{data['cost_usd']:.2f} USD"),
    ]


def _verifier(state: object) -> str | None:
    if isinstance(state, Mapping):
        return f"layer {state['layer']}, norm {state.get('norm', 'none')}"
    return "kept separately" if state == "separate" else "not recorded"


def _joined(*words: object) -> str | None:
    return " ".join(str(word) for word in words if word) or None


def _grouped(number: object) -> str | None:
    return f"{number:,}" if isinstance(number, int) else None


def _section(heading: str, body: str, *, paint: Paint) -> str:
    return f"{paint(heading, 'bold')}\n{body}"
