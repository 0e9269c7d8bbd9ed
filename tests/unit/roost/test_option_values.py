"""What is typed is judged as the registry judges it, whichever way it is looked at."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.domain.errors import Invalid
from registry.domain.refs import parse_name, parse_ref
from roost import option_values
from roost.failures import Misused

CONTEXT, PARAMETER = click.Context(click.Command("x")), click.Argument(["checkpoint"])
TYPED = st.text(alphabet="aZ09._-/@ ü\n", max_size=12) | st.from_regex(r"[a./-]{1,5}@[0-9x]{0,11}", fullmatch=True)


def fine(check: object, text: str) -> bool:
    assert callable(check)
    try:
        check(text)
    except Invalid:
        return False
    return True


@given(TYPED)
def test_a_reference_is_taken_where_the_registry_takes_it(text: str) -> None:
    try:
        taken = option_values.checkpoint(CONTEXT, PARAMETER, text) == text
    except click.BadParameter:
        taken = False
    assert taken == fine(parse_ref, text)


@given(TYPED)
def test_a_name_is_taken_where_the_registry_takes_it(text: str) -> None:
    try:
        taken = option_values.name(CONTEXT, PARAMETER, text) == text
    except click.BadParameter:
        taken = False
    assert taken == fine(parse_name, text)


@pytest.mark.parametrize("text", ["a" * 201, "a" * 200 + "@1", "a" * 201 + "@1"])
def test_the_length_of_a_name_is_bounded_as_in_the_registry(text: str) -> None:
    try:
        taken = option_values.checkpoint(CONTEXT, PARAMETER, text) == text
    except click.BadParameter:
        taken = False
    assert taken == fine(parse_ref, text)


@pytest.mark.parametrize("text", ["", " \t", "two\nlines", "x" * 501])
def test_a_reason_is_one_line_that_says_something(text: str) -> None:
    with pytest.raises(click.BadParameter):
        option_values.reason(CONTEXT, PARAMETER, text)


@pytest.mark.parametrize(("text", "whole"), [("a" * 40, True), ("A" * 40, True), ("abc1234", False), ("main", False)])
def test_only_a_whole_commit_is_one(text: str, whole: bool) -> None:  # noqa: FBT001 - a value of the table
    assert option_values.is_commit(text) is whole


def test_what_is_no_build_is_misused() -> None:
    with pytest.raises(Misused, match="--engine"):
        option_values.build_of("sglang==1 2")
