"""The shipped profiles say what the recorded facts say, follow their schema, and are exactly what the generator makes.

The facts lie beside a development checkout; where they do not, the tests that need them are skipped with that reason.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from registry.documents.engine_profile import digest_of, parse, render
from registry.documents.validation import faults_of
from registry.domain import dialects
from registry.domain.profile import Profile, TargetFacts
from registry.domain.proposal import Build, parse_build
from registry.engines.capture import left_captured
from registry.services.profiles import ShippedProfiles

_ROOT = Path(__file__).parents[2]
_SHIPPED = _ROOT / "registry" / "engines" / "profiles"
_FACTS = _ROOT.parent / "shared" / "facts"
_ROWS_OF = {"0.5.12.post1": "0.5.12", "0.5.13": "0.5.13.post1"}
"""Builds that neighboring rows describe."""

_needs_facts = pytest.mark.skipif(not _FACTS.is_dir(), reason="no folder shared/facts beside this checkout")

_BUILDS = tuple(
    Build(engine=engine, version=version)
    for engine in ShippedProfiles().engines()
    for version in ShippedProfiles().versions(engine)
)


@cache
def _profile(build: Build) -> Profile:
    profile = ShippedProfiles().get(build)
    assert profile is not None
    return profile


def _facts(build: str, target_class: str) -> TargetFacts:
    return _profile(parse_build(build)).targets[target_class]


def test_every_build_of_the_set_is_there() -> None:
    profiles = ShippedProfiles()

    assert profiles.versions("sglang") == (
        "0.5.9", "0.5.9+founding", "0.5.10", "0.5.10.post1", "0.5.11", "0.5.12", "0.5.12.post1", "0.5.13", "0.5.14",
        "0.5.23",
    )  # fmt: skip
    assert profiles.versions("vllm") == ("0.11.2", "0.18.0", "0.28.0", "0.33.0")
    assert set(profiles.versions("sglang")) - set(profiles.upstream("sglang")) == {"0.5.9+founding"}


@pytest.mark.parametrize("build", _BUILDS, ids=str)
def test_it_follows_the_schema_and_its_digest_is_that_of_its_bytes(build: Build) -> None:
    listed = ShippedProfiles().listed(build)
    assert listed is not None
    document = json.loads((_SHIPPED / listed.file).read_bytes())

    assert faults_of("engine-profile", document) == ()
    assert digest_of(document) == listed.digest == _profile(build).digest
    assert render(parse(document)) == document


def test_no_file_lies_beside_the_listed_ones() -> None:
    profiles = ShippedProfiles()
    listed = {entry.file for build in _BUILDS if (entry := profiles.listed(build)) is not None}

    assert {path.name for path in _SHIPPED.iterdir()} == {*listed, "index.json"}
    assert profiles.set_digest == digest_of(
        {"profiles": json.loads((_SHIPPED / "index.json").read_bytes())["profiles"]}
    )


@pytest.mark.parametrize("build", _BUILDS, ids=str)
def test_every_name_in_it_is_one_that_readers_know(build: Build) -> None:
    profile = _profile(build)

    for name, facts in profile.targets.items():
        assert facts.target_class == name
        assert facts.dialect in dialects.NAMES
        assert facts.default in dialects.DEFAULTS
        assert set(facts.needed_methods) <= set(facts.missing_methods)
        assert facts.delegates_to is None or facts.delegates_to != name
    assert all(key.dialect in dialects.READERS for runner in profile.runners for key in runner.keys)
    assert sum(runner.default_for == "all" for runner in profile.runners) == 1


@pytest.mark.parametrize("build", _BUILDS, ids=str)
def test_what_is_not_established_fails_closed(build: Build) -> None:
    unresolved = [facts for facts in _profile(build).targets.values() if facts.dialect == dialects.UNRESOLVED]

    for facts in unresolved:
        captured = left_captured(facts, (2, 30, 58), layers=61)
        assert captured.depths is None
        assert captured.unresolved or captured.raises


def _capture_rows() -> Iterator[tuple[str, dict[str, Any]]]:
    if not _FACTS.is_dir():
        return
    shipped = ShippedProfiles().upstream("sglang")
    rows = json.loads((_FACTS / "sglang.json").read_bytes())
    for version in shipped:
        for row in rows:
            if row["kind"] == "eagle3_capture" and row["version"] == _ROWS_OF.get(version, version):
                yield version, row


@_needs_facts
@pytest.mark.parametrize("version", [build.version for build in _BUILDS if build.engine == "sglang"])
def test_every_executed_example_of_sglang_reads_the_same(version: str) -> None:
    source = "0.5.9" if version == "0.5.9+founding" else version
    replayed = 0
    for row_version, row in _capture_rows():
        if row_version != source:
            continue
        # The rows are of setters alone; what else a class lacks for serving does not change what its setter does.
        facts = replace(_facts(f"sglang=={version}", row["model_class"]), needed_methods=())
        for example, expected in row["ids_to_depth"]["examples"].items():
            ids, _, layers = example.partition("@")
            captured = left_captured(facts, json.loads(ids), layers=int(layers))
            outcome = list(captured.depths) if captured.depths is not None else bool(captured.raises)
            assert outcome == (expected if isinstance(expected, list) else True), (row["model_class"], example)
            replayed += 1
    assert replayed >= 13 * 30


@_needs_facts
@pytest.mark.parametrize("version", [build.version for build in _BUILDS if build.engine == "sglang"])
def test_it_lists_every_class_of_the_facts(version: str) -> None:
    source = "0.5.9" if version == "0.5.9+founding" else version
    recorded = {row["model_class"] for row_version, row in _capture_rows() if row_version == source}
    extra = {"KimiK25ForConditionalGeneration"} if source == "0.5.9" else set()

    assert set(_profile(parse_build(f"sglang=={version}")).targets) == recorded | extra


@_needs_facts
def test_every_executed_example_of_vllm_reads_the_same() -> None:
    replayed = 0
    for row in json.loads((_FACTS / "vllm.json").read_bytes())["entries"]:
        if row["engine"] != "vllm" or row["role"] != "target-capture" or "executed_detail" not in row:
            continue
        profile = ShippedProfiles().get(Build(engine="vllm", version=row["version"]))
        name = row["model_class"].partition(" ")[0].rstrip(",").replace("/V3", "")
        facts = None if profile is None else profile.targets[name]
        if facts is None or facts.refused:
            continue
        for ids, expected in row["executed_detail"].items():
            captured = left_captured(facts, json.loads(ids), layers=61)
            assert captured.depths is not None
            fails = facts.depth_zero == "raises" and 0 in captured.depths
            assert (fails if isinstance(expected, str) else list(captured.depths)) == (
                expected if isinstance(expected, list) else True
            )
            replayed += 1
    assert replayed > 100


@_needs_facts
def test_the_generator_makes_exactly_these_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(_ROOT))
    from tools.profiles_from_facts.write import every_profile, write  # noqa: PLC0415  # found on the path set above

    write(every_profile(_FACTS), tmp_path)

    shipped = {path.name: path.read_bytes() for path in _SHIPPED.iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == shipped


_KIMI = "KimiK25ForConditionalGeneration"


@pytest.mark.parametrize(
    ("build", "ids", "depths"),
    [
        ("sglang==0.5.9+founding", (-1, 2, 30), (0, 3, 31)),
        ("sglang==0.5.10.post1", (2, 30, 58), (3, 31, 59)),
        ("sglang==0.5.12.post1", (2, 30, 58), (3, 31, 59)),
        ("sglang==0.5.13", (2, 30, 58), (2, 30, 58)),
        ("sglang==0.5.14", (1, 29, 57), (2, 30, 58)),
        ("sglang==0.5.23", (3, 31, 59), (3, 31, 59)),
        ("vllm==0.33.0", (3, 31, 59), (3, 31, 59)),
        ("vllm==0.33.0", None, (2, 30, 58)),
    ],
)
def test_the_founding_target_reads_as_it_was_found_to(
    build: str, ids: tuple[int, ...] | None, depths: tuple[int, ...]
) -> None:
    assert left_captured(_facts(build, _KIMI), ids, layers=61).depths == depths


def test_the_founding_target_lacks_its_methods_only_where_upstream_did() -> None:
    stock, fork = _facts("sglang==0.5.9", _KIMI), _facts("sglang==0.5.9+founding", _KIMI)

    assert stock.needed_methods == ("set_eagle3_layers_to_capture", "get_embed_and_head")
    assert len(stock.missing_methods) == 3
    assert not stock.supported
    assert fork.supported
    assert _facts("sglang==0.5.10", _KIMI).supported
    refused = _facts("vllm==0.11.2", _KIMI)
    assert not refused.supported
    assert not refused.missing_methods  # a wrapper would not help: it is not a gap that methods fill


def test_only_the_fork_captures_the_embedding_output_before_upstream_does() -> None:
    raising = {
        version
        for version in ShippedProfiles().versions("sglang")
        if _facts(f"sglang=={version}", _KIMI).depth_zero == "raises"
    }

    assert raising == {"0.5.9", "0.5.10", "0.5.10.post1", "0.5.11", "0.5.12", "0.5.12.post1", "0.5.13"}
    patches = {patch.purpose: patch for patch in _profile(parse_build("sglang==0.5.9+founding")).patches}
    assert set(patches) == {"wrapper", "capture", "debug"}
    assert patches["capture"].active_depths == (0,)
    assert patches["wrapper"].upstream_since == "0.5.10"


def test_ids_hold_in_decode_graphs_from_0_5_11_on() -> None:
    hold = {build.version for build in _BUILDS if build.engine == "sglang" and _profile(build).graphs.ids_hold}

    assert hold == {"0.5.11", "0.5.12", "0.5.12.post1", "0.5.13", "0.5.14", "0.5.23"}


def test_markers_add_up_over_two_calls_and_lists_do_not() -> None:
    marking = _facts("sglang==0.5.10.post1", "Qwen3MoeForCausalLM")
    listing = _facts("sglang==0.5.10.post1", "Qwen3ForCausalLM")

    assert left_captured(marking, (2, 30, 58), layers=61, after_default=True).depths == (2, 3, 30, 31, 58, 59)
    assert left_captured(listing, (2, 30, 58), layers=61, after_default=True).depths == (3, 31, 59)


def test_depth_n_and_negative_numbers_follow_the_class() -> None:
    marking, listing = _facts("sglang==0.5.23", "Qwen3MoeForCausalLM"), _facts("sglang==0.5.23", "LlamaForCausalLM")

    assert left_captured(marking, (-3, 2), layers=61).depths == (3, 59)
    assert left_captured(marking, (2, 60), layers=61).raises
    assert left_captured(listing, (-3, 2), layers=61).lost == (-2,)
    assert left_captured(listing, (2, 60), layers=61).lost == (61,)
    assert left_captured(_facts("sglang==0.5.23", "GptOssForCausalLM"), (1, 30, 61), layers=61).depths == (1, 30, 61)


def test_layer_names_are_understood_as_each_build_spells_them() -> None:
    old = _profile(parse_build("sglang==0.5.11")).draft("LlamaForCausalLMEagle3")
    new = _profile(parse_build("sglang==0.5.12")).draft("LlamaForCausalLMEagle3")

    assert old is not None
    assert new is not None
    assert (old.layer_prefixes, old.legacy_names) == (("midlayer.",), ())
    assert (new.layer_prefixes, new.legacy_names) == (("midlayer.", "layers.0."), ("midlayer.",))
    assert _profile(parse_build("sglang==0.5.11")).draft("Eagle3DeepseekV2ForCausalLM") is None
    assert _profile(parse_build("sglang==0.5.12")).draft("Eagle3DeepseekV2ForCausalLM") is not None


def test_nested_ids_of_vllm_belong_to_the_v1_runner_of_later_builds() -> None:
    nested = "/eagle_config/eagle_aux_hidden_state_layer_ids"
    readers = {
        (build.version, runner.name)
        for build in _BUILDS
        if build.engine == "vllm"
        for runner in _profile(build).runners
        if nested in {key.pointer for key in runner.keys}
    }

    assert readers == {("0.28.0", "v1"), ("0.33.0", "v1")}
    assert next(r.name for r in _profile(parse_build("vllm==0.33.0")).runners if r.default_for == "all") == "v2"


@pytest.mark.parametrize("version", ["0.5.9", "0.5.10.post1", "0.5.12.post1", "0.5.13", "0.5.23"])
def test_qwen2_moe_has_the_setter_and_cannot_be_served(version: str) -> None:
    """Its file names no `get_embed_and_head` in any of these releases, and the worker always calls it."""
    facts = _facts(f"sglang=={version}", "Qwen2MoeForCausalLM")
    assert not facts.supported
    assert facts.needed_methods == ("get_embed_and_head",)
