"""Wrong records, wrong sizes and launch lines, judged on shipped builds from the founding case."""

import shlex
from dataclasses import replace

import pytest
from fakes.eagle3 import config, head, provenance, subject, target

from registry.domain.findings import Remedy, Severity
from registry.domain.proposal import Proposal, parse_build
from registry.domain.provenance import VerifierState
from registry.engines.draft_config import apply
from registry.engines.launch import parse_launch
from registry.services.judging import judge
from registry.services.profiles import ShippedProfiles

PROFILES = ShippedProfiles()
KIMI = "KimiK25ForConditionalGeneration"
OLD, NEW, VLLM = "sglang==0.5.12.post1", "sglang==0.5.23", "vllm==0.33.0"
HIDDEN, ROWS = 64, 32000


def drafter(taps=(3, 31, 59), ids=(2, 30, 58), **changes):
    served = target(KIMI, layers=61, hidden=HIDDEN, vocab=128256, dense=False)
    return subject(head(config(list(ids), hidden=HIDDEN, **changes), hidden=HIDDEN), provenance(taps), served)


def recorded(*layers, counting="before_layer", verifier=60):
    made = drafter()
    capture = replace(
        made.provenance.capture, layers=layers, counting=counting, verifier_state=VerifierState(layer=verifier)
    )
    return replace(made, provenance=replace(made.provenance, capture=capture))


def judged(made, build=OLD, *, launch=None, draft_config=None):
    named = parse_build(build)
    asked = Proposal(
        checkpoint=made.ref,
        build=named,
        draft_config=draft_config,
        launch=None if launch is None else parse_launch(launch, named.engine),
    )
    return judge(made, asked, profiles=PROFILES)


def errors(verdict):
    return {finding.code: finding for finding in verdict.findings if finding.severity is Severity.ERROR}


@pytest.mark.parametrize("build", [OLD, NEW, VLLM, "sglang==0.5.10.post1"])
@pytest.mark.parametrize(
    ("counting", "layers"), [("before_layer", (3, 31, 99)), ("after_layer", (2, 30, 61)), (OLD, (2, 30, 61))]
)
def test_a_record_beyond_the_target_is_the_records_fault_on_every_build(build, counting, layers):
    verdict = judged(recorded(*layers, counting=counting), build)
    found = errors(verdict)
    assert "roost provenance amend" in found["TAP109"].message
    assert verdict.remedy is Remedy.UNKNOWN
    assert verdict.trained_taps is None
    assert "the record of its training cannot be right: amend it" in verdict.headline
    assert not {"TAP101", "TAP108"} & set(found)
    assert all(Remedy.ENGINE not in finding.remedies for finding in found.values())


def test_a_config_that_follows_such_a_record_does_not_blame_the_engine_either():
    wrong = config([2, 30, 98], hidden=HIDDEN)
    found = errors(judged(recorded(3, 31, 99), draft_config=wrong))
    assert found["TAP103"].remedies == (Remedy.UNKNOWN,)


def test_a_verifier_state_beyond_the_target_is_an_error_and_the_taps_are_still_compared():
    verdict = judged(recorded(3, 31, 59, verifier=62))
    assert set(errors(verdict)) == {"TAP109"}
    assert verdict.trained_taps is not None
    assert verdict.unknown == ("verifier's last state",)


@pytest.mark.parametrize(
    ("wrong", "key", "right"),
    [
        ({"draft_vocab_size": 77}, "draft_vocab_size", ROWS),
        ({"hidden_size": 32}, "hidden_size", HIDDEN),
        ({"hidden_size": None}, "hidden_size", HIDDEN),
        ({"num_hidden_layers": 40}, "num_hidden_layers", 1),
        ({"num_hidden_layers": "one"}, "num_hidden_layers", 1),
        ({"vocab_size": 0}, "vocab_size", 128256),
    ],
)
def test_a_size_that_the_tensors_settle_is_suggested_with_every_finding_about_it(wrong, key, right):
    made = drafter(**wrong)
    found = errors(judged(made))
    assert found
    for finding in found.values():
        assert finding.suggested is not None
        assert apply(made.inventory.config, finding.suggested.draft_config)[key] == right
        assert finding.suggested.decision != "block"


