import json

import pytest
from fakes.small_engine import GRAPH_RUNNER, RUNNER_IN_TIME, RUNNER_TOO_LATE, engine, text_model
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import engine_profile
from registry.documents.validation import faults_of
from registry.engines.consistency import contradictions
from registry.engines.scan.sglang import NotSglang, scan_sglang
from registry.engines.scan.sources import HeldSources

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"


def scan(**files):
    return scan_sglang(HeldSources(engine(**files)), version="1.0")


def test_the_document_is_a_valid_profile_and_parses_without_loss():
    document = json.loads(json.dumps(scan().document))
    assert faults_of("engine-profile", document) == ()
    profile = engine_profile.parse(document)
    assert list(contradictions(profile)) == []
    assert profile.build == "sglang==1.0"
    assert json.loads(json.dumps(engine_profile.render(profile))) == document


def test_the_same_text_gives_the_same_bytes():
    assert json.dumps(scan().document) == json.dumps(scan().document)


def test_ids_that_are_set_after_the_graphs_do_not_hold_in_them():
    graphs = scan(runner=RUNNER_TOO_LATE).document["graphs"]
    assert graphs["ids_hold"] is False
    assert graphs["at"].startswith("sglang/srt/model_executor/model_runner.py:")


def test_ids_that_are_set_before_the_graphs_hold():
    assert scan(runner=RUNNER_IN_TIME).document["graphs"]["ids_hold"] is True


def test_a_graph_runner_that_asks_for_the_default_overrules_ids_set_before():
    document = scan(runner=RUNNER_IN_TIME, graph_runner=GRAPH_RUNNER).document
    assert document["graphs"]["ids_hold"] is False
    assert document["evidence"]["graphs"]["default_at"] == "sglang/srt/model_executor/cuda_graph_runner.py:4"


def test_an_order_that_cannot_be_told_is_unresolved_and_taken_not_to_hold():
    runner = RUNNER_IN_TIME.replace("self.init_device_graphs()", "pass")
    result = scan(runner=runner)
    assert result.document["graphs"]["ids_hold"] is False
    assert result.document["evidence"]["graphs"]["established"] == "unresolved"
    assert any(entry.about == "graphs" for entry in result.unresolved)


def test_where_ids_are_read_and_what_switches_capturing_off():
    runner = scan(runner=RUNNER_IN_TIME).document["runners"][0]
    assert runner["keys"] == [{"pointer": NESTED}]
    assert runner["capture_off"] == "/eagle_config/use_aux_hidden_state"
    assert runner["empty_ids"] == "nothing"
    assert "capture_off" not in scan(runner=RUNNER_TOO_LATE).document["runners"][0]


def test_malformed_configs_show_what_the_runner_makes_of_them():
    rows = scan().document["evidence"]["malformed_configs"]
    by_config = {json.dumps(row["config"]): row for row in rows}
    assert by_config["{}"]["ids"] is None
    assert by_config['{"eagle_config": [1, 2]}']["ids"] is None
    assert by_config['{"eagle_config": {"eagle_aux_hidden_state_layer_ids": "1,2"}}']["ids"] == "1,2"


def test_a_runner_without_guard_shows_what_it_raises():
    bare = RUNNER_IN_TIME.replace("except Exception:", "except KeyError:")
    rows = scan(runner=bare).document["evidence"]["malformed_configs"]
    assert {row.get("raises", "")[:14] for row in rows} == {"", "AttributeError"}


