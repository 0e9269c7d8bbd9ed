from dataclasses import replace

import pytest
from fakes.profiles import NESTED, TOP, config, draft_facts, inventory, profile, situation, target_facts

from registry.domain.reading import Outcome
from registry.domain.taps import depths_of
from registry.engines.launch import parse_launch
from registry.engines.reader import read


def phases(reading):
    return depths_of(reading.taps.prefill), depths_of(reading.taps.decode)


def test_plus_one_reads_layer_outputs():
    reading = read(situation())
    assert phases(reading) == ((3, 31, 59), (3, 31, 59))
    assert reading.outcome is Outcome.SERVES


def test_ids_set_after_graph_capture_reach_prefill_only():
    reading = read(situation(profile(ids_hold=False)))
    assert phases(reading) == ((3, 31, 59), (2, 30, 58))
    assert reading.decode_graphs == "default"


def test_disabling_graphs_lets_the_ids_reach_decode():
    launch = parse_launch("--disable-cuda-graph", "sglang")
    reading = read(situation(profile(ids_hold=False), launch=launch))
    assert phases(reading) == ((3, 31, 59), (3, 31, 59))
    assert reading.decode_graphs == "off"


def test_ids_under_a_key_that_is_not_read_fall_back_to_the_default():
    reading = read(situation(made_config=config([2, 30, 58], pointer=TOP)))
    assert phases(reading) == ((2, 30, 58), (2, 30, 58))
    assert reading.outcome is Outcome.DEFAULTS
    assert [found.pointer for found in reading.ignored] == [TOP]


def test_no_ids_at_all_serve_the_default():
    reading = read(situation(made_config=config()))
    assert phases(reading) == ((2, 30, 58), (2, 30, 58))
    assert reading.outcome is Outcome.SERVES
    assert reading.requested == ()


@pytest.mark.parametrize(("ids_hold", "launch", "outcome"), [
    (True, None, Outcome.REFUSES),
    (False, None, Outcome.REFUSES),
    (False, "--skip-server-warmup", Outcome.CRASHES),
    (True, "--skip-server-warmup", Outcome.REFUSES),
])  # fmt: skip
def test_depth_zero_that_raises_fails_at_the_first_pass(ids_hold, launch, outcome):
    made = profile(facts=target_facts(depth_zero="raises"), ids_hold=ids_hold)
    options = parse_launch(launch, "sglang") if launch else None
    reading = read(situation(made, config([-1, 2, 30]), launch=options))
    assert depths_of(reading.taps.prefill) == (0, 3, 31)
    assert reading.failure("depth_zero") is not None
    assert reading.outcome is outcome


def test_a_missing_setter_leaves_no_taps_and_refuses():
    facts = target_facts(
        missing_methods=("set_eagle3_layers_to_capture",), needed_methods=("set_eagle3_layers_to_capture",)
    )
    reading = read(situation(profile(facts=facts)))
    assert reading.taps is None
    assert reading.outcome is Outcome.REFUSES


def test_a_class_that_is_not_listed_is_unknown():
    made = situation()
    reading = read(situation(target=type(made.target)(name="x", target_class="Other", layers=61)))
    assert reading.taps is None
    assert reading.outcome is Outcome.UNKNOWN


def test_lost_depth_makes_the_first_draft_pass_fail():
    reading = read(situation(made_config=config([2, 30, 60])))
    assert phases(reading)[0] == (3, 31)
    assert reading.lost == (61,)
    assert reading.outcome is Outcome.REFUSES
    assert reading.failure("too_few") is not None


def test_capture_switched_off_captures_nothing():
    runner_off = profile()
    runner = type(runner_off.runners[0])(
        keys=runner_off.runners[0].keys, capture_off="/eagle_config/use_aux_hidden_state"
    )
    made = profile(runners=(runner,))
    body = config([2, 30, 58])
    body["eagle_config"]["use_aux_hidden_state"] = False
    reading = read(situation(made, body))
    assert not reading.captures
    assert reading.taps.prefill == ()


def test_equal_width_bypasses_fc_without_a_word():
    made = profile(draft=draft_facts(fc_bypass=True))
    reading = read(situation(made, config([2], num_aux_hidden_states=3)))
    assert reading.draft.fc_bypassed
    assert reading.outcome is Outcome.SERVES


def test_wrong_fc_width_refuses_at_load():
    reading = read(situation(inventory=inventory(taps=4)))
    assert reading.outcome is Outcome.REFUSES
    assert "fc.weight is [64, 256], but this build makes it [64, 192]" in reading.failure("shape").message


def test_ids_that_are_no_whole_numbers_refuse():
    reading = read(situation(made_config=config(["2", "30", "58"])))
    assert reading.taps is None
    assert reading.failure("bad_value") is not None


