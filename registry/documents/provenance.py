"""`roost.provenance/1`: how one checkpoint was trained, as people write it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, cast

from registry.documents import fields
from registry.documents.faults import Fault
from registry.documents.fields import Fields, present
from registry.documents.validation import validated
from registry.domain.provenance import (
    Capture,
    Data,
    Grade,
    Provenance,
    Standardization,
    TargetRef,
    Training,
    VerifierState,
)
from registry.domain.semantics import DraftSemantics
from registry.domain.taps import RESIDUAL, Norm

SCHEMA: Final = "roost.provenance/1"

_LOWEST: Final[Mapping[str, int]] = {"before_layer": 0, "after_layer": -1}
"""The layer number whose state is the embedding output: nothing lies before it."""

_FLAGS: Final = ("norm_before_fc", "fc_norm", "norm_output", "norm_before_residual")


def parse(data: bytes | Mapping[str, object]) -> Provenance:
    """Return the provenance in `data`.

    Raises:
        DocumentError: with every fault.
    """
    return from_fields(validated("provenance", data, further=further_faults))


def render(provenance: Provenance) -> dict[str, object]:
    """Return the document of `provenance` in its normal form.

    Absent facts stay absent. `capture.stream` and `verifier_state.norm` are always written, since a record without
    them means `residual` and `none`.
    """
    members = (
        ("schema", SCHEMA),
        ("target", _render_target(provenance.target)),
        ("capture", _render_capture(provenance.capture)),
        ("standardization", _render_standardization(provenance.standardization)),
        ("tokenizer_digest", provenance.tokenizer_digest),
        ("chat_template_digest", provenance.chat_template_digest),
        ("training", _render_training(provenance.training)),
        ("data", _render_data(provenance.data)),
        ("semantics", _render_semantics(provenance.semantics)),
        ("grades", {pointer: grade.value for pointer, grade in provenance.grades.items()}),
    )
    return present(members)


def further_faults(document: Fields) -> Iterator[Fault]:
    """Yield what the schema cannot say: layers below the embedding, grades of facts that are not there."""
    yield from _layers_below_the_embedding(fields.part(document, "capture"))
    for pointer in fields.part(document, "grades"):
        if not _resolves(document, pointer):
            message = f"the pointer {pointer} leads to no fact of this document"
            place = pointer.replace("~", "~0").replace("/", "~1")
            yield Fault(pointer=f"/grades/{place}", message=message, hint="grade a fact that is given, or leave it out")


def from_fields(document: Fields) -> Provenance:
    """Return the record of a document that is already checked."""
    return Provenance(
        target=_target(fields.part(document, "target")),
        capture=_capture(fields.part(document, "capture")),
        standardization=_standardization(fields.part(document, "standardization")),
        tokenizer_digest=fields.maybe_digest(document, "tokenizer_digest"),
        chat_template_digest=fields.maybe_digest(document, "chat_template_digest"),
        training=_training(fields.part(document, "training")),
        data=_data(fields.part(document, "data")),
        semantics=_semantics(fields.part(document, "semantics")),
        grades={pointer: Grade(cast("str", grade)) for pointer, grade in fields.part(document, "grades").items()},
    )


def _layers_below_the_embedding(capture: Fields) -> Iterator[Fault]:
    counting = fields.text(capture, "counting")
    lowest = _LOWEST.get(counting)
    if lowest is None:
        return
    for pointer, number in _numbers(capture):
        if number < lowest:
            message = f"layer {number}; expected a layer from {lowest}, the embedding output, with {counting} counting"
            yield Fault(pointer=f"/capture/{pointer}", message=message, hint="ids of an engine: name it as counting")


def _numbers(capture: Fields) -> Iterable[tuple[str, int]]:
    yield from ((f"layers/{place}", number) for place, number in enumerate(_layers(capture)))
    state = capture.get("verifier_state")
    if isinstance(state, Mapping):
        yield "verifier_state/layer", fields.whole(state, "layer")


def _layers(capture: Fields) -> tuple[int, ...]:
    return tuple(int(number) for number in cast("list[float]", capture["layers"]))


def _resolves(document: Fields, pointer: str) -> bool:
    node: object = document
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in parts:
        if isinstance(node, Mapping) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isascii() and part.isdecimal() and int(part[:9]) < len(node):
            node = node[int(part)]
        else:
            return False
    return parts[0] not in {"schema", "grades"}


def _target(target: Fields) -> TargetRef:
    return TargetRef(
        name=fields.text(target, "name"),
        revision=fields.maybe_text(target, "revision"),
        digest=fields.maybe_digest(target, "digest"),
    )


def _render_target(target: TargetRef) -> dict[str, object]:
    return present((("name", target.name), ("revision", target.revision), ("digest", target.digest)))


def _capture(capture: Fields) -> Capture:
    return Capture(
        tool=fields.text(capture, "tool"),
        counting=fields.text(capture, "counting"),
        layers=_layers(capture),
        version=fields.maybe_text(capture, "version"),
        source=fields.maybe_text(capture, "source"),
        source_digest=fields.maybe_digest(capture, "source_digest"),
        stream=fields.maybe_text(capture, "stream") or RESIDUAL,
        verifier_state=_verifier_state(capture.get("verifier_state")),
    )


def _render_capture(capture: Capture) -> dict[str, object]:
    state = capture.verifier_state
    members = (
        ("tool", capture.tool),
        ("version", capture.version),
        ("source", capture.source),
        ("source_digest", capture.source_digest),
        ("counting", capture.counting),
        ("stream", capture.stream),
        ("layers", list(capture.layers)),
        ("verifier_state", {"layer": state.layer, "norm": state.norm} if isinstance(state, VerifierState) else state),
    )
    return present(members)


def _verifier_state(state: object) -> VerifierState | Literal["separate"] | None:
    if not isinstance(state, Mapping):
        return "separate" if state == "separate" else None
    norm = cast("Norm", fields.maybe_text(state, "norm") or "none")
    return VerifierState(layer=fields.whole(state, "layer"), norm=norm)


def _standardization(step: Fields) -> Standardization:
    return Standardization(
        name=fields.text(step, "name"),
        tool=fields.maybe_text(step, "tool"),
        version=fields.maybe_text(step, "version"),
    )


def _render_standardization(step: Standardization) -> dict[str, object]:
    return present((("name", step.name), ("tool", step.tool), ("version", step.version)))


def _training(training: Fields) -> Training:
    return Training(
        trainer=fields.maybe_text(training, "trainer"),
        version=fields.maybe_text(training, "version"),
        commit=fields.maybe_text(training, "commit"),
        max_length=fields.maybe_whole(training, "max_length"),
        rope_theta=fields.maybe_number(training, "rope_theta"),
        steps=fields.maybe_whole(training, "steps"),
        draft_depth=fields.maybe_whole(training, "draft_depth"),
        cost_usd=fields.maybe_number(training, "cost_usd"),
    )


def _render_training(training: Training) -> dict[str, object]:
    members = (
        ("trainer", training.trainer),
        ("version", training.version),
        ("commit", training.commit),
        ("max_length", training.max_length),
        ("rope_theta", training.rope_theta),
        ("steps", training.steps),
        ("draft_depth", training.draft_depth),
        ("cost_usd", training.cost_usd),
    )
    return present(members)


def _data(data: Fields) -> Data:
    return Data(
        samples=fields.maybe_whole(data, "samples"),
        tokens=fields.maybe_whole(data, "tokens"),
        cost_usd=fields.maybe_number(data, "cost_usd"),
        digest=fields.maybe_digest(data, "digest"),
    )


def _render_data(data: Data) -> dict[str, object]:
    members = (
        ("samples", data.samples),
        ("tokens", data.tokens),
        ("cost_usd", data.cost_usd),
        ("digest", data.digest),
    )
    return present(members)


def _semantics(semantics: Fields) -> DraftSemantics:
    side = cast("Mapping[str, Literal['own', 'target'] | None]", semantics)
    return DraftSemantics(
        norm_before_fc=fields.maybe_flag(semantics, "norm_before_fc"),
        fc_norm=fields.maybe_flag(semantics, "fc_norm"),
        norm_output=fields.maybe_flag(semantics, "norm_output"),
        norm_before_residual=fields.maybe_flag(semantics, "norm_before_residual"),
        embedding=side.get("embedding"),
        head=side.get("head"),
    )


def _render_semantics(semantics: DraftSemantics) -> dict[str, object]:
    names = (*_FLAGS, "embedding", "head")
    return present((name, getattr(semantics, name)) for name in names)
