import hashlib
import json
import os
import pickle
import struct
from pathlib import Path

import pytest
from blake3 import blake3
from fakes.safetensors_files import TensorData, prefixed, write_safetensors, write_sharded

from registry.artifacts.directory import inspect, inspect_files, taken_paths
from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.tensors import Inventory

TENSORS: dict[str, TensorData] = {
    "fc.weight": ("BF16", [2, 6], b"\1" * 24),
    "midlayer.mlp.weight": ("F32", [1], b"\2" * 4),
    "d2t": ("I64", [2], struct.pack("<2q", 0, 3)),
    "t2d": ("BOOL", [6], b"\1\0\0\0\1\0"),
}


@pytest.fixture
def drafter(tmp_path: Path) -> Path:
    """A sound single-file drafter with a tokenizer."""
    directory = tmp_path / "drafter"
    write_safetensors(directory / "model.safetensors", TENSORS)
    (directory / "config.json").write_text('{"architectures": ["LlamaForCausalLMEagle3"]}')
    (directory / "tokenizer.json").write_text("{}")
    (directory / "chat_template.jinja").write_text("{{ messages }}")
    (directory / "README.md").write_text("about")
    (directory / "modeling_x.py").write_text("raise SystemExit")
    (directory / "logs").mkdir()
    return directory


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    """The same drafter in two shards, one in a subdirectory."""
    directory = tmp_path / "sharded"
    names = sorted(TENSORS)
    write_sharded(
        directory,
        {
            "model-00001-of-00002.safetensors": {name: TENSORS[name] for name in names[:2]},
            "more/model-00002-of-00002.safetensors": {name: TENSORS[name] for name in names[2:]},
        },
    )
    (directory / "config.json").write_text("{}")
    return directory


def inventory_of(directory: Path) -> Inventory:
    found = inspect(directory)
    assert found.faults == ()
    assert found.inventory is not None
    return found.inventory


def faults_of(directory: Path) -> list[tuple[FaultKind, str]]:
    return [(fault.kind, fault.file) for fault in all_faults(directory)]


def all_faults(directory: Path) -> tuple[ArtifactFault, ...]:
    found = inspect(directory)
    assert found.inventory is None
    assert found.faults
    return found.faults


def test_a_sound_drafter_gives_every_fact(drafter: Path) -> None:
    inventory = inventory_of(drafter)
    assert [(file.name, file.role) for file in inventory.files] == [
        ("chat_template.jinja", "template"),
        ("config.json", "config"),
        ("model.safetensors", "weights"),
        ("tokenizer.json", "tokenizer"),
    ]
    for file in inventory.files:
        data = (drafter / file.name).read_bytes()
        assert (file.sha256, file.size) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
    assert [tensor.name for tensor in inventory.tensors] == sorted(TENSORS)
    for tensor in inventory.tensors:
        dtype, shape, data = TENSORS[tensor.name]
        assert (tensor.dtype, list(tensor.shape), tensor.file) == (dtype, list(shape), "model.safetensors")
        assert tensor.digest == f"blake3:{blake3(data).hexdigest()}"
    assert inventory.ignored == ("README.md", "logs/", "modeling_x.py")
    assert inventory.python_files == ("modeling_x.py",)
    assert inventory.config == {"architectures": ["LlamaForCausalLMEagle3"]}
    assert inventory.vocab_map is not None
    assert (inventory.vocab_map.rows, inventory.vocab_map.offset_max, inventory.vocab_map.t2d_agrees) == (2, 4, True)
    assert inventory.tokenizer_digest is not None
    assert inventory.chat_template_digest == f"sha256:{hashlib.sha256(b'{{ messages }}').hexdigest()}"


def test_shards_give_the_same_weights_digest_as_one_file(drafter: Path, sharded: Path) -> None:
    one, many = inventory_of(drafter), inventory_of(sharded)
    assert many.weights_digest == one.weights_digest is not None
    assert many.ignored == ()
    assert [file.role for file in many.files] == ["config", "weights", "index", "weights"]


def test_blobs_give_the_same_inventory_as_the_directory(sharded: Path, tmp_path: Path) -> None:
    inventory = inventory_of(sharded)
    blobs = {}
    for number, (name, path) in enumerate(taken_paths(sharded, inventory).items()):
        blobs[name] = path.rename(tmp_path / f"blob{number}")
    assert inspect_files(blobs).inventory == inventory


@pytest.mark.parametrize("name", ["../config.json", "/config.json", "a\\b.safetensors", "x\0.json", "a//b", ""])
def test_claimed_names_are_checked_before_anything_is_opened(tmp_path: Path, name: str) -> None:
    found = inspect_files({name: tmp_path / "none"})
    assert [fault.kind for fault in found.faults] == [FaultKind.PATH_ESCAPE]


