"""Putting a provenance document together from what files show and what people say. Pure; nothing is defaulted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roost.failures import Misused

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


FACTS: Final[tuple[Fact, ...]] = (
    Fact(option="target", place=("target", "name"), question="Target model, by name", required=True),
    Fact(option="target-revision", place=("target", "revision"), question="Commit of the target"),
    Fact(option="target-digest", place=("target", "digest"), question="Digest of the target (see `roost target show`)"),
    Fact(option="tool", place=("capture", "tool"), question="What captured the hidden states", required=True),
    Fact(option="tool-version", place=("capture", "version"), question="Its version"),
    Fact(option="source", place=("capture", "source"), question="Its source: a file beside provenance.json"),
    Fact(
        option="counting",
        place=("capture", "counting"),
        question="How it counts layers: before_layer, after_layer, or an engine build such as sglang==0.5.9",
        required=True,
    ),
    Fact(
        option="layers",
        place=("capture", "layers"),
        question="The layers whose states are features, in order, such as 3,31,59",
        kind=list,
        required=True,
    ),
    Fact(
        option="verifier-layer",
        place=("capture", "verifier_state"),
        question="The layer whose state goes to the verifier's head, or `separate`",
        kind=dict,
    ),
    Fact(
        option="standardization",
        place=("standardization", "name"),
        question="The step that made features of the dump, such as standardize_data_v1",
        required=True,
    ),
    Fact(option="trainer", place=("training", "trainer"), question="The trainer"),
    Fact(option="trainer-version", place=("training", "version"), question="Its version"),
    Fact(option="steps", place=("training", "steps"), question="Training steps", kind=int),
    Fact(option="max-length", place=("training", "max_length"), question="Longest sequence in training", kind=int),
    Fact(option="rope-theta", place=("training", "rope_theta"), question="RoPE theta in training", kind=float),
    Fact(
        option="draft-depth", place=("training", "draft_depth"), question="Draft steps unrolled in training", kind=int
    ),
    Fact(option="samples", place=("data", "samples"), question="Samples in the training data", kind=int),
    Fact(option="tokens", place=("data", "tokens"), question="Tokens in the training data", kind=int),
    Fact(option="data-cost", place=("data", "cost_usd"), question="What the data cost, in USD", kind=float),
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
        Misused: it is not of the fact's kind.
    """
    try:
        if fact.kind is list:
            return [int(part) for part in text.replace(",", " ").split()]
        if fact.kind is dict:
            return "separate" if text.strip() == "separate" else {"layer": int(text), "norm": "none"}
        value: object = fact.kind(text)
    except ValueError:
        raise Misused(f"--{fact.option} {text!r}: expected {_EXPECTED[fact.kind]}") from None
    return value


def compose(said: Mapping[str, object], seen: Mapping[str, Any]) -> dict[str, object]:
    """Return the document.

    Args:
        said: Value by option, for every fact that somebody stated.
        seen: Members that the files show; they stand beside what was said.
    """
    document: dict[str, Any] = {"schema": "roost.provenance/1"}
    for fact in FACTS:
        if fact.option in said:
            section, member = fact.place
            document.setdefault(section, {})[member] = said[fact.option]
    return document | {key: value for key, value in seen.items() if value is not None}


def lacking(said: Mapping[str, object]) -> Sequence[Fact]:
    """Return the required facts that nobody has stated."""
    return [fact for fact in FACTS if fact.required and fact.option not in said]
