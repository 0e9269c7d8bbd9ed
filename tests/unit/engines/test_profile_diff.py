from dataclasses import replace

import pytest
from fakes.profiles import NESTED, TOP, draft_facts, profile, target_facts
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.domain.profile import Graphs, IdKey, LaunchFacts, Patch, Probe, Rename, Runner
from registry.domain.proposal import Build, parse_build
from registry.engines.facts import facts_digest
from registry.engines.profile_diff import changes
from registry.services.profiles import ShippedProfiles

SHIPPED = ShippedProfiles()
BUILDS = [Build(engine=name, version=version) for name in SHIPPED.engines() for version in SHIPPED.versions(name)]


def classes(*names, **facts):
    return {name: target_facts(target_class=name, **facts) for name in names}


def sentences(before, after):
    return [change.sentence for change in changes(before, after)]


def only(before, after):
    (change,) = changes(before, after)
    return change


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_a_build_does_not_differ_from_itself(build):
    assert changes(SHIPPED.get(build), SHIPPED.get(build)) == ()


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(BUILDS), st.sampled_from(BUILDS), st.data())
def test_builds_without_changes_have_equal_facts_for_every_case(one, other, data):
    before, after = SHIPPED.get(one), SHIPPED.get(other)
    if one.engine != other.engine or changes(before, after):
        return
    target_class = data.draw(st.sampled_from(sorted(before.targets)))
    architecture = data.draw(st.sampled_from(before.drafts).flatmap(lambda draft: st.sampled_from(draft.architectures)))
    assert facts_digest(before, target_class, architecture, None) == facts_digest(
        after, target_class, architecture, None
    )


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(BUILDS), st.sampled_from(BUILDS))
def test_the_way_back_changes_the_same_facts(one, other):
    there, back = changes(SHIPPED.get(one), SHIPPED.get(other)), changes(SHIPPED.get(other), SHIPPED.get(one))
    turned = {(change.what, repr(change.after), repr(change.before)) for change in there if change.what != "listed"}
    assert turned == {
        (change.what, repr(change.before), repr(change.after)) for change in back if change.what != "listed"
    }


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(BUILDS), st.sampled_from(BUILDS))
def test_every_change_says_something(one, other):
    for change in changes(SHIPPED.get(one), SHIPPED.get(other)):
        assert change.before != change.after
        assert change.place.startswith("/")
        assert "None" not in change.sentence
        assert "[]" not in change.sentence


def test_the_founding_upgrade_is_said_in_words():
    found = changes(SHIPPED.get(parse_build("sglang==0.5.12.post1")), SHIPPED.get(parse_build("sglang==0.5.13")))
    dialect = next(change for change in found if change.what == "dialect")
    assert {"KimiK25ForConditionalGeneration", "DeepseekV3ForCausalLM"} <= set(dialect.classes)
    assert (dialect.before, dialect.after) == ("plus_one", "first_is_one")
    assert "before, id k is the output of layer k: depth k+1 (`plus_one`)" in dialect.sentence
    assert "now, ids are depths, unless the first id is 1: then depth k+1 (`first_is_one`)" in dialect.sentence
    assert dialect.sentence.startswith(f"{len(dialect.classes)} classes (Deepseek")


def test_versions_citations_and_probes_are_no_changes():
    facts = target_facts(at="x.py:1", note="n", established="read", probes=(Probe(ids=(1,), layers=3),))
    other = profile(version="2.0", facts=facts, revision=4, evidence={"targets": {}})
    assert changes(profile(), other) == ()


def test_classes_that_change_alike_are_one_change_and_others_are_not():
    before = profile(targets=classes("A", "B", "C", "D", "E"))
    after = profile(targets={**classes("A", "B", "C", "D", stream="branch"), **classes("E", depth_zero="raises")})
    many, one = changes(before, after)
    assert many.classes == ("A", "B", "C", "D")
    assert many.place == "/targets"
    assert many.sentence.startswith("4 classes (A, B, C and 1 more): before, hidden state plus residual")
    assert one.classes == ("E",)
    assert one.place == "/targets/E/depth_zero"
    assert one.sentence.startswith("E: before, depth 0, the embedding output, is captured")


def test_a_class_with_a_strange_name_keeps_its_place():
    change = only(profile(targets=classes("a/b~c")), profile(targets=classes("a/b~c", stream="branch")))
    assert change.place == "/targets/a~1b~0c/stream"


