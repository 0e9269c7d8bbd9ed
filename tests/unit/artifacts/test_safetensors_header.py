import io
import json
import random
import struct

import pytest
import safetensors
from fakes.safetensors_files import prefixed, safetensors_bytes
from hypothesis import given
from hypothesis import strategies as st

from registry.artifacts.safetensors_header import HEADER_CAP, Header, read_header
from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.tensors import DTYPE_BITS


def read(data: bytes, *, size: int | None = None) -> Header | tuple[ArtifactFault, ...]:
    return read_header(io.BytesIO(data), size=len(data) if size is None else size, file="model.safetensors")


def kinds(data: bytes) -> list[FaultKind]:
    found = read(data)
    assert isinstance(found, tuple)
    return [fault.kind for fault in found]


def only_fault(data: bytes) -> ArtifactFault:
    found = read(data)
    assert isinstance(found, tuple)
    assert len(found) == 1
    return found[0]


def with_entry(entry: object, *, data: bytes = b"\0" * 8, name: str = "t") -> bytes:
    return prefixed(json.dumps({name: entry}).encode()) + data


def test_a_sound_file_gives_tensors_by_offset_and_metadata() -> None:
    data = safetensors_bytes(
        {"b": ("F32", [2], b"\1" * 8), "a": ("BF16", [1, 3], b"\2" * 6), "scalar": ("I64", [], b"\3" * 8)},
        metadata={"format": "pt"},
    )
    header = read(data)
    assert isinstance(header, Header)
    assert [span.name for span in header.tensors] == ["b", "a", "scalar"]
    assert [data[span.begin : span.end] for span in header.tensors] == [b"\1" * 8, b"\2" * 6, b"\3" * 8]
    assert header.tensors[2].shape == ()
    assert header.metadata == {"format": "pt"}


def test_tensors_without_elements_may_lie_anywhere_between() -> None:
    data = safetensors_bytes(
        {"e0": ("F32", [0, 7], b""), "a": ("U8", [2], b"xy"), "e1": ("F32", [0], b""), "e2": ("I8", [0], b"")}
    )
    header = read(data)
    assert isinstance(header, Header)
    assert {span.name for span in header.tensors} == {"e0", "a", "e1", "e2"}


class _ExplodingStream(io.BytesIO):
    """Fails when asked for more than a header could have."""

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert 0 <= size <= 4096
        return super().read(size)


@pytest.mark.parametrize("length", [2**64 - 1, HEADER_CAP + 1, 2**63, HEADER_CAP, 1 << 20])
def test_b56_c_a_header_length_beyond_cap_or_file_is_refused_before_any_allocation(length: int) -> None:
    data = struct.pack("<Q", length) + b"{}" + b" " * 100
    found = read_header(_ExplodingStream(data), size=len(data), file="model.safetensors")
    assert isinstance(found, tuple)
    assert [fault.kind for fault in found] == [FaultKind.HEADER_LENGTH]
    assert str(length) in found[0].observed


def test_a_header_length_within_a_huge_sparse_file_is_still_capped() -> None:
    data = struct.pack("<Q", 200_000_000) + b"{" + b" " * 100
    found = read_header(_ExplodingStream(data), size=1 << 40, file="model.safetensors")
    assert isinstance(found, tuple)
    assert found[0].kind is FaultKind.HEADER_LENGTH


@pytest.mark.parametrize("length", [0, 1])
def test_a_header_too_short_for_an_object_is_refused(length: int) -> None:
    assert kinds(struct.pack("<Q", length) + b"{}") == [FaultKind.HEADER_LENGTH]


def test_b56_a_a_git_lfs_pointer_is_named_as_such() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 1234567\n"
    fault = only_fault(pointer)
    assert fault.kind is FaultKind.LFS_POINTER
    assert "1234567" in fault.observed
    assert "git lfs pull" in fault.expected


def test_b56_b_a_truncated_file_says_how_much_is_there() -> None:
    whole = safetensors_bytes({"a": ("F32", [100], b"\0" * 400)})
    fault = only_fault(whole[:-150])
    assert fault.kind is FaultKind.TRUNCATED
    assert fault.observed == f"have {len(whole) - 150} of {len(whole)} bytes"