def test_the_draft_class_and_its_tensors():
    document = scan().document
    draft = document["drafts"][0]
    assert draft["architectures"] == ["OakForCausalLMEagle3"]
    assert "layers.0.self_attn.q_proj.weight" in draft["parameters"]
    assert "layers.0.self_attn.q_norm.weight" not in draft["parameters"]
    assert draft["optional"] == ["d2t", "t2d", "fc.bias", "layers.0.self_attn.o_proj.bias", "fc_norm.0.weight"]
    assert draft["renames"] == [{"old": "layers.0.", "new": "midlayer.", "anchored": True}]
    assert draft["tap_count"] == ["nested", "top_level"]
    assert draft["flags"]["fc_norm"] == "honored"
    assert draft["flags"]["norm_before_fc"] == draft["flags"]["norm_before_residual"] == "ignored"
    assert (draft["model_prefix"], draft["unknown_tensor"]) == ("doubled", "warned")
    assert (draft["head_shared"], draft["fc_bypass"]) == ("null_draft_vocab", True)
    assert "many_layers" not in draft
    assert document["evidence"]["drafts"]["OakForCausalLMEagle3"] == {"d2t": "offsets"}


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("tensor + torch.arange(tensor.shape[0])", "tensor", "d2t", "absolute"),
        ("self.hot_token_id = tensor + torch.arange(tensor.shape[0])", "pass", "d2t", "ignored"),
        ("if config.num_hidden_layers != 1:", "if False:", "many_layers", True),
        ("logger.warning(", "str(", "unknown_tensor", None),
        (r'name = re.sub(r"^layers\.0\.", "midlayer.", name)', "pass", "layer_prefixes", ["midlayer."]),
        ("if name not in params:", "if 0:", "unknown_tensor", "refused"),
        ('f"model.{name}"', '"model." + name.removeprefix("model.")', "model_prefix", None),
    ],
)  # fmt: skip
def test_one_changed_line_of_the_draft_changes_its_fact(old, new, key, expected):
    text = engine()["sglang/srt/models/oak_eagle3.py"]
    assert old in text
    document = scan(draft=text.replace(old, new)).document
    held = document["drafts"][0] | document["evidence"]["drafts"]["OakForCausalLMEagle3"]
    assert held.get(key) == expected


def test_launch_options_plugins_and_the_pass_before_healthy():
    document = scan().document
    assert document["launch"] == {
        "algorithm": "EAGLE3",
        "startup_pass": True,
        "skip_startup_pass": "--skip-server-warmup",
    }
    options = document["evidence"]["launch_options"]
    assert options["--speculative-algorithm"]["choices"] == ["EAGLE", "EAGLE3"]
    assert options["--speculative-accept-threshold-acc"]["default"] == 1.0
    assert document["graphs"]["disable_option"] == "--disable-cuda-graph"
    assert [entry["kind"] for entry in document["evidence"]["plugins"]] == ["model_package"]


def test_dflash_counts_in_its_own_way_on_the_same_class():
    found = scan(oak=text_model(ids="list(layer_ids)")).document
    assert found["targets"]["OakForCausalLM"]["dialect"] == "identity"
    setter = found["evidence"]["block_setters"]["OakForCausalLM"]["set_dflash_layers_to_capture"]
    assert (setter["dialect"], setter["without_ids"]) == ("plus_one", "raises")


def test_a_file_that_does_not_parse_is_listed_and_the_rest_is_scanned():
    result = scan(elm="class Elm(:\n    set_eagle3_layers_to_capture\nEntryClass = Elm\n")
    assert "OakForCausalLM" in result.document["targets"]
    assert [entry.file for entry in result.unresolved] == ["sglang/srt/models/elm.py"]
    assert result.document["evidence"]["unresolved"] == [str(entry) for entry in result.unresolved]


def test_sources_without_models_are_refused():
    with pytest.raises(NotSglang, match="sglang/srt/models"):
        scan_sglang(HeldSources({"vllm/config.py": ""}), version="1.0")


FEW = ("models/oak.py", "models/oak_eagle3.py", "model_executor/model_runner.py", "server_args.py")
PATHS = [path for path in sorted(engine()) if path.endswith(FEW)]
"""What fuzzing needs of the engine: less makes more examples."""


def scan_few(**changed):
    texts = {path: text for path, text in engine().items() if path in PATHS}
    return scan_sglang(HeldSources(texts | changed), version="1.0")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(PATHS), st.integers(0, 4000), st.integers(0, 60), st.text(max_size=12))
def test_damaged_sources_end_in_a_profile(path, start, length, inserted):
    text = engine()[path]
    result = scan_few(**{path: text[:start] + inserted + text[start + length :]})
    assert set(result.document) >= {"targets", "runners", "graphs", "drafts", "launch"}


HOSTILE = (
    "while True: pass",
    "x = [0] * 10 ** 12",
    "self.set_eagle3_layers_to_capture(layer_ids)",
    "raise SystemExit",
    "__import__('os').abort()",
    "layer_ids = layer_ids * 10 ** 6",
    "return [self.forward() for _ in range(10 ** 9)]",
)


@pytest.mark.parametrize("line", HOSTILE)
@pytest.mark.parametrize(
    "place", ["self.capture_aux_hidden_states = True", "taken = []", "self.layers_to_capture = []"]
)
def test_hostile_lines_in_setters_passes_and_constructors_are_only_unresolved(line, place):
    text = text_model()
    assert place in text
    changed = "\n".join(written.replace(place, line) if place in written else written for written in text.split("\n"))
    result = scan_few(**{"sglang/srt/models/oak.py": changed})
    assert "OakForCausalLM" in result.document["targets"]