def test_headers_alone_give_no_digests_of_weights(drafter: Path) -> None:
    inventory = inspect(drafter, hash_contents=False).inventory
    assert inventory is not None
    assert inventory.weights_digest is None
    assert {tensor.digest for tensor in inventory.tensors} == {None}
    assert "model.safetensors" not in {file.name for file in inventory.files}
    assert inventory.vocab_map is not None
    assert inventory.tokenizer_digest is not None


def test_progress_ends_at_the_total(drafter: Path) -> None:
    calls: list[tuple[int, int]] = []
    inspect(drafter, progress=lambda done, total: calls.append((done, total)))
    total = sum((drafter / name).stat().st_size for name in
                ("model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja"))  # fmt: skip
    assert calls[-1] == (total, total)


def test_b56_an_lfs_pointer_is_refused_whatever_file_it_stands_for(drafter: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 99\n"
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        (drafter / name).write_bytes(pointer)
    assert faults_of(drafter) == [
        (FaultKind.LFS_POINTER, "config.json"),
        (FaultKind.LFS_POINTER, "model.safetensors"),
        (FaultKind.LFS_POINTER, "tokenizer.json"),
    ]


def test_b56_a_truncated_shard_is_refused(sharded: Path) -> None:
    name = "more/model-00002-of-00002.safetensors"
    size = (sharded / name).stat().st_size
    os.truncate(sharded / name, size - 3)
    (fault,) = all_faults(sharded)
    assert (fault.kind, fault.file, fault.observed) == (FaultKind.TRUNCATED, name, f"have {size - 3} of {size} bytes")


def test_b56_a_giant_header_length_is_refused(drafter: Path) -> None:
    (drafter / "model.safetensors").write_bytes(b"\xff" * 8 + b"{}")
    assert faults_of(drafter) == [(FaultKind.HEADER_LENGTH, "model.safetensors")]


def test_b57_a_tensor_in_two_shards_is_a_duplicate(tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.safetensors"):
        write_safetensors(tmp_path / name, TENSORS)
    (tmp_path / "config.json").write_text("{}")
    found = all_faults(tmp_path)
    assert {(fault.kind, fault.file, fault.where) for fault in found} == {
        (FaultKind.DUPLICATE_KEY, "b.safetensors", name) for name in TENSORS
    }


def test_b59_a_missing_shard_in_a_subdirectory_is_named(sharded: Path) -> None:
    (sharded / "more/model-00002-of-00002.safetensors").unlink()
    (sharded / "more").rmdir()
    assert faults_of(sharded) == [(FaultKind.MISSING_SHARD, "more/model-00002-of-00002.safetensors")]


def test_numbered_shards_without_an_index_must_be_complete(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    write_safetensors(tmp_path / "m-00001-of-00003.safetensors", {"a": ("U8", [1], b"a")})
    write_safetensors(tmp_path / "m-00003-of-00003.safetensors", {"c": ("U8", [1], b"c")})
    assert faults_of(tmp_path) == [(FaultKind.MISSING_SHARD, "m-00002-of-00003.safetensors")]
    write_safetensors(tmp_path / "m-00002-of-00003.safetensors", {"b": ("U8", [1], b"b")})
    assert len(inventory_of(tmp_path).tensors) == 3


def test_an_index_that_leads_outside_is_refused_and_nothing_there_is_read(sharded: Path) -> None:
    index = sharded / "model.safetensors.index.json"
    document = json.loads(index.read_text())
    document["weight_map"]["d2t"] = "../drafter/model.safetensors"
    index.write_text(json.dumps(document))
    (fault,) = all_faults(sharded)
    assert (fault.kind, fault.where) == (FaultKind.PATH_ESCAPE, "/weight_map/d2t")


def test_an_index_that_disagrees_with_the_shards_is_refused(sharded: Path) -> None:
    index = sharded / "model.safetensors.index.json"
    document = json.loads(index.read_text())
    document["weight_map"]["phantom"] = document["weight_map"].pop("t2d")
    index.write_text(json.dumps(document))
    assert [(fault.kind, fault.where) for fault in all_faults(sharded)] == [
        (FaultKind.INDEX_DISAGREES, "phantom"),
        (FaultKind.INDEX_DISAGREES, "t2d"),
    ]


def test_a_safetensors_file_that_the_index_does_not_name_is_refused(sharded: Path) -> None:
    write_safetensors(sharded / "stray.safetensors", {"x": ("U8", [1], b"x")})
    assert faults_of(sharded) == [(FaultKind.INDEX_DISAGREES, "stray.safetensors")]


def test_a_consolidated_copy_beside_the_shards_is_ignored(sharded: Path) -> None:
    write_safetensors(sharded / "consolidated.safetensors", TENSORS)
    assert inventory_of(sharded).ignored == ("consolidated.safetensors",)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"])
def test_a_link_under_a_taken_name_is_refused(drafter: Path, name: str) -> None:
    (drafter / name).rename(drafter / "blob")
    (drafter / name).symlink_to("blob")
    (fault,) = all_faults(drafter)
    assert (fault.kind, fault.file) == (FaultKind.SYMLINK, name)
    assert "cp -rL" in fault.expected


def test_a_shard_below_a_linked_directory_is_refused(sharded: Path, tmp_path: Path) -> None:
    (sharded / "more").rename(tmp_path / "elsewhere")
    (sharded / "more").symlink_to(tmp_path / "elsewhere")
    assert faults_of(sharded) == [(FaultKind.SYMLINK, "more/model-00002-of-00002.safetensors")]


def test_a_directory_named_through_a_link_is_read(drafter: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(drafter)
    assert inventory_of(tmp_path / "latest") == inventory_of(drafter)


def test_links_that_are_not_taken_are_ignored(drafter: Path) -> None:
    (drafter / "notes").symlink_to("/nowhere")
    assert "notes" in inventory_of(drafter).ignored


def test_b60_a_drafter_that_is_only_a_pickle_is_refused_with_a_way_out(drafter: Path) -> None:
    (drafter / "model.safetensors").unlink()
    (drafter / "pytorch_model.bin").write_bytes(pickle.dumps({}))
    (drafter / "training_args.bin").write_bytes(pickle.dumps({}))
    (fault,) = all_faults(drafter)
    assert (fault.kind, fault.file) == (FaultKind.PICKLE, "pytorch_model.bin")
    assert "convert" in fault.expected


def test_a_pickle_beside_safetensors_is_ignored(drafter: Path) -> None:
    (drafter / "pytorch_model.bin").write_bytes(pickle.dumps({}))
    assert "pytorch_model.bin" in inventory_of(drafter).ignored


def test_a_pickle_under_any_suffix_is_recognized_where_weights_are_missing(drafter: Path) -> None:
    (drafter / "model.safetensors").unlink()
    (drafter / "weights.dat").write_bytes(pickle.dumps({}))
    assert faults_of(drafter) == [(FaultKind.PICKLE, "weights.dat")]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_pickle_under_a_taken_name_is_refused(drafter: Path, name: str) -> None:
    (drafter / name).write_bytes(pickle.dumps({"a": 1}))
    assert faults_of(drafter) == [(FaultKind.PICKLE, name)]


def test_missing_weights_and_config_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")
    assert faults_of(tmp_path) == [(FaultKind.WEIGHTS_MISSING, ""), (FaultKind.CONFIG_MISSING, "config.json")]


def test_weights_without_any_tensor_are_missing(drafter: Path) -> None:
    (drafter / "model.safetensors").write_bytes(prefixed(b"{}"))
    assert faults_of(drafter) == [(FaultKind.WEIGHTS_MISSING, "model.safetensors")]


def test_special_files_under_taken_names_are_refused(drafter: Path) -> None:
    (drafter / "tokenizer.json").unlink()
    os.mkfifo(drafter / "tokenizer.json")
    assert faults_of(drafter) == [(FaultKind.UNREADABLE, "tokenizer.json")]


def test_names_that_cannot_be_stored_are_refused_where_taken(drafter: Path) -> None:
    with open(os.fsencode(drafter) + b"/bad\xff.safetensors", "wb"):  # noqa: PTH123  # not a text path
        pass
    (fault,) = all_faults(drafter)
    assert fault.kind is FaultKind.PATH_ESCAPE
    fault.file.encode()


def test_a_repeated_key_in_the_config_is_named(drafter: Path) -> None:
    (drafter / "config.json").write_text('{"ids": [2], "ids": [3]}')
    (fault,) = all_faults(drafter)
    assert (fault.kind, fault.where) == (FaultKind.DUPLICATE_KEY, "/ids")


def test_a_malformed_vocabulary_map_is_refused(drafter: Path) -> None:
    write_safetensors(drafter / "model.safetensors", {"d2t": ("F32", [2], bytes(8))})
    (fault,) = all_faults(drafter)
    assert (fault.kind, fault.where) == (FaultKind.VOCAB_MAP_MALFORMED, "d2t")


def test_faults_of_several_files_are_told_at_once(drafter: Path) -> None:
    (drafter / "config.json").write_text("[]")
    os.truncate(drafter / "model.safetensors", 20)
    (drafter / "tokenizer.json").unlink()
    (drafter / "tokenizer.json").symlink_to("x")
    assert [kind for kind, _ in faults_of(drafter)] == [
        FaultKind.CONFIG_MALFORMED,
        FaultKind.HEADER_LENGTH,
        FaultKind.SYMLINK,
    ]


def test_a_directory_that_is_none_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        inspect(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        inspect(tmp_path / "file")
