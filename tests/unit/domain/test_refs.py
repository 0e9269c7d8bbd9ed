import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.domain.errors import Invalid
from registry.domain.refs import LONGEST_NAME, Ref, parse_name, parse_ref

PARTS = st.from_regex(r"\A[A-Za-z0-9._-]{1,12}\Z").filter(lambda part: part not in {".", ".."})


@given(st.lists(PARTS, min_size=1, max_size=5), st.none() | st.integers(1, 999_999_999))
def test_every_name_with_or_without_a_version_survives_spelling_and_parsing(parts, version):
    ref = Ref(name="/".join(parts), version=version)
    assert parse_ref(str(ref)) == ref


@pytest.mark.parametrize(
    "text",
    ["", "@1", "a@", "a@0", "a@01", "a@-1", "a@1@2", "a@x", "a@1000000000", "a@1\n", "a\n", "a b", "/a", "a/", "a//b",
     "../a", "a/..", "a/./b", ".", "..", "a\x00", "ä", "a@\u0661", "x" * (LONGEST_NAME + 1)],
)  # fmt: skip
def test_anything_else_is_refused_and_the_message_says_what_is_expected(text):
    with pytest.raises(Invalid, match=r"[Ee]xpected"):
        parse_ref(text)


def test_the_longest_name_is_taken():
    assert parse_name("x" * LONGEST_NAME) == "x" * LONGEST_NAME


def test_a_name_takes_no_version():
    with pytest.raises(Invalid, match="not a name"):
        parse_name("kimi@1")


@given(st.text())
def test_no_text_makes_anything_but_a_ref_or_a_refusal(text):
    try:
        assert str(parse_ref(text)) == text
    except Invalid as refusal:
        assert refusal.detail  # noqa: PT017  # either outcome is right; the refusal must speak
