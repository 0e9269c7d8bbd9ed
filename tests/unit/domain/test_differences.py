"""Differences between JSON values: found once each, where they are, whichever side is asked."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.domain.differences import Difference, FactsDiffer, differences
from registry.domain.errors import Conflict

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab~/", max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab~/", max_size=2), inner, max_size=3)
)


def test_members_are_compared_one_by_one_and_arrays_as_a_whole():
    registered = {"capture": {"layers": [3, 31, 59], "tool": "dump"}, "data": {"samples": 1}}
    given_ = {"capture": {"layers": [2, 30, 58], "tool": "dump"}, "training": {"steps": 2}}
    assert differences(registered, given_) == (
        Difference(pointer="/capture/layers", registered=[3, 31, 59], given=[2, 30, 58]),
        Difference(pointer="/data", registered={"samples": 1}, given=None),
        Difference(pointer="/training", registered=None, given={"steps": 2}),
    )


def test_pointers_are_escaped_and_start_where_they_are_told():
    assert [one.pointer for one in differences({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, at="/config")] == [
        "/config/a~1b/~0"
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": None}, {}), ({"a": 1}, {"a": 1.0}), ([1, {"b": None}], (1.0, {})), ({"a": [{"x": 1}]}, {"a": [{"x": 1}]})],
)
def test_these_are_equal(one, other):
    assert differences(one, other) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [(True, 1), (False, 0), (0, None), ("1", 1), ([1], [1, 2]), ([True], [1]), ({}, []), ({"a": 1}, 1)],
)
def test_these_differ_as_a_whole(one, other):
    assert differences(one, other) == (Difference(pointer="", registered=one, given=other),)


@given(VALUES)
def test_nothing_differs_from_itself(value):
    assert differences(value, value) == ()


@given(VALUES, VALUES)
def test_both_directions_find_the_same_places(one, other):
    swapped = tuple(replace(d, registered=d.given, given=d.registered) for d in differences(other, one))
    assert differences(one, other) == swapped


@given(VALUES, VALUES)
def test_every_difference_points_at_the_two_values_that_differ(one, other):
    for difference in differences(one, other):
        assert look_up(one, difference.pointer) == difference.registered
        assert look_up(other, difference.pointer) == difference.given


def look_up(value, pointer):
    for part in pointer.split("/")[1:]:
        value = value.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value


def test_facts_differ_is_a_conflict_that_carries_the_difference():
    found = differences(1, 2)
    error = FactsDiffer("other facts", difference=found, hint="amend")
    assert isinstance(error, Conflict)
    assert error.difference == found
    assert str(error) == "other facts amend"
