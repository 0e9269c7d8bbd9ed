"""The founding case is what it claims to be: read back with the registry's own readers."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from registry.artifacts.directory import inspect
from registry.artifacts.shard_lists import digest_of_shards, read_shard_list
from registry.artifacts.tokenizers import inspect_tokenizer
from registry.domain.target import describe


@pytest.fixture(scope="module")
def founding() -> ModuleType:
    path = Path(__file__).parents[3] / "tools" / "founding_case.py"
    spec = importlib.util.spec_from_file_location("founding_case", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["founding_case"] = module
    spec.loader.exec_module(module)
    return module


def test_the_drafter_has_no_fault_and_its_map_holds_offsets(founding: ModuleType, tmp_path: Path) -> None:
    case = founding.write_founding_case(tmp_path)
    found = inspect(case.drafter)
    assert found.faults == ()
    assert found.inventory is not None
    vocab_map = found.inventory.vocab_map
    assert vocab_map is not None
    assert vocab_map.rows == 128
    assert vocab_map.offset_increasing
    assert 0 <= vocab_map.offset_min < vocab_map.offset_max < 512
    assert vocab_map.t2d_agrees
    fc = found.inventory.find("fc.weight")
    assert fc is not None
    assert fc.shape == (64, 192)


def test_the_target_is_the_wrapper_around_61_layers(founding: ModuleType, tmp_path: Path) -> None:
    case = founding.write_founding_case(tmp_path)
    target = describe(founding.TARGET_NAME, json.loads(case.target_config.read_text()))
    assert (target.target_class, target.layers, target.hidden_size, target.vocab_size, target.dense) == (
        "KimiK25ForConditionalGeneration", 61, 64, 512, False,
    )  # fmt: skip


def test_the_record_names_the_digests_that_the_registry_computes(founding: ModuleType, tmp_path: Path) -> None:
    case = founding.write_founding_case(tmp_path)
    record = json.loads(case.provenance.read_text())
    tokenizer = inspect_tokenizer(case.tokenizer)
    assert record["target"]["digest"] == digest_of_shards(read_shard_list(case.digests))
    assert record["tokenizer_digest"] == tokenizer.tokenizer_digest
    assert record["chat_template_digest"] == tokenizer.chat_template_digest
    assert (case.provenance.parent / record["capture"]["source"]) == case.dump_patch


def test_the_same_arguments_give_the_same_bytes(founding: ModuleType, tmp_path: Path) -> None:
    one, other = (founding.write_founding_case(tmp_path / name) for name in ("one", "other"))
    names = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(names) == 10
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes() for name in names)
    assert one != other


@pytest.mark.parametrize(
    ("key", "nested", "top"), [("nested", [3, 31, 59], None), ("top", None, [3, 31, 59]), (None, None, None)]
)
def test_ids_stand_where_they_are_asked_to(
    founding: ModuleType, tmp_path: Path, key: str | None, nested: list[int] | None, top: list[int] | None
) -> None:
    case = founding.write_founding_case(tmp_path, ids=(3, 31, 59), key=key)
    config = json.loads((case.drafter / "config.json").read_text())
    assert config.get("eagle_config", {}).get("eagle_aux_hidden_state_layer_ids") == nested
    assert config.get("eagle_aux_hidden_state_layer_ids") == top