@pytest.mark.parametrize("size", [0, 1, 7])
def test_less_than_a_length_prefix_is_truncated(size: int) -> None:
    fault = only_fault(b"\0" * size)
    assert fault.kind is FaultKind.TRUNCATED
    assert fault.observed.startswith(f"have {size} of")


def test_a_file_cut_inside_its_header_says_how_much_is_there() -> None:
    whole = safetensors_bytes({"a": ("F32", [1], b"\0" * 4)})
    fault = only_fault(whole[:20])
    assert fault.kind is FaultKind.HEADER_LENGTH
    assert "have 20 of at least" in fault.observed


def test_b57_bytes_that_differ_from_the_shape_are_named_with_both_numbers() -> None:
    fault = only_fault(with_entry({"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 4]}, data=b"\0" * 4))
    assert fault.kind is FaultKind.SIZE_MISMATCH
    assert fault.where == "t"
    assert "4 bytes" in fault.observed
    assert "4000000 bytes" in fault.expected


def test_sub_byte_types_must_fill_whole_bytes() -> None:
    assert isinstance(read(with_entry({"dtype": "F4", "shape": [6], "data_offsets": [0, 3]}, data=b"abc")), Header)
    fault = only_fault(with_entry({"dtype": "F4", "shape": [5], "data_offsets": [0, 3]}, data=b"abc"))
    assert fault.kind is FaultKind.SIZE_MISMATCH


def test_b57_a_repeated_tensor_is_refused_by_name() -> None:
    entry = b'{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    fault = only_fault(prefixed(b'{"a/b":' + entry + b',"a/b":' + entry + b"}") + b"x")
    assert fault.kind is FaultKind.DUPLICATE_KEY
    assert fault.where == "a/b"


def test_a_repeated_key_inside_an_entry_is_refused_with_its_place() -> None:
    fault = only_fault(prefixed(b'{"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}') + b"x")
    assert fault.kind is FaultKind.DUPLICATE_KEY
    assert fault.where == "/t/dtype"


@pytest.mark.parametrize(
    ("offsets", "what"),
    [([[0, 4], [2, 6]], "overlaps"), ([[0, 4], [0, 4]], "overlaps"), ([[0, 4], [6, 10]], "hole")],
)
def test_overlaps_and_holes_name_the_tensor(offsets: list[list[int]], what: str) -> None:
    entries = {
        name: {"dtype": "U8", "shape": [4], "data_offsets": place} for name, place in zip("ab", offsets, strict=True)
    }
    end = max(place[1] for place in offsets)
    fault = only_fault(prefixed(json.dumps(entries).encode()) + b"\0" * end)
    assert fault.kind is FaultKind.OVERLAP_OR_HOLE
    assert fault.where == "b"
    assert what in fault.observed


def test_a_hole_before_the_first_tensor_is_refused() -> None:
    data = with_entry({"dtype": "U8", "shape": [4], "data_offsets": [4, 8]})
    assert kinds(data) == [FaultKind.OVERLAP_OR_HOLE]


def test_bytes_after_the_last_tensor_are_refused() -> None:
    fault = only_fault(safetensors_bytes({"a": ("U8", [2], b"xy")}) + b"hidden")
    assert fault.kind is FaultKind.OVERLAP_OR_HOLE
    assert "6 bytes" in fault.observed


def test_all_faults_are_told_at_once() -> None:
    entries = {
        "unknown": {"dtype": "X9", "shape": [1], "data_offsets": [0, 1]},
        "small": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        "negative": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
    }
    found = read(prefixed(json.dumps(entries).encode()) + b"\0" * 8)
    assert isinstance(found, tuple)
    assert {fault.where for fault in found} == {"unknown", "small", "negative"}


@pytest.mark.parametrize(
    "entry",
    [
        None,
        7,
        [],
        {},
        {"dtype": "U8", "shape": [8]},
        {"dtype": "U8", "shape": [8], "data_offsets": [0, 8], "extra": 1},
        {"dtype": 3, "shape": [8], "data_offsets": [0, 8]},
        {"dtype": "u8", "shape": [8], "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": 8, "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": [8.0], "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": [True, 8], "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": ["8"], "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": [2**64], "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": [1] * 65, "data_offsets": [0, 1]},
        {"dtype": "U8", "shape": [8], "data_offsets": [0]},
        {"dtype": "U8", "shape": [8], "data_offsets": [0, 4, 8]},
        {"dtype": "U8", "shape": [8], "data_offsets": [8, 0]},
        {"dtype": "U8", "shape": [8], "data_offsets": [-8, 0]},
        {"dtype": "U8", "shape": [8], "data_offsets": None},
    ],
)
def test_malformed_entries_name_their_tensor(entry: object) -> None:
    fault = only_fault(with_entry(entry))
    assert fault.kind is FaultKind.HEADER_MALFORMED
    assert fault.where == "t"


@pytest.mark.parametrize(
    "header",
    [
        b"[1, 2]",
        b" {}",
        b"{",
        b'{"a": }',
        b"\xff\xfe{}",
        b'{"a\xff": 1}',
        b'{"a": NaN}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1e999}',
        b'{"a":' * 50_000,
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' + b"[" * 100 + b"]" * 100 + b"}",
        b'{"\\ud800": 1}',
        b'{"": {"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
        b'{"a\\u0007": {"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
        b'{"__metadata__": {"a": 1}}',
        b'{"__metadata__": []}',
    ],
)
def test_headers_that_are_no_object_of_tensors_are_refused(header: bytes) -> None:
    assert FaultKind.HEADER_MALFORMED in kinds(prefixed(header))


def test_shapes_whose_product_is_astronomic_do_not_hang() -> None:
    fault = only_fault(with_entry({"dtype": "F64", "shape": [2**63 - 1] * 64, "data_offsets": [0, 8]}))
    assert fault.kind is FaultKind.SIZE_MISMATCH
    assert len(fault.expected) < 300


def test_the_number_of_faults_is_bounded() -> None:
    header = {f"t{number}": 0 for number in range(10_000)}
    found = read(prefixed(json.dumps(header).encode()))
    assert isinstance(found, tuple)
    assert len(found) == 32


_LAYOUTS = st.dictionaries(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(
        lambda name: name != "__metadata__"
    ),
    st.tuples(
        st.sampled_from([dtype for dtype, bits in DTYPE_BITS.items() if bits >= 8]),
        st.lists(st.integers(0, 4), max_size=4),
    ),
    max_size=8,
)


def _file(layout: dict[str, tuple[str, list[int]]], metadata: dict[str, str] | None = None) -> bytes:
    def size(dtype: str, shape: list[int]) -> int:
        count = DTYPE_BITS[dtype] // 8
        for dimension in shape:
            count *= dimension
        return count

    tensors = {name: (dtype, shape, bytes(size(dtype, shape))) for name, (dtype, shape) in layout.items()}
    return safetensors_bytes(tensors, metadata=metadata)


@given(layout=_LAYOUTS, metadata=st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_every_written_header_reads_back(
    layout: dict[str, tuple[str, list[int]]], metadata: dict[str, str] | None
) -> None:
    # U+0000 in metadata is refused on purpose: no database text can hold it.
    clean = None if metadata is None else {k.replace("\0", ""): v.replace("\0", "") for k, v in metadata.items()}
    header = read(_file(layout, clean))
    assert isinstance(header, Header)
    assert {span.name: (span.dtype, list(span.shape)) for span in header.tensors} == layout
    assert header.metadata == (clean or {})


@given(layout=_LAYOUTS, seed=st.integers(0, 2**32), cuts=st.integers(0, 3), flips=st.integers(0, 6))
def test_a_damaged_file_gives_a_header_or_faults_and_what_we_accept_the_library_accepts(
    layout: dict[str, tuple[str, list[int]]], seed: int, cuts: int, flips: int
) -> None:
    randomness = random.Random(seed)
    data = bytearray(_file(layout))
    for _ in range(flips):
        if data:
            place = randomness.randrange(len(data))
            data[place] = randomness.choice([0, 0x22, 0x5B, 0x7B, 0x80, 0xFF, 0x30, 0x39, randomness.randrange(256)])
    for _ in range(cuts):
        begin = randomness.randrange(len(data) + 1)
        del data[begin : begin + randomness.randrange(4)]
    found = read(bytes(data))
    if isinstance(found, tuple):
        assert found
        assert all(fault.observed and fault.expected for fault in found)
    else:
        safetensors.deserialize(bytes(data))


@given(st.binary(max_size=200))
def test_random_bytes_never_crash(data: bytes) -> None:
    read(data)
    read(prefixed(data))
