import io
import pickle
import struct
import zipfile

import pytest
from fakes.safetensors_files import prefixed

from registry.artifacts.sniffing import disguise, pickle_kind
from registry.domain.artifact_faults import FaultKind


def torch_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": 1}))
    return buffer.getvalue()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol_are_recognized_where_weights_should_be(protocol: int) -> None:
    data = pickle.dumps({"weight": [1.5, 2.5], "step": 7}, protocol=protocol)
    fault = disguise(data[:4096], file="model.safetensors", size=len(data), weights=True)
    assert fault is not None
    assert fault.kind is FaultKind.PICKLE


def test_a_long_text_pickle_is_recognized_by_its_beginning() -> None:
    data = pickle.dumps({f"key{number}": number for number in range(5000)}, protocol=0)
    assert pickle_kind(data[:4096], size=len(data), text=True) is not None


def test_torch_archives_are_recognized() -> None:
    data = torch_zip()
    fault = disguise(data[:4096], file="model.safetensors", size=len(data), weights=True)
    assert fault is not None
    assert fault.kind is FaultKind.PICKLE
    assert "torch.save" in fault.observed


def test_legacy_torch_files_are_recognized() -> None:
    data = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
    assert pickle_kind(data, size=len(data)) is not None


@pytest.mark.parametrize("length", [0x280, 0x380, 0x480, 0x580])
def test_safetensors_whose_header_length_looks_like_a_pickle_are_left_alone(length: int) -> None:
    data = prefixed(b"{}" + b" " * (length - 2))
    assert data[:8] == struct.pack("<Q", length)
    assert disguise(data, file="model.safetensors", size=len(data), weights=True) is None


@pytest.mark.parametrize(
    "text", [b'{"a": 1}', b"[1, 2]", b"IQ== 0\nIg== 1\n", b"{{ messages }}", b"\x0a\x0e\x0a\x05<unk>", b"", b".", b"("]
)
def test_other_files_are_left_alone(text: bytes) -> None:
    assert disguise(text, file="tokenizer.json", size=len(text)) is None
    assert disguise(text, file="model.safetensors", size=len(text), weights=True) is None


def test_a_large_file_that_begins_like_an_lfs_pointer_is_none() -> None:
    assert disguise(b"version https://git-lfs.github.com/spec/v1\n", file="a", size=5000) is None
