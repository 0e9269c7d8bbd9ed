"""Putting a provenance document together: what was said, what was seen, and nothing else."""

from typing import Any

import pytest

from registry.documents.validation import validated
from roost.draft_provenance import FACTS, Fact, NotOfItsKind, applies, compose, faults_in, lacking, value_of

REQUIRED = {
    "target": "org/Model",
    "tool": "dump",
    "counting": "before_layer",
    "layers": [3, 31, 59],
    "standardization": "standardize_data_v1",
}


def fact(option: str) -> Fact:
    return next(fact for fact in FACTS if fact.option == option)


def test_what_is_required_makes_a_sound_document_and_nothing_is_made_up() -> None:
    document = compose(REQUIRED, {"tokenizer_digest": None})
    assert validated("provenance", document) == {
        "schema": "roost.provenance/1",
        "target": {"name": "org/Model"},
        "capture": {"tool": "dump", "counting": "before_layer", "layers": [3, 31, 59]},
        "standardization": {"name": "standardize_data_v1"},
    }


def test_everything_that_can_be_said_makes_a_sound_document() -> None:
    texts = {list: "3, 31 59", dict: "61", int: "7", float: "86.5"}
    special = {
        "target-digest": "sha256:" + "0" * 64, "target-revision": "abc", "target": "org/Model",
        "counting": "sglang==0.5.9", "verifier-norm": "final",
        **dict.fromkeys(("tokenizer-digest", "chat-template-digest", "data-digest"), "sha256:" + "1" * 64),
    }  # fmt: skip
    said = {fact.option: value_of(fact, special.get(fact.option, texts.get(fact.kind, "text"))) for fact in FACTS}
    document = validated("provenance", compose(said, {}))
    assert document["capture"] == {
        "tool": "text", "version": "text", "source": "text", "counting": "sglang==0.5.9", "layers": [3, 31, 59],
        "stream": "text", "verifier_state": {"layer": 61, "norm": "final"},
    }  # fmt: skip


def test_the_verifiers_state_may_be_separate() -> None:
    assert value_of(fact("verifier-layer"), "separate") == "separate"


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("layers", "3,x", "whole numbers with commas"),
        ("verifier-layer", "last", "a whole number or `separate`"),
        ("steps", "1.5", "a whole number"),
        ("data-cost", "much", "a number"),
        ("data-cost", "nan", "a number"),
        ("rope-theta", "inf", "a number"),
    ],
)
def test_what_is_not_of_its_kind_is_named_with_what_was_expected(option: str, text: str, expected: str) -> None:
    with pytest.raises(NotOfItsKind, match=expected) as caught:
        value_of(fact(option), text)
    # Whoever is asked has typed no option.
    assert "--" not in str(caught.value)


def test_what_is_required_and_not_said_is_told() -> None:
    said = {key: value for key, value in REQUIRED.items() if key != "layers"}
    assert [fact.option for fact in lacking(said)] == ["layers"]
    assert lacking(REQUIRED) == []


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("counting", "sideways", "how the dump counts layers"),
        ("target-digest", "sha256:zz", "64 lower-case hex digits"),
        ("target", "bad name!", "a name"),
        ("steps", -1, "from 0"),
        ("layers", [], "at least 1 item"),
        ("verifier-norm", "some", '"none" or "final"'),
        ("layers", [3, -1], "expected a layer from 0"),
        ("verifier-layer", {"layer": -1}, "expected a layer from 0"),
    ],
)
def test_a_value_that_cannot_stand_is_told_apart_from_what_is_missing(option: str, value: object, words: str) -> None:
    said = {"counting": "before_layer", "layers": [3], "verifier-layer": {"layer": 61}, option: value}
    ((about, fault),) = faults_in(said)
    assert about.option == option
    assert words in fault


def test_what_is_missing_is_no_fault_of_what_was_said() -> None:
    assert list(faults_in({})) == []
    assert list(faults_in({"verifier-layer": {"layer": 61}})) == []
    assert list(faults_in(REQUIRED)) == []


def test_only_a_state_that_is_named_has_a_norm() -> None:
    norm = fact("verifier-norm")
    assert applies(norm, {"verifier-layer": {"layer": 61}})
    assert not applies(norm, {"verifier-layer": "separate"})
    assert not applies(norm, {})
    document = compose({**REQUIRED, "verifier-layer": "separate", "verifier-norm": "final"}, {})
    assert validated("provenance", document)["capture"]["verifier_state"] == "separate"


def test_what_was_said_wins_over_what_was_seen() -> None:
    said = {**REQUIRED, "tokenizer-digest": "sha256:" + "1" * 64}
    document = compose(said, {"tokenizer_digest": "sha256:" + "2" * 64, "semantics": {"fc_norm": True}})
    assert document["tokenizer_digest"] == "sha256:" + "1" * 64
    assert document["semantics"] == {"fc_norm": True}


def test_every_member_of_the_schema_that_people_know_can_be_asked_for() -> None:
    from registry.documents.schemas import whole_schema  # noqa: PLC0415 - only here

    properties: Any = whole_schema("provenance")["properties"]
    asked = {fact.place[:2] for fact in FACTS}
    # Seen in files, or filled in by the registry.
    others = {"schema", "semantics", "grades", "source_digest"}
    members = {
        (name, *below)
        for name, part in properties.items()
        for below in (
            [(key,) for key in part["properties"]] if part.get("type") == "object" and name != "grades" else [()]
        )
        if not others & {name, *below}
    }
    assert members == asked
