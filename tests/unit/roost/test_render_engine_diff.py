"""A comparison of two builds in a terminal."""

import pytest
from fakes.sample_documents import change_document, effect_document, engine_diff_document

from registry.domain.engine_diff import EFFECTS
from roost.render_engine_diff import render
from roost.screen import Paint


def diff(changes=(), effects=None):
    page = None if effects is None else {"items": list(effects), "next": None}
    return {**engine_diff_document(), "changes": list(changes), "checkpoints": page}


def change(**changes):
    return {**change_document(), **changes}


def test_changes_stand_under_the_part_they_are_about():
    text = render(diff([change(), change(place="/graphs/ids_hold", sentence="graphs hold ids", classes=[])]))
    assert text.split("\n\n") == [
        "sglang==0.5.12.post1 -> sglang==0.5.13",
        "target classes\n  two classes count otherwise",
        "decode graphs\n  graphs hold ids",
    ]


def test_classes_that_a_sentence_does_not_name_are_listed_unless_they_are_very_many():
    few = [f"C{number}" for number in range(5)]
    assert "    also: C3, C4" in render(diff([change(classes=few)]))
    many = [f"C{number}" for number in range(40)]
    assert "also:" not in render(diff([change(classes=many)]))
    assert "also:" not in render(diff([change(classes=few[:3])]))


def test_no_difference_is_said():
    assert "no fact differs: both builds do the same" in render(diff())


def test_checkpoints_say_what_is_asked_of_them():
    stay = effect_document(effect="stay", ids=None, sentence="stay on 1: 2 does not serve it")
    nothing = effect_document(effect="nothing", checkpoint="b@2", sentence="nothing: its config serves on both")
    text = render(diff([], [effect_document(), stay, nothing]))
    assert "moonshotai/Kimi-K2.5-eagle3@1  other ids: sglang==0.5.13 needs other ids" in text
    assert "  b@2  nothing: its config serves on both" in text
    assert "none is registered" in render(diff([], []))
    assert "checkpoints" not in render(diff([]))


@pytest.mark.parametrize("effect", EFFECTS)
def test_every_effect_has_a_word(effect):
    text = render(diff([], [effect_document(effect=effect)]), paint=Paint(on=True))
    assert "\x1b[" in text
    assert "sglang==0.5.13 needs other ids" in text


def test_it_fits():
    long = " ".join(["word"] * 60)
    text = render(diff([change(sentence=long)], [effect_document(sentence=long)]), width=60)
    assert max(map(len, text.splitlines())) <= 60