def test_a_size_on_which_the_tensors_do_not_agree_is_not_guessed():
    made = drafter(hidden_size=32)
    tensors = tuple(
        replace(tensor, shape=(32,)) if tensor.name == "norm.weight" else tensor for tensor in made.inventory.tensors
    )
    verdict = judged(replace(made, inventory=replace(made.inventory, tensors=tensors)))
    assert all(finding.suggested is None for finding in verdict.findings)


def test_a_misspelled_key_is_named_with_the_one_that_the_build_reads():
    body = config([2, 30, 58], hidden=HIDDEN)
    del body["eagle_config"]
    message = errors(judged(drafter(), NEW, draft_config={**body, "eagle_aux_hidden_state_layer_id": [3, 31, 59]}))[
        "TAP104"
    ].message
    nested = "/eagle_config/eagle_aux_hidden_state_layer_ids"
    assert f"/eagle_aux_hidden_state_layer_id is no key that it reads: did you mean {nested}?" in message


SPECULATIVE = {"sglang": "--speculative-algorithm EAGLE3", "vllm": """--speculative-config '{"method": "eagle3"}'"""}


@pytest.mark.parametrize(
    ("build", "launch"),
    [
        (OLD, f"python -m sglang.launch_server --model-path x {SPECULATIVE['sglang']}"),
        (OLD, "--speculative-algo=eagle3"),
        (OLD, "--tp 8"),
        (OLD, "python -m sglang.launch_server --config launch.yaml"),
    ],
)
def test_a_line_that_asks_for_eagle3_changes_nothing(build, launch):
    verdict = judged(drafter(), build, launch=launch)
    assert not [finding for finding in verdict.findings if finding.code.startswith("LCH")]
    assert verdict.decision != "block"


def test_b47_the_plain_algorithm_gives_one_state_where_fc_takes_three():
    verdict = judged(drafter(), OLD, launch="--speculative-algorithm EAGLE")
    finding = errors(verdict)["LCH101"]
    assert "one hidden state is given where fc takes three states, and fc is skipped" in finding.message
    assert "accept length is exactly 1.00" in finding.message
    assert (verdict.remedy, finding.at) == (Remedy.CONFIG, "/launch")


def test_a_method_that_drafts_by_itself_does_not_use_the_drafter():
    for build, launch in ((OLD, "--speculative-algorithm NGRAM"), (VLLM, """-sc '{"method": "ngram"}'""")):
        verdict = judged(drafter(), build, launch=launch)
        assert "it is not used at all" in errors(verdict)["LCH101"].message
        assert verdict.effective_taps.decode == ()


def test_vllm_takes_the_method_as_it_is_written():
    assert "LCH101" in errors(judged(drafter(), VLLM, launch="""-sc '{"method": "EAGLE3"}'"""))


def test_a_broken_speculative_config_keeps_the_server_from_starting():
    verdict = judged(
        drafter(), VLLM, launch=shlex.join(["vllm", "serve", "x", "--speculative-config", "{'method': 1}"])
    )
    assert "refuses to start: --speculative-config cannot be read" in errors(verdict)["LCH101"].message
    assert verdict.outcome == "refuses"
    assert "ENG106" not in errors(verdict)


def test_a_method_left_out_is_a_warning():
    verdict = judged(drafter(), VLLM, launch="""--speculative-config '{"model": "x"}'""")
    assert [f.severity for f in verdict.findings if f.code == "LCH101"] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("build", "launch"),
    [(OLD, f"vllm serve x {SPECULATIVE['vllm']}"), (VLLM, f"sglang serve {SPECULATIVE['sglang']}")],
)
def test_a_line_of_the_other_engine_is_an_error_of_its_own(build, launch):
    found = errors(judged(drafter(), build, launch=launch))
    assert found["LCH102"].remedies == (Remedy.CONFIG,)
    assert not {"LCH101", "LCH103"} & set(found)


@pytest.mark.parametrize(
    ("build", "launch"), [(OLD, "python -m sglang.launch_server --model-path x"), (VLLM, "vllm serve x")]
)
def test_a_whole_line_without_speculation_is_told_and_does_not_weigh(build, launch):
    found = [finding for finding in judged(drafter(), build, launch=launch).findings if finding.code == "LCH103"]
    assert [finding.severity for finding in found] == [Severity.INFO]
    assert "without the drafter" in found[0].message


def test_headlines_of_two_lines_that_differ_only_in_the_method_are_not_mixed_up():
    first = judged(drafter(), OLD, launch="--speculative-alg EAGLE").headline
    assert judged(drafter(), OLD, launch="--speculative-alg EAGLE3").headline != first
