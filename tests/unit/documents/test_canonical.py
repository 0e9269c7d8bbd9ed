import json
import math
from collections import OrderedDict
from enum import IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.canonical import MOST_BYTES, MOST_DEPTH, canonical_bytes, parse_json, plain, sha256_of
from registry.documents.faults import MOST_FAULTS, DocumentError
from registry.domain.errors import Invalid

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=20,
)


def faults_in(data):
    with pytest.raises(DocumentError) as caught:
        parse_json(data)
    return {fault.pointer: fault.message for fault in caught.value.faults}


@given(JSON)
def test_canonical_bytes_are_read_back_as_the_same_value_and_the_same_bytes(value):
    data = canonical_bytes(value)
    assert parse_json(data) == value
    assert canonical_bytes(parse_json(data)) == data


@given(JSON)
def test_spacing_and_order_of_keys_do_not_change_the_bytes(value):
    loose = json.dumps(value, indent=3, ensure_ascii=True).encode()
    assert canonical_bytes(parse_json(loose)) == canonical_bytes(value)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        # RFC 8785, appendix B and section 3.2.2
        (333333333.33333329, b"333333333.3333333"),
        (1e30, b"1e+30"),
        (4.50, b"4.5"),
        (2e-3, b"0.002"),
        (1e-27, b"1e-27"),
        (-0.0, b"0"),
        (5e-324, b"5e-324"),
        (1e21, b"1e+21"),
        (123456789012345680000.0, b"123456789012345680000"),
        (50000.0, b"50000"),
        ("\u20ac$\n'A'B\"\\\"/", b'"\xe2\x82\xac$\\n\'A\'B\\"\\\\\\"/"'),
        # Keys are ordered by UTF-16 units: the emoji's surrogate comes before U+FB33.
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'.encode()),
    ],
)
def test_bytes_are_those_of_rfc_8785(value, data):
    assert canonical_bytes(value) == data


def test_mappings_tuples_and_enums_count_as_what_they_hold():
    class Word(StrEnum):
        ONE = "one"

    class Number(IntEnum):
        TWO = 2

    value = MappingProxyType({"b": (Word.ONE, Number.TWO), "a": OrderedDict(x=True)})
    assert plain(value) == {"b": ["one", 2], "a": {"x": True}}
    assert [type(item) for item in plain(value)["b"]] == [str, int]
    assert canonical_bytes(value) == b'{"a":{"x":true},"b":["one",2]}'


@pytest.mark.parametrize(
    "value",
    [2**53 + 1, -(2**53) - 1, 10**4000, math.nan, math.inf, -math.inf, "\ud800", "\x00", {"\udfff": 1}, {1: 2}, {1, 2},
     b"x", object()],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_what_json_cannot_carry_is_refused_with_its_place(value):
    with pytest.raises(Invalid) as caught:
        canonical_bytes({"here": [value]})
    assert caught.value.pointer == "/here/0"


def test_a_structure_without_end_is_refused_and_not_a_crash():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(DocumentError, match="nested deeper"):
        canonical_bytes(endless)


def test_repeated_keys_are_named_with_their_places_all_at_once():
    found = faults_in(b'{"a":1,"a":2,"b":[{"c/d":1,"c/d":2,"c/d":3}]}')
    assert found.keys() == {"/a", "/b/0/c~1d"}
    assert all("more than once" in message for message in found.values())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"a":1} x', "Extra data"),
        (b"{'a':1}", "line 1 column 2"),
        (b'"a\nb"', "not JSON"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[" * 200_000, "nested deeper"),
        (b'{"a":' * 200_000, "nested deeper"),
        (b" " * (MOST_BYTES + 1), "bytes; expected at most"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_bytes_that_are_no_json_are_refused_with_the_reason(data, message):
    assert message in faults_in(data)[""]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[NaN]", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"[1e999]", "beyond every double"),
        (b"[9007199254740993]", "beyond 2**53"),
        (b"[-9007199254740993]", "beyond 2**53"),
        (b"[" + b"9" * 100_000 + b"]", "beyond every double"),
        (b'["\\u0000"]', "U+0000"),
        (b'["a\\u0007"]', "U+0007"),
        (b'["\\u007f"]', "U+007F"),
        (b'["\\ud83d"]', "half a surrogate pair"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_values_that_readers_differ_on_are_refused_with_their_place(data, message):
    assert message in faults_in(data)["/0"]


def test_odd_keys_are_refused_and_the_pointer_can_be_printed():
    found = faults_in(b'{"a\\u0000":{"\\ud800":1}}')
    assert found.keys() == {"", "/a\\u0000"}


def test_line_breaks_and_tabs_in_text_are_fine():
    assert parse_json(b'"a\\n\\tb\\r"') == "a\n\tb\r"


def test_a_large_integer_spelled_as_its_double_is_that_double():
    assert parse_json(b"[9007199254740992, 100000000000000000000]") == [2.0**53, 1e20]


def test_the_deepest_nesting_allowed_is_read():
    assert parse_json(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH)
    assert "nested deeper" in faults_in(b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1))["/0" * MOST_DEPTH]


def test_a_flood_of_faults_is_cut():
    assert len(faults_in(b"[" + b"NaN," * 100_000 + b"0]")) == MOST_FAULTS


@given(st.binary())
def test_no_bytes_make_anything_but_a_value_or_a_document_error(data):
    try:
        canonical_bytes(parse_json(data))
    except DocumentError as error:
        assert error.faults  # noqa: PT017  # either outcome is right; an error must have faults


def test_a_digest_names_its_algorithm():
    assert sha256_of(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
