"""What a class leaves captured: laws that hold for any facts and any ids."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.domain import dialects
from registry.domain.profile import TargetFacts
from registry.engines.capture import left_captured


@st.composite
def _facts(draw: st.DrawFn) -> TargetFacts:
    negative: Literal["dropped", "from_end"] = draw(st.sampled_from(["dropped", "from_end"]))
    return TargetFacts(
        target_class="SomeForCausalLM",
        dialect=draw(st.sampled_from(sorted(dialects.READERS))),
        default=draw(st.sampled_from(["early_middle_late", "early_middle_late_plus_one"])),
        captures=draw(st.sampled_from(["listed", "nothing"])),
        depth_n=draw(st.sampled_from(["captured", "dropped"])),
        out_of_range=draw(st.sampled_from(["dropped", "raises"])),
        negative=negative,
        accumulates=draw(st.booleans()),
    )


_IDS = st.none() | st.lists(st.integers(-6, 130), max_size=6)


@given(facts=_facts(), ids=_IDS, layers=st.integers(4, 128), after_default=st.booleans())
def test_depths_ascend_exist_and_account_for_every_request(
    facts: TargetFacts, ids: list[int] | None, layers: int, *, after_default: bool
) -> None:
    captured = left_captured(facts, ids, layers=layers, after_default=after_default)

    if captured.depths is None:
        assert captured.raises
        assert facts.out_of_range == "raises"
        return
    top = layers if facts.depth_n == "captured" else layers - 1
    assert list(captured.depths) == sorted(set(captured.depths))
    assert all(0 <= depth <= top for depth in captured.depths)
    assert set(captured.lost) <= set(captured.requested)
    assert all(
        depth in captured.depths or depth in captured.lost or depth + layers in captured.depths
        for depth in captured.requested
    )


@given(facts=_facts(), ids=st.lists(st.integers(0, 60), min_size=1, max_size=6), layers=st.integers(4, 61))
def test_order_and_duplicates_beyond_the_first_id_change_nothing(
    facts: TargetFacts, ids: list[int], layers: int
) -> None:
    again = [ids[0], *reversed(ids[1:]), *ids]

    assert left_captured(facts, ids, layers=layers).depths == left_captured(facts, again, layers=layers).depths


def test_an_empty_list_captures_nothing_and_no_list_the_default() -> None:
    facts = TargetFacts(target_class="A", dialect="plus_one", default="early_middle_late")

    assert left_captured(facts, (), layers=61).depths == ()
    assert left_captured(facts, None, layers=61).depths == (2, 30, 58)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (
            TargetFacts(
                target_class="A", dialect="plus_one", default="early_middle_late",
                missing_methods=("set_a", "get_b"), needed_methods=("set_a",),
            ),
            "A lacks set_a",
        ),
        (TargetFacts(target_class="A", dialect="plus_one", default="early_middle_late", refused="not on the list"),
         "not on the list"),
        (TargetFacts(target_class="A", dialect="fixed_default", default="early_middle_late"), "takes no ids"),
    ],
)  # fmt: skip
def test_without_a_setter_that_takes_ids_it_says_why(facts: TargetFacts, why: str) -> None:
    captured = left_captured(facts, (2, 30, 58), layers=61)

    assert captured.depths is None
    assert why in captured.raises
    assert not captured.unresolved


@pytest.mark.parametrize("ids", [None, (2, 30, 58)])
def test_what_is_not_established_is_never_a_guess(ids: tuple[int, ...] | None) -> None:
    facts = TargetFacts(target_class="A", dialect="unresolved", default="unresolved", captures="unresolved")
    captured = left_captured(facts, ids, layers=61)

    assert captured.unresolved
    assert captured.depths is None


def test_an_unknown_last_depth_is_unresolved_only_when_it_is_asked_for() -> None:
    facts = TargetFacts(target_class="A", dialect="identity", default="early_middle_late", depth_n="unresolved")

    assert left_captured(facts, (2, 61), layers=61).unresolved
    assert left_captured(facts, (2, 60), layers=61).depths == (2, 60)
