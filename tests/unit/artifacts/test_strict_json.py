import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.artifacts.strict_json import MalformedJsonError, parse


def test_repeated_keys_are_reported_by_pointer_at_every_level() -> None:
    document = parse(b'{"a": 1, "b/c": [{"x": 1, "x": 2, "x": 3}], "a": 2}')
    assert document.repeated == ("/a", "/b~1c/0/x")


def test_the_last_of_repeated_keys_is_kept_as_other_readers_do() -> None:
    assert parse(b'{"a": 1, "a": 2}').value == {"a": 2}


def test_configs_of_python_tools_are_read_in_interchange_mode() -> None:
    document = parse(b'{"limit": [0.0, Infinity], "max": 1000000000000000019884624838656}', numbers="interchange")
    assert document.value == {"limit": [0.0, "Infinity"], "max": 1e30}


@pytest.mark.parametrize("data", [b'{"a": "\\u0000"}', b'["\\uDC00"]', b'{"\\ud800x": 1}', b'"\\ud800"'])
def test_text_that_cannot_be_stored_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedJsonError, match="U\\+0000 or half a surrogate"):
        parse(data)


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse(b'"\\ud83d\\ude00"').value == "\U0001f600"


@pytest.mark.parametrize("depth", [65, 1_000, 1_000_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    with pytest.raises(MalformedJsonError, match="nested deeper"):
        parse(b"[" * depth + b"]" * depth)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")), inner, max_size=4
    ),
    max_leaves=20,
)  # fmt: skip


@given(_JSON, st.booleans())
def test_ordinary_documents_are_read_as_the_standard_library_does(value: object, ascii_only: bool) -> None:  # noqa: FBT001
    document = parse(json.dumps(value, ensure_ascii=ascii_only).encode())
    assert document.value == value
    assert document.repeated == ()


@given(st.binary(max_size=60))
def test_random_bytes_give_a_document_or_a_reason(data: bytes) -> None:
    for numbers in ("exact", "interchange"):
        try:
            parse(data, numbers=numbers)
        except MalformedJsonError as error:
            assert str(error)  # noqa: PT017
