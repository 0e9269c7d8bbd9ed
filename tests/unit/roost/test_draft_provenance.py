"""Putting a provenance document together: what was said, what was seen, and nothing else."""

import pytest

from registry.documents.validation import validated
from roost.draft_provenance import FACTS, Fact, compose, lacking, value_of
from roost.failures import Misused

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
        "counting": "sglang==0.5.9",
    }  # fmt: skip
    said = {fact.option: value_of(fact, special.get(fact.option, texts.get(fact.kind, "text"))) for fact in FACTS}
    document = validated("provenance", compose(said, {}))
    assert document["capture"] == {
        "tool": "text", "version": "text", "source": "text", "counting": "sglang==0.5.9", "layers": [3, 31, 59],
        "verifier_state": {"layer": 61, "norm": "none"},
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
    ],
)
def test_what_is_not_of_its_kind_is_named_with_what_was_expected(option: str, text: str, expected: str) -> None:
    with pytest.raises(Misused, match=expected) as caught:
        value_of(fact(option), text)
    assert f"--{option}" in caught.value.message


def test_what_is_required_and_not_said_is_told() -> None:
    said = {key: value for key, value in REQUIRED.items() if key != "layers"}
    assert [fact.option for fact in lacking(said)] == ["layers"]
    assert lacking(REQUIRED) == []
