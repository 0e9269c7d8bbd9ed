"""Profile documents: both ways without loss, one digest per profile, and faults that name place and expectation."""

import copy
from typing import Any

import pytest

from registry.documents.engine_profile import digest_of, parse, render
from registry.documents.validation import faults_of
from registry.domain.profile import Patch, Rename, Runner

_DOCUMENT: dict[str, Any] = {
    "schema": "roost.engine-profile/1",
    "engine": "sglang",
    "version": "0.5.9+mine",
    "revision": 2,
    "upstream": "0.5.9",
    "targets": {
        "KimiK25ForConditionalGeneration": {
            "missing_methods": ["set_eagle3_layers_to_capture"],
            "needed_methods": ["set_eagle3_layers_to_capture"],
            "dialect": "plus_one",
            "default": "early_middle_late",
            "depth_zero": "raises",
            "delegates_to": "DeepseekV3ForCausalLM",
            "at": "kimi_k25.py:648",
            "established": "curated",
        },
    },
    "runners": [
        {
            "name": "v1",
            "keys": [{"pointer": "/a/b", "dialect": "plus_one"}],
            "default_classes": ["LlamaForCausalLM"],
            "startup_runs_fc": False,
        }
    ],
    "graphs": {"ids_hold": False, "disable_option": "--disable-cuda-graph", "cost": "slower"},
    "drafts": [
        {
            "architectures": ["LlamaForCausalLMEagle3"],
            "parameters": ["fc.weight"],
            "renames": [{"old": "midlayer", "new": "layers.0"}],
            "layer_prefixes": ["midlayer."],
            "flags": {"fc_norm": "honored"},
        }
    ],
    "launch": {"algorithm": "EAGLE3", "startup_pass": True},
    "patches": [{"name": "p", "purpose": "capture", "summary": "s", "active_depths": [0]}],
}


def test_a_document_comes_back_as_it_was() -> None:
    profile = parse(_DOCUMENT)

    assert render(profile) == _DOCUMENT
    assert parse(render(profile)) == profile
    assert profile.digest == digest_of(_DOCUMENT)


def test_lists_become_tuples_and_objects_become_records() -> None:
    profile = parse(_DOCUMENT, digest="sha256:known")

    assert profile.digest == "sha256:known"
    assert isinstance(profile.runners[0], Runner)
    assert profile.runners[0].default_classes == ("LlamaForCausalLM",)
    assert profile.drafts[0].renames == (Rename(old="midlayer", new="layers.0"),)
    assert profile.patches == (Patch(name="p", purpose="capture", summary="s", active_depths=(0,)),)
    assert profile.targets["KimiK25ForConditionalGeneration"].missing_methods == ("set_eagle3_layers_to_capture",)
    hash(profile.runners)
    hash(profile.patches)


def test_defaults_that_are_written_out_mean_the_same_profile() -> None:
    spelled = copy.deepcopy(_DOCUMENT)
    spelled["targets"]["KimiK25ForConditionalGeneration"] |= {"captures": "listed", "depth_n": "dropped"}

    assert faults_of("engine-profile", spelled) == ()
    assert render(parse(spelled)) == _DOCUMENT


def test_the_example_is_valid() -> None:
    assert faults_of("engine-profile", _DOCUMENT) == ()


@pytest.mark.parametrize(
    ("path", "value", "pointer", "told"),
    [
        (("targets", "KimiK25ForConditionalGeneration", "dialect"), "plus_two",
         "/targets/KimiK25ForConditionalGeneration/dialect", "plus_one"),
        (("runners", 0, "keys", 0, "pointer"), "a.b", "/runners/0/keys/0/pointer", "JSON Pointer"),
        (("runners",), [], "/runners", "empty list"),
        (("graphs", "ids_hold"), "yes", "/graphs/ids_hold", "true or false"),
        (("drafts", 0, "flags"), {"fc_norm": "perhaps"}, "/drafts/0/flags/fc_norm", "honored"),
        (("launch", "skip_startup_pass"), "skip", "/launch/skip_startup_pass", "launch option"),
        (("revision",), 0, "/revision", "1"),
    ],
)  # fmt: skip
def test_a_fault_names_its_place_and_what_was_expected(
    path: tuple[str | int, ...], value: object, pointer: str, told: str
) -> None:
    broken = copy.deepcopy(_DOCUMENT)
    place: Any = broken
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value

    faults = faults_of("engine-profile", broken)

    assert [fault.pointer for fault in faults] == [pointer]
    assert told in f"{faults[0].message} {faults[0].hint}"


def test_an_unknown_key_names_the_nearest_valid_one() -> None:
    broken = copy.deepcopy(_DOCUMENT)
    broken["targets"]["KimiK25ForConditionalGeneration"]["dialekt"] = "identity"

    (fault,) = faults_of("engine-profile", broken)

    assert fault.pointer == "/targets/KimiK25ForConditionalGeneration/dialekt"
    assert "dialect" in f"{fault.message} {fault.hint}"
