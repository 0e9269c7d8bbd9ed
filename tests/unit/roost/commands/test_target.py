"""What makes one doubt a target that was added."""

from typing import Any

import pytest

from roost.commands.target import doubts

SOUND: dict[str, Any] = {
    "name": "org/Model", "revision": "a" * 40, "target_class": "KimiK25ForConditionalGeneration", "layers": 61,
    "hidden_size": 7168,
}  # fmt: skip


@pytest.mark.parametrize("change", [{}, {"revision": None}, {"target_class": "LlamaForCausalLM"}])
def test_a_target_that_says_what_is_needed_raises_no_doubt(change: dict[str, object]) -> None:
    assert list(doubts(SOUND | change)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target_class": None, "layers": None, "hidden_size": None}, "its class, layer count, hidden size"),
        ({"layers": None}, "does not say its layer count"),
        ({"target_class": "LlamaForCausalLMEagle3"}, "looks like the class of a drafter"),
        ({"target_class": "DeepseekV3ForCausalLMNextN"}, "looks like the class of a drafter"),
        ({"revision": "main"}, "'main' is no whole commit"),
        ({"revision": "abc1234"}, "is no whole commit"),
    ],
)
def test_each_doubt_is_said(change: dict[str, object], words: str) -> None:
    (doubt,) = doubts(SOUND | change)
    assert words in doubt
