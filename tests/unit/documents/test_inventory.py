"""An inventory comes back from its stored shape as it went in."""

import json

import pytest
from fakes import new_records
from hypothesis import given
from hypothesis import strategies as st

from registry.documents import inventory
from registry.domain.tensors import DTYPE_BITS, Inventory, StoredFile, Tensor, VocabMap

DIGESTS = st.integers(0, 2**256 - 1).map(lambda number: f"sha256:{number:064x}")
WHOLE = st.integers(0, 2**53)
FILES = st.builds(
    StoredFile, name=st.text(min_size=1), size=WHOLE, sha256=DIGESTS, role=st.sampled_from(["config", "weights"])
)
TENSORS = st.builds(
    Tensor,
    name=st.text(min_size=1),
    dtype=st.sampled_from(sorted(DTYPE_BITS)),
    shape=st.lists(WHOLE, max_size=4).map(tuple),
    digest=st.none() | DIGESTS,
    file=st.text(),
)
MAPS = st.builds(
    VocabMap,
    **dict.fromkeys(["rows", "offset_min", "offset_max", "absolute_min", "absolute_max"], WHOLE),
    **dict.fromkeys(["offset_increasing", "absolute_increasing", "all_zero"], st.booleans()),
    t2d_rows=st.none() | WHOLE,
    t2d_true=st.none() | WHOLE,
    t2d_agrees=st.none() | st.booleans(),
)
INVENTORIES = st.builds(
    Inventory,
    files=st.lists(FILES, max_size=3).map(tuple),
    ignored=st.lists(st.text(), max_size=2).map(tuple),
    tensors=st.lists(TENSORS, max_size=3).map(tuple),
    config=st.dictionaries(st.text(), st.none() | st.booleans() | WHOLE | st.lists(WHOLE), max_size=3),
    vocab_map=st.none() | MAPS,
    weights_digest=st.none() | DIGESTS,
    tokenizer_digest=st.none() | DIGESTS,
    chat_template_digest=st.none() | DIGESTS,
    python_files=st.lists(st.text(), max_size=2).map(tuple),
)


@given(INVENTORIES)
def test_what_is_rendered_is_read_back_equal_through_json(given_):
    assert inventory.parse(json.loads(json.dumps(inventory.render(given_)))) == given_


def test_a_tensor_is_stored_as_a_row():
    rendered = inventory.render(new_records.inventory(1))
    assert rendered["tensors"][1][:3] == ["fc.weight", "BF16", [64, 192]]


def test_a_member_that_is_missing_is_an_error_and_never_a_default():
    rendered = inventory.render(new_records.inventory(1))
    del rendered["vocab_map"]
    with pytest.raises(KeyError):
        inventory.parse(rendered)
