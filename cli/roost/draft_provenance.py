"""Putting a provenance document together from what files show and what people say. Pure; nothing is defaulted."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from registry.domain.standardization import RECIPES

Section = tuple[str, ...]
"""The way to a member, from the document's root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact that people may know: its option, its place in the document and the question for it."""

    option: str
    place: Section
    question: str
    kind: type = str
    required: bool = False

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer."""
        return "".join(f"/{part}" for part in self.place)


class NotOfItsKind(ValueError):
    """What was said about a fact is not of its kind; the message says what was expected."""


_VERIFIER: Final = ("capture", "verifier_state")

FACTS: Final[tuple[Fact, ...]] = (
    Fact(option="target", place=("target", "name"), question="Target model, by name", required=True),
    Fact(option="target-revision", place=("target", "revision"), question="Commit of the target"),
    Fact(option="target-digest", place=("target", "digest"), question="Digest of the target (see `roost target show`)"),
    Fact(option="tool", place=("capture", "tool"), question="What captured the hidden states", required=True),
    Fact(option="tool-version", place=("capture", "version"), question="Version of what captured them"),
    Fact(
        option="source",
        place=("capture", "source"),
        question="Source of what captured them: a file beside the provenance file",
    ),
    Fact(
        option="counting",
        place=("capture", "counting"),
        question="How it counts layers: before_layer, after_layer, or an engine build such as sglang==0.5.9",
        required=True,
    ),
    Fact(option="stream", place=("capture", "stream"), question="The stream it captured, such as residual or branch"),
    Fact(
        option="layers",
        place=("capture", "layers"),
        question="The layers whose states are features, in order, such as 3,31,59",
        kind=list,
        required=True,
    ),
    Fact(
        option="verifier-layer",
        place=_VERIFIER,
        question="The layer whose state goes to the verifier's head, or `separate`",
        kind=dict,
    ),
    Fact(
        option="verifier-norm",
        place=(*_VERIFIER, "norm"),
        question="Norm already applied to that state: none or final",
    ),
    Fact(
        option="standardization",
        place=("standardization", "name"),
        question=f"The step that made features of the dump: {', '.join(RECIPES)}, or another "
        "(the trained taps are then unknown)",
        required=True,
    ),
    Fact(option="standardization-tool", place=("standardization", "tool"), question="The tool that has that step"),
    Fact(option="standardization-version", place=("standardization", "version"), question="Version of that tool"),
    Fact(option="tokenizer-digest", place=("tokenizer_digest",), question="Digest of the tokenizer in training"),
    Fact(
        option="chat-template-digest",
        place=("chat_template_digest",),
        question="Digest of its chat template",
    ),
    Fact(option="trainer", place=("training", "trainer"), question="The trainer"),
    Fact(option="trainer-version", place=("training", "version"), question="Version of the trainer"),
    Fact(option="trainer-commit", place=("training", "commit"), question="Commit of the trainer"),
    Fact(option="steps", place=("training", "steps"), question="Training steps", kind=int),
    Fact(option="max-length", place=("training", "max_length"), question="Longest sequence in training", kind=int),
    Fact(option="rope-theta", place=("training", "rope_theta"), question="RoPE theta in training", kind=float),
    Fact(
        option="draft-depth", place=("training", "draft_depth"), question="Draft steps unrolled in training", kind=int
    ),
    Fact(option="training-cost", place=("training", "cost_usd"), question="What the training cost, in USD", kind=float),
    Fact(option="samples", place=("data", "samples"), question="Samples in the training data", kind=int),
    Fact(option="tokens", place=("data", "tokens"), question="Tokens in the training data", kind=int),
    Fact(option="data-cost", place=("data", "cost_usd"), question="What the data cost, in USD", kind=float),
    Fact(option="data-digest", place=("data", "digest"), question="Digest of the training data"),
)
"""Every fact that can be asked for, in the order of the questions."""


_EXPECTED: Final[Mapping[type, str]] = {
    list: "whole numbers with commas between them",
    dict: "a whole number or `separate`",
    int: "a whole number",
    float: "a number",
}


def value_of(fact: Fact, text: str) -> object:
    """Read what was said about a fact.

    Raises:
        NotOfItsKind: it is not of the fact's kind.
    """
    try:
        if fact.kind is list:
            return [int(part) for part in text.replace(",", " ").split()]
        if fact.kind is dict:
            return "separate" if text.strip() == "separate" else {"layer": int(text)}
        value: object = fact.kind(text)
    except ValueError:
        raise NotOfItsKind(f"{text!r}: expected {_EXPECTED[fact.kind]}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise NotOfItsKind(f"{text!r}: expected {_EXPECTED[fact.kind]}")
    return value


def faults_in(said: Mapping[str, object]) -> Iterator[tuple[Fact, str]]:
    """Yield each fact whose value cannot stand in a provenance document, and why; what is missing is no fault."""
    from registry.documents.provenance import further_faults  # noqa: PLC0415 - jsonschema, and not for --help
    from registry.documents.validation import faults_of  # noqa: PLC0415 - as above

    document = compose(said, {})
    found = faults_of("provenance", document)
    if not found or all("is missing" in fault.message for fault in found):
        capture = document.get("capture")
        if isinstance(capture, Mapping) and {"counting", "layers"} <= capture.keys():
            found = (*found, *further_faults(document))
    for fault in found:
        fact = _about(fault.pointer, said)
        if fact is not None:
            yield fact, str(fault).removeprefix(f"{fault.pointer}: ")


def _about(pointer: str, said: Mapping[str, object]) -> Fact | None:
    """Return the stated fact that lies nearest above the place that `pointer` leads to."""
    above = [fact for fact in FACTS if fact.option in said and f"{pointer}/".startswith(f"{fact.pointer}/")]
    return max(above, key=lambda fact: len(fact.place), default=None)


def applies(fact: Fact, said: Mapping[str, object]) -> bool:
    """Tell whether a fact makes sense beside what was said: only a state that is named has a norm."""
    return fact.option != "verifier-norm" or isinstance(said.get("verifier-layer"), Mapping)


def compose(said: Mapping[str, object], seen: Mapping[str, Any]) -> dict[str, object]:
    """Return the document.

    Args:
        said: Value by option, for every fact that somebody stated.
        seen: Members that the files show; what was said about the same member wins.
    """
    document: dict[str, Any] = {}
    for fact in FACTS:
        if fact.option in said and applies(fact, said):
            value = said[fact.option]
            _put(document, fact.place, dict(value) if isinstance(value, Mapping) else value)
    shown = {key: value for key, value in seen.items() if value is not None and key not in document}
    return {"schema": "roost.provenance/1", **document, **shown}


def _put(document: dict[str, Any], place: Section, value: object) -> None:
    for part in place[:-1]:
        document = document.setdefault(part, {})
    document[place[-1]] = value


def lacking(said: Mapping[str, object]) -> Sequence[Fact]:
    """Return the required facts that nobody has stated."""
    return [fact for fact in FACTS if fact.required and fact.option not in said]
