import pytest
from fakes.small_engine import (
    FIRST_IS_ONE,
    GUARDED,
    MAX_IS_DEPTH,
    PLUS_ONE,
    UNGUARDED,
    engine,
    text_model,
    wrapper_model,
)

from registry.domain.profile import Graphs, LaunchFacts, Profile
from registry.engines.consistency import contradictions
from registry.engines.scan.capture_runs import Captures
from registry.engines.scan.classes import Index
from registry.engines.scan.probes import PROBES
from registry.engines.scan.sources import HeldSources
from registry.engines.scan.targets import scan_targets

CALLED = frozenset({"set_eagle3_layers_to_capture", "get_embed_and_head"})


def scan(**files):
    found, without = scan_targets(Captures(Index(HeldSources(engine(**files)))), called=CALLED)
    return {entry.facts.target_class: entry for entry in found}, without


def profile(facts):
    return Profile(
        engine="sglang",
        version="1.0",
        digest="",
        targets={facts.target_class: facts},
        runners=(),
        graphs=Graphs(ids_hold=True),
        drafts=(),
        launch=LaunchFacts(algorithm="EAGLE3"),
    )


def oak(**changes):
    return scan(oak=text_model(**changes))[0]["OakForCausalLM"]


@pytest.mark.parametrize(
    ("ids", "dialect"),
    [
        (PLUS_ONE, "plus_one"),
        ("list(layer_ids)", "identity"),
        ("layer_ids[:]", "identity"),
        (FIRST_IS_ONE, "first_is_one"),
        (MAX_IS_DEPTH, "max_is_depth"),
        ("list(map(lambda k: 1 + k, layer_ids))", "plus_one"),
        ("sorted(number + 1 for number in layer_ids)", "plus_one"),
    ],
)
def test_the_dialect_is_what_the_setter_does(ids, dialect):
    entry = oak(ids=ids)
    assert (entry.facts.dialect, entry.facts.default) == (dialect, "early_middle_late")
    assert entry.facts.established == "evaluated"
    assert entry.problem is None


@pytest.mark.parametrize("ids", [PLUS_ONE, "list(layer_ids)", FIRST_IS_ONE, MAX_IS_DEPTH])
def test_every_probe_of_a_resolved_class_reads_as_its_facts_say(ids):
    entry = oak(ids=ids, value=UNGUARDED)
    assert len(entry.facts.probes) == len(PROBES)
    assert list(contradictions(profile(entry.facts))) == []


@pytest.mark.parametrize(
    "ids",
    [
        "[number + 2 for number in layer_ids]",
        "[number + 1 for number in layer_ids if number != 57]",
        "[number + (number > 40) for number in layer_ids]",
        "fetch(layer_ids)",
        "[number + 1 for number in layer_ids] if self.fast else layer_ids",
    ],
)
def test_what_no_dialect_gives_for_every_probe_is_unresolved_with_file_and_line(ids):
    entry = oak(ids=ids)
    assert entry.facts.dialect == entry.facts.default == "unresolved"
    assert entry.facts.captures == "unresolved"
    assert entry.problem.file == "sglang/srt/models/oak.py"
    assert entry.problem.line > 0


def test_the_embedding_output_fails_where_there_is_no_residual_yet():
    assert oak(value=UNGUARDED).facts.depth_zero == "raises"
    assert oak(value=GUARDED).facts.depth_zero == "captured"


def test_a_state_without_its_residual_is_a_branch():
    assert oak(value="hidden_states").facts.stream == "branch"
    assert oak(value=GUARDED).facts.stream == "residual"


def test_something_else_than_a_state_is_not_taken_for_one():
    entry = oak(value="hidden_states.mean(1)")
    assert entry.facts.captures == "unresolved"
    assert "not a plain state" in entry.problem.what


def test_the_last_layers_output_is_captured_only_where_the_pass_does_so():
    after = "if self.end_layer in self.layers_to_capture:\n    taken.append(hidden_states + residual)"
    joined = after.replace("\n", "\n                ")
    assert oak(after_loop=joined).facts.depth_n == "captured"
    assert oak().facts.depth_n == "dropped"


def test_a_setter_without_the_check_serves_every_pipeline_rank():
    assert oak(rank_check=True).facts.last_pipeline_rank_only
    assert not oak(rank_check=False).facts.last_pipeline_rank_only


def test_marks_on_layers_add_up_wrap_around_and_fail_beyond_the_end():
    facts = scan()[0]["ElmForCausalLM"].facts
    assert (facts.accumulates, facts.negative, facts.out_of_range) == (True, "from_end", "raises")
    assert (facts.dialect, facts.depth_zero, facts.depth_n) == ("plus_one", "captured", "dropped")


def test_a_list_that_the_pass_never_reads_captures_nothing():
    text = engine()["sglang/srt/models/elm.py"].replace(
        "self.model.set_eagle3_layers_to_capture(", "self.model.layers_to_capture = ("
    )
    entry = scan(elm=text)[0]["ElmForCausalLM"]
    assert entry.facts.captures == "nothing"


def test_nothing_is_not_concluded_where_an_unknown_condition_stands_in_between():
    text = text_model().replace("if i in self.layers_to_capture:", "if self.ready() and i in self.layers_to_capture:")
    entry = scan(oak=text)[0]["OakForCausalLM"]
    assert entry.facts.captures == "unresolved"
    assert "although the forward pass reads" in entry.problem.what


def test_a_wrapper_hands_on_to_its_language_model():
    entry = scan(oak=text_model(ids=FIRST_IS_ONE))[0]["OakVisionForConditionalGeneration"]
    assert entry.facts.delegates_to == "OakForCausalLM"
    assert entry.facts.dialect == "first_is_one"
    assert set(entry.methods.values()) == {"delegated"}
    assert entry.facts.at.startswith("sglang/srt/models/vision.py:")


def test_a_wrapper_without_the_methods_says_which_of_them_serving_needs():
    entry = scan(vision=wrapper_model(methods=False))[0]["OakVisionForConditionalGeneration"]
    assert entry.facts.missing_methods == (
        "set_eagle3_layers_to_capture",
        "get_embed_and_head",
        "set_embed_and_head",
    )
    assert entry.facts.needed_methods == ("set_eagle3_layers_to_capture", "get_embed_and_head")
    assert not entry.facts.supported
    assert entry.facts.dialect == "plus_one"  # what holds once something gives it the methods


def test_inherited_methods_count():
    text = (
        "from sglang.srt.models.oak import OakForCausalLM\n"
        "class AshForCausalLM(OakForCausalLM): pass\n"
        "EntryClass = AshForCausalLM\n"
    )
    entry = scan(**{"sglang/srt/models/ash.py": text})[0]["AshForCausalLM"]
    assert set(entry.methods.values()) == {"inherited"}
    assert entry.facts.dialect == "plus_one"


def test_registered_classes_without_the_setter_are_named():
    text = (
        "class PineForCausalLM: pass\n"
        "class PineForCausalLMEagle3: pass\n"
        "EntryClass = [PineForCausalLM, PineForCausalLMEagle3]\n"
    )
    found, without = scan(**{"sglang/srt/models/pine.py": text})
    assert without == ["PineForCausalLM"]
    assert "PineForCausalLM" not in found


def test_a_setter_that_takes_no_ids_has_a_fixed_default():
    text = text_model().replace("(self, layer_ids=None)", "(self)").replace("if layer_ids is None", "if True")
    facts = scan(oak=text)[0]["OakForCausalLM"].facts
    assert (facts.dialect, facts.default) == ("fixed_default", "early_middle_late")
