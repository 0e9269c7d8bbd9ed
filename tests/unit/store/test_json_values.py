"""JSON values survive the way through Postgres."""

import math
from decimal import Decimal
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.canonical import canonical_bytes
from registry.domain.errors import Invalid
from registry.store import json_values


def as_postgres_writes(number: float) -> str:
    """`jsonb` keeps numbers as decimals and writes them without an exponent."""
    return format(Decimal(repr(number)), "f")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_come_back_with_the_same_canonical_bytes(number):
    read = json_values.loads(as_postgres_writes(number))
    assert canonical_bytes(read) == canonical_bytes(number)


@given(st.integers(1 - 2**53, 2**53 - 1))
def test_whole_numbers_that_are_exact_stay_whole(number):
    read = json_values.loads(str(number))
    assert type(read) is int
    assert read == number


def test_whole_numbers_beyond_become_floats():
    assert json_values.loads(str(2**53 + 1)) == float(2**53)
    assert type(json_values.loads("1" + "0" * 40)) is float


def test_a_number_of_many_digits_is_not_a_way_to_stop_the_reader():
    assert json_values.loads("9" * 100_000) == math.inf


def test_read_only_mappings_and_tuples_are_written():
    assert json_values.dumps(MappingProxyType({"a": (1, MappingProxyType({}))})) == '{"a":[1,{}]}'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_without_json_words_are_invalid(number):
    with pytest.raises(Invalid, match="JSON"):
        json_values.dumps({"a": [number]})


def test_what_is_no_json_value_is_a_mistake_of_ours():
    with pytest.raises(TypeError, match="set"):
        json_values.dumps({"a": set()})