def test_methods_that_come_are_named():
    lacking = {"missing_methods": ("m", "n"), "needed_methods": ("m",)}
    change = only(profile(targets=classes("A", **lacking)), profile(targets=classes("A")))
    assert change.sentence == (
        "A: before, it lacks m, n; of them serving needs m; now, it has every method that EAGLE-3 calls"
    )
    assert change.place == "/targets/A/missing_methods"


def test_classes_that_come_say_how_they_count_and_those_that_go_are_named():
    before, after = profile(targets=classes("A")), profile(targets=classes("B", "C", dialect="identity"))
    came, gone = changes(before, after)
    assert came.sentence == "B, C: new here; id k is the state entering layer k: depth k (`identity`)"
    assert (came.before, gone.after) == (None, None)
    assert gone.sentence == "A: no longer listed"


def test_a_class_that_comes_without_its_methods_says_so():
    lacking = classes("B", missing_methods=("m",), needed_methods=("m",))
    change = only(profile(targets={}), profile(targets=lacking))
    assert change.sentence == "B: new here; it lacks m, which serving needs"


def test_graphs_launching_and_a_runner_speak_plainly():
    def made(*, hold, off, startup, pointers):
        return profile(
            graphs=Graphs(ids_hold=hold, disable_option="--disable-cuda-graph"),
            runners=(Runner(keys=tuple(IdKey(pointer=pointer) for pointer in pointers), capture_off=off),),
            launch=LaunchFacts(algorithm="EAGLE3", startup_pass=startup),
        )

    before = made(hold=False, off=None, startup=True, pointers=[NESTED])
    said = sentences(before, made(hold=True, off="/off", startup=False, pointers=[TOP, NESTED]))
    assert said == [
        "the runner: before, no flag of the config turns capturing off; now, /off false turns capturing off",
        f"the runner: before, ids are read from {NESTED}; now, ids are read from {TOP}, then {NESTED}",
        (
            "decode graphs: before, they keep the class's default, whatever ids are configured; "
            "now, configured ids hold in them"
        ),
        (
            "launching: before, a forward pass runs before it reports itself healthy; "
            "now, it reports itself healthy without a forward pass"
        ),
    ]


def test_runners_come_and_go():
    keys = (IdKey(pointer=TOP, dialect="plus_one"),)
    one, two = profile(runners=(Runner(name="v1", keys=keys),)), profile(runners=(Runner(name="v2", keys=keys),))
    gone, came = sentences(one, two)
    assert gone == "runner v1 is gone"
    assert came == f"runner v2 is new: it is the default for every target; ids are read from {TOP} (`plus_one` first)"


def test_draft_classes_are_compared_by_the_name_that_loads_them():
    draft = draft_facts(architectures=("X", "Y"), flags={"norm_output": "ignored"}, parameters=("fc.weight",))
    more = replace(
        draft,
        flags={"norm_output": "honored", "fc_norm": "ignored"},
        parameters=("fc.weight", "norm.weight"),
        renames=(Rename(old="midlayer.", new="layers.0.", anchored=True),),
    )
    # X moved to a class of its own and stayed as it was; Z is new; that fc_norm is ignored is no news.
    after = profile(drafts=(replace(draft, architectures=("X",)), replace(more, architectures=("Y", "Z"))))
    assert sentences(profile(drafts=(draft,)), after) == [
        "Y: the flag norm_output was ignored, now it is honored",
        "Y: a drafter must now fill norm.weight",
        "Y: now renames midlayer. to layers.0. at the start",
        "Z: drafters with this architecture load from here on",
    ]


def test_patches_that_upstream_has_are_not_needed():
    wrapper = Patch(name="w", purpose="wrapper", summary="adds methods", upstream_since="0.5.10")
    later = Patch(name="c", purpose="capture", summary="captures depth 0", upstream_since="0.5.14")
    fork = profile(version="0.5.9+ours", patches=(wrapper, later))
    assert sentences(fork, profile(version="0.5.12")) == [
        "the wrapper patch w is not in it and not needed: upstream has the same since 0.5.10",
        "the capture patch c is not in it: captures depth 0; upstream has it only since 0.5.14",
    ]
    assert sentences(profile(version="0.5.9"), fork)[0] == "the wrapper patch w is new: adds methods"