def test_an_empty_list_is_a_fact_of_the_runner():
    assert depths_of(read(situation(made_config=config([]))).taps.prefill) == (2, 30, 58)
    base = profile()
    runner = type(base.runners[0])(keys=base.runners[0].keys, empty_ids="nothing")
    assert read(situation(profile(runners=(runner,)), config([]))).taps.prefill == ()


def test_key_order_decides_which_list_is_used():
    made = profile(keys=((TOP, "identity"), (NESTED, "identity")), facts=target_facts(dialect="identity"))
    body = config([3, 31, 59], pointer=TOP, eagle_config={"eagle_aux_hidden_state_layer_ids": [2, 30, 58]})
    assert phases(read(situation(made, body)))[0] == (3, 31, 59)


def test_unknown_architecture_is_no_draft_class():
    reading = read(situation(made_config=config([2, 30, 58], architectures=["Qwen3ForCausalLM"])))
    assert reading.outcome is Outcome.REFUSES
    assert not reading.draft.supported


def test_layer_names_a_build_does_not_map_are_dropped():
    made = profile(draft=draft_facts(layer_prefixes=("midlayer.",)))
    reading = read(situation(made, inventory=inventory(layer="layers.0.")))
    assert not reading.draft.naming_understood
    assert "layers.0.hidden_norm.weight" in reading.draft.load.dropped
    assert "layers.0.hidden_norm.weight" in reading.draft.load.untouched


def test_embedding_is_shared_and_a_missing_head_is_untouched():
    reading = read(situation(inventory=inventory(without=("lm_head.weight",))))
    assert reading.draft.load.shared == ("embed_tokens.weight",)
    assert reading.draft.load.untouched == ("lm_head.weight",)


NUMBERS = ("hidden_size", "num_hidden_layers", "vocab_size")
OPTIONAL_NUMBERS = ("draft_vocab_size", "num_aux_hidden_states", "target_hidden_size")
NO_NUMBERS = ("1", "64", True, False, 64.0, 1.5, -1, [], [64], {})


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key in NUMBERS for value in (*NO_NUMBERS, None, 0)]
    + [(key, value) for key in OPTIONAL_NUMBERS for value in NO_NUMBERS],
)
def test_a_number_that_is_none_refuses_at_its_place(key, value):
    reading = read(situation(made_config=config([2, 30, 58], **{key: value})))
    assert reading.outcome is Outcome.REFUSES
    assert f"/{key}" in {fails.pointer for fails in reading.failures}


@pytest.mark.parametrize("key", NUMBERS)
def test_a_number_that_is_missing_refuses_too(key):
    body = config([2, 30, 58])
    del body[key]
    reading = read(situation(made_config=body))
    assert reading.outcome is Outcome.REFUSES
    assert f"no {key}" in reading.failure("bad_value").message


def test_a_count_of_taps_that_a_build_never_reads_may_be_anything():
    made = profile(draft=draft_facts(tap_count=()))
    assert read(situation(made, config([2, 30, 58], num_aux_hidden_states="x"))).failures == ()


@pytest.mark.parametrize("launch", ["--speculative-algorithm EAGLE", "--speculative-algo=NEXTN",
                                    "--speculative-algorithm EAGLE3 --speculative-algo EAGLE"])  # fmt: skip
def test_another_algorithm_captures_nothing(launch):
    reading = read(situation(launch=parse_launch(launch, "sglang")))
    assert phases(reading) == ((), ())
    assert not reading.captures
    assert "captures no states" in reading.off_because


@pytest.mark.parametrize("launch", ["--speculative-algorithm EAGLE3", "--speculative-algo eagle3",
                                    "--speculative-algorithm EAGLE --speculative-algorithm EAGLE3", ""])  # fmt: skip
def test_the_algorithm_that_captures_is_no_obstacle(launch):
    assert phases(read(situation(launch=parse_launch(launch, "sglang")))) == ((3, 31, 59), (3, 31, 59))


def runners(*names):
    made = profile(engine="vllm", keys=((TOP, "identity"),))
    return replace(made, runners=tuple(replace(made.runners[0], name=name) for name in names))


@pytest.mark.parametrize(("value", "runner"), [("1", "v2"), ("0", "v1"), ("2", "v2"), ("00", "v1"), ("true", None),
                                               ("", None)])  # fmt: skip
def test_the_switch_of_the_runner_is_read_as_the_build_reads_it(value, runner):
    launch = parse_launch(f"VLLM_USE_V2_MODEL_RUNNER={value} vllm serve x", "vllm")
    reading = read(situation(runners("v1", "v2"), launch=launch))
    assert reading.runner == runner
    if runner is None:
        assert reading.outcome is Outcome.UNKNOWN
        assert "cannot read as a number" in reading.runner_why
