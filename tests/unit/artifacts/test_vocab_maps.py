import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.artifacts.faults import FaultError
from registry.artifacts.vocab_maps import MOST_ROWS, check, is_vocab_tensor, summarize
from registry.domain.artifact_faults import FaultKind
from registry.domain.tensors import Tensor, VocabMap


def numbers(values: list[int], *, name: str = "d2t", dtype: str = "I64") -> tuple[Tensor, bytes]:
    letter = {"I64": "q", "I32": "i"}[dtype]
    return Tensor(name=name, dtype=dtype, shape=(len(values),), file="f"), struct.pack(
        f"<{len(values)}{letter}", *values
    )


def mask(true: set[int], *, rows: int) -> tuple[Tensor, bytes]:
    return Tensor(name="t2d", dtype="BOOL", shape=(rows,), file="f"), bytes(row in true for row in range(rows))


@pytest.mark.parametrize("dtype", ["I64", "I32"])
def test_offsets_are_summed_up(dtype: str) -> None:
    found = summarize([numbers([0, 0, 3, 5], dtype=dtype), mask({0, 1, 5, 8}, rows=10)])
    assert found == VocabMap(
        rows=4, offset_min=0, offset_max=8, offset_increasing=True, absolute_min=0, absolute_max=5,
        absolute_increasing=False, all_zero=False, t2d_rows=10, t2d_true=4, t2d_agrees=True,
    )  # fmt: skip


def test_an_absolute_table_shows_in_both_readings() -> None:
    found = summarize([numbers([0, 1, 5, 8])])
    assert found is not None
    assert found.absolute_increasing
    assert (found.absolute_max, found.offset_max) == (8, 11)
    assert found.t2d_agrees is None


def test_zero_offsets_are_the_identity() -> None:
    found = summarize([numbers([0, 0, 0])])
    assert found is not None
    assert found.all_zero
    assert found.offset_increasing


@pytest.mark.parametrize(
    ("offsets", "true", "rows"),
    [([0, 3], {0, 1}, 10), ([0, 3], {0}, 10), ([0, 3], {0, 4, 7}, 10), ([0, 30], {0, 4}, 10), ([-1, 3], {0, 4}, 10),
     ([1, 0], {1}, 2)],
)  # fmt: skip
def test_a_mask_that_says_something_else_does_not_agree(offsets: list[int], true: set[int], rows: int) -> None:
    found = summarize([numbers(offsets), mask(true, rows=rows)])
    assert found is not None
    # The last case: both rows name target 1, so the mask agrees although the map repeats itself.
    assert found.t2d_agrees is (offsets == [1, 0])


def test_there_is_no_map_without_d2t() -> None:
    assert summarize([]) is None
    assert summarize([mask({0}, rows=2)]) is None


@given(st.sets(st.integers(0, 500), min_size=1))
def test_a_map_made_from_kept_ids_reads_back(kept: set[int]) -> None:
    ids = sorted(kept)
    found = summarize([numbers([target - draft for draft, target in enumerate(ids)]), mask(kept, rows=501)])
    assert found is not None
    assert found.offset_increasing
    assert (found.offset_min, found.offset_max, found.rows) == (ids[0], ids[-1], len(ids))
    assert found.t2d_agrees
    assert found.t2d_true == len(ids)


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("d2t", "F32", (4,)),
        ("d2t", "BOOL", (4,)),
        ("d2t", "I64", (2, 2)),
        ("d2t", "I64", ()),
        ("d2t", "I64", (0,)),
        ("d2t", "I64", (MOST_ROWS + 1,)),
        ("model.t2d", "I64", (4,)),
        ("t2d", "U8", (MOST_ROWS + 1,)),
    ],
)
def test_maps_that_cannot_be_read_are_refused(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(FaultError) as caught:
        check(Tensor(name=name, dtype=dtype, shape=shape, file="f"))
    assert caught.value.fault.kind is FaultKind.VOCAB_MAP_MALFORMED
    assert caught.value.fault.where == name
    assert dtype in caught.value.fault.observed


def test_two_maps_and_odd_booleans_are_refused() -> None:
    with pytest.raises(FaultError, match="also 'd2t'"):
        summarize([numbers([0]), numbers([0], name="model.d2t")])
    with pytest.raises(FaultError, match="only 0 and 1"):
        summarize([numbers([0]), (mask(set(), rows=2)[0], b"\1\2")])


def test_names() -> None:
    assert is_vocab_tensor("d2t")
    assert is_vocab_tensor("model.t2d")
    assert not is_vocab_tensor("d2t.weight")
