"""The memory of unchanging parts is bounded, and what is used stays."""

from hypothesis import given
from hypothesis import strategies as st

from registry.domain.memo import Memo


def test_the_longest_unused_goes_first():
    memo: Memo[str, int] = Memo(2)
    memo.put("a", 1)
    memo.put("b", 2)
    assert memo.get("a") == 1
    memo.put("c", 3)
    assert [memo.get(key) for key in "abc"] == [1, None, 3]


def test_putting_again_replaces_without_growing():
    memo: Memo[str, int] = Memo(2)
    memo.put("a", 1)
    assert memo.put("a", 2) == 2
    assert (memo.get("a"), len(memo)) == (2, 1)


@given(st.lists(st.integers(0, 9)), st.integers(1, 4))
def test_it_never_holds_more_than_it_may_and_always_the_newest(keys, entries):
    memo: Memo[int, int] = Memo(entries)
    for key in keys:
        memo.put(key, key * 2)
        assert memo.get(key) == key * 2
        assert len(memo) <= entries
