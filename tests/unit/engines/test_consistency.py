"""A profile that contradicts its own probe table or itself is told where, and one that does not is let through."""

from dataclasses import replace

import pytest
from fakes.profiles import draft_facts, profile, target_facts
from hypothesis import given
from hypothesis import strategies as st

from registry.domain import dialects
from registry.domain.profile import Patch, Probe, Runner
from registry.domain.proposal import Build
from registry.engines.capture import left_captured
from registry.engines.consistency import contradictions
from registry.services.profiles import ShippedProfiles


def found(made):
    return [(one.pointer, one.message) for one in contradictions(made)]


def of_probes(*probes, **facts):
    return found(profile(facts=target_facts(probes=probes, **facts)))


@pytest.mark.parametrize(
    "build",
    [
        Build(engine=engine, version=version)
        for engine in ShippedProfiles().engines()
        for version in ShippedProfiles().versions(engine)
    ],
    ids=str,
)
def test_no_shipped_profile_contradicts_itself(build):
    assert found(ShippedProfiles().get(build)) == []


@pytest.mark.parametrize(
    ("probe", "facts"),
    [
        (Probe(ids=None, layers=61, depths=(2, 30, 58)), {}),
        (Probe(ids=(2, 30, 58), layers=61, depths=(3, 31, 59)), {}),
        (Probe(ids=(58, 2, 2), layers=61, depths=(3, 59)), {}),
        (Probe(ids=(-1, 2), layers=61, asked=(0, 3), pass_raises="None"), {"depth_zero": "raises"}),
        (Probe(ids=(61,), layers=61, setter_raises="index"), {"out_of_range": "raises"}),
        (Probe(ids=(2, 30), layers=61, setter_raises="no ids"), {"dialect": "fixed_default"}),
        (Probe(ids=(2, 30), layers=61, depths=()), {"captures": "nothing"}),
        (Probe(ids=(2, 30), layers=61, depths=(3, 31)), {"needed_methods": ("x",), "missing_methods": ("x",)}),
        (Probe(ids=(2, 30), layers=61, depths=(7, 8)), {"dialect": "unresolved", "default": "unresolved"}),
    ],
)
def test_a_row_that_the_facts_give_is_no_contradiction(probe, facts):
    assert of_probes(probe, **facts) == []


@pytest.mark.parametrize(
    ("probe", "facts", "words"),
    [
        (Probe(ids=(2, 30, 58), layers=61, depths=(2, 30, 58)), {}, "depths [3, 31, 59] by the facts"),
        (Probe(ids=None, layers=61, depths=(3, 31, 59)), {}, "no ids on 61 layers: depths [3, 31, 59] in the table"),
        (Probe(ids=(-1, 2), layers=61, depths=(0, 3)), {"depth_zero": "raises"}, "the pass raises by the facts"),
        (Probe(ids=(-1, 2), layers=61, pass_raises="None"), {}, "the pass raises in the table"),
        (Probe(ids=(2,), layers=61, setter_raises="no"), {}, "the setter raises in the table"),
        (Probe(ids=(61,), layers=61, depths=()), {"out_of_range": "raises"}, "the setter raises by the facts"),
        (Probe(ids=(2,), layers=61), {}, "exactly one of"),
        (Probe(ids=(2,), layers=61, depths=(3,), pass_raises="None"), {}, "exactly one of"),
    ],
)
def test_a_row_that_the_facts_do_not_give_is_named(probe, facts, words):
    sound = Probe(ids=(2, 30), layers=61, depths=(3, 31))
    rows = of_probes(probe, **facts) if facts else of_probes(sound, probe)
    assert [pointer for pointer, _ in rows] == [f"/targets/Made/probes/{0 if facts else 1}"]
    assert words in rows[0][1]


_IDS = st.lists(st.integers(-3, 20), max_size=5).map(tuple)


@given(st.sampled_from(sorted(dialects.READERS)), st.sampled_from(sorted(dialects.READERS)), _IDS, st.integers(8, 16))
def test_a_table_made_with_one_dialect_contradicts_another_exactly_where_they_read_otherwise(made, said, ids, layers):
    real = left_captured(target_facts(dialect=made), ids, layers=layers)
    probe = Probe(ids=ids, layers=layers, depths=real.depths)
    other = left_captured(target_facts(dialect=said), ids, layers=layers)
    assert bool(of_probes(probe, dialect=said)) == (real.depths != other.depths)


def test_methods_that_serving_needs_are_among_those_that_are_missing():
    facts = target_facts(missing_methods=("a",), needed_methods=("a", "b"))
    assert [pointer for pointer, _ in found(profile(facts=facts))] == ["/targets/Made/needed_methods"]


def test_runners_are_told_apart_by_their_names():
    keys = profile().runners[0].keys
    runners = (Runner(name="v1", keys=keys), Runner(name="v1", keys=keys), Runner(keys=keys))
    assert [pointer for pointer, _ in found(profile(runners=runners))] == ["/runners/1/name", "/runners/2/name"]


def test_an_architecture_is_loaded_by_one_draft_class():
    drafts = (draft_facts(architectures=("A", "B")), draft_facts(architectures=("C", "A")))
    assert found(profile(drafts=drafts)) == [
        ("/drafts/1/architectures/1", "A is loaded by an earlier draft class already")
    ]


def test_patches_are_those_of_a_fork_and_not_of_what_upstream_had_already():
    patch = Patch(name="p", purpose="wrapper", summary="s", upstream_since="0.9")
    assert [pointer for pointer, _ in found(profile(patches=(patch,)))] == ["/upstream"]
    fork = profile(version="1.0+mine", upstream="1.0", patches=(patch, replace(patch, upstream_since="1.0.1")))
    assert [pointer for pointer, _ in found(fork)] == ["/patches/0/upstream_since"]
