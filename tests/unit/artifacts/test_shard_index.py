import json
from pathlib import Path

import pytest

from registry.artifacts.files import mapped_files
from registry.artifacts.shard_index import ShardIndex, disagreements, missing_shard_fault, read_index
from registry.domain.artifact_faults import FaultKind
from registry.domain.tensors import Tensor


def read(tmp_path: Path, content: object) -> ShardIndex | list[FaultKind]:
    path = tmp_path / "i"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    found = read_index(mapped_files({"i": path}), "i")
    return found if isinstance(found, ShardIndex) else [fault.kind for fault in found]


def test_a_sound_index_gives_its_shards(tmp_path: Path) -> None:
    found = read(tmp_path, {"weight_map": {"t": "sub/b.safetensors", "u": "a.safetensors", "v": "a.safetensors"}})
    assert isinstance(found, ShardIndex)
    assert found.shards() == ("a.safetensors", "sub/b.safetensors")


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (b"{", [FaultKind.INDEX_MALFORMED]),
        ([], [FaultKind.INDEX_MALFORMED]),
        ({}, [FaultKind.INDEX_MALFORMED]),
        ({"weight_map": {}}, [FaultKind.INDEX_MALFORMED]),
        ({"weight_map": {"t": 3, "u": None}}, [FaultKind.INDEX_MALFORMED] * 2),
        ({"weight_map": {"t": "pytorch_model.bin"}}, [FaultKind.INDEX_MALFORMED]),
        (b'{"weight_map": {"t": "a.safetensors", "t": "b.safetensors"}}', [FaultKind.DUPLICATE_KEY]),
        ({"weight_map": {"t": "../x.safetensors"}}, [FaultKind.PATH_ESCAPE]),
        ({"weight_map": {"t": "/x.safetensors", "u": "a\\b.safetensors"}}, [FaultKind.PATH_ESCAPE] * 2),
        ({"weight_map": {"t": "a\n.safetensors"}}, [FaultKind.PATH_ESCAPE]),
    ],
)
def test_a_bad_index_is_refused(tmp_path: Path, content: object, kinds: list[FaultKind]) -> None:
    assert read(tmp_path, content) == kinds


def test_a_missing_shard_says_which_tensors_it_should_hold() -> None:
    index = ShardIndex(file="i", weight_map={"t": "a", "s": "a", "r": "b"})
    fault = missing_shard_fault(index, "a")
    assert (fault.kind, fault.file) == (FaultKind.MISSING_SHARD, "a")
    assert "2 tensors, the first being 's'" in fault.expected


def test_each_disagreement_is_told() -> None:
    index = ShardIndex(file="i", weight_map={"right": "a", "gone": "a", "moved": "a"})
    tensors = {
        name: Tensor(name=name, dtype="U8", shape=(), file=file)
        for name, file in (("right", "a"), ("moved", "b"), ("extra", "b"))
    }
    found = list(disagreements(index, tensors))
    assert {fault.kind for fault in found} == {FaultKind.INDEX_DISAGREES}
    assert [fault.where for fault in found] == ["extra", "gone", "moved"]
