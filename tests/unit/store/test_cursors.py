"""Cursors say where to go on, and nothing else passes for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.domain.errors import Invalid
from registry.store import cursors


@given(st.text(), st.integers())
def test_a_cursor_comes_back_as_its_key(name, version):
    cursor = cursors.encode(name, version)
    assert cursors.decode(cursor, str, int) == (name, version)
    assert cursor.isascii()
    assert not set(cursor) & set("=+/&?#% ")


def test_no_cursor_is_the_first_page():
    assert cursors.decode(None, str) is None


@given(st.text(max_size=40))
def test_any_other_text_is_invalid_and_nothing_worse(text):
    with pytest.raises(Invalid, match="cursor"):
        cursors.decode(text, str, str, str, int)


def test_a_cursor_of_another_listing_is_invalid():
    for kinds in ((str,), (int, int), (str, str)):
        with pytest.raises(Invalid):
            cursors.decode(cursors.encode("a", 1), *kinds)


def test_true_does_not_pass_for_a_number():
    key: tuple[str | int, ...] = ("a", True)
    with pytest.raises(Invalid):
        cursors.decode(cursors.encode(*key), str, int)


@pytest.mark.parametrize(("asked", "given_"), [(-5, 1), (0, 1), (7, 7), (1000, 1000), (10**9, 1000)])
def test_a_page_has_between_one_and_a_thousand_items(asked, given_):
    assert cursors.page_size(asked) == given_
