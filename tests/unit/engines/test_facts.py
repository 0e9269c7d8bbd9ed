"""The law: builds with equal facts for a case read every config and launch of that case alike."""

from dataclasses import fields, replace

import pytest
from fakes.profiles import NESTED, TOP, config, draft_facts, inventory, profile, target, target_facts
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.domain import dialects
from registry.domain.profile import Graphs, IdKey, LaunchFacts, Patch, Probe, Profile, Runner, TargetFacts
from registry.domain.proposal import Build, Launch
from registry.domain.target import Target
from registry.engines.facts import NOT_FACTS, facts_digest
from registry.engines.reader import Situation, read
from registry.services.profiles import ShippedProfiles

SHIPPED = ShippedProfiles()
PROFILES = [
    SHIPPED.get(Build(engine=name, version=version)) for name in SHIPPED.engines() for version in SHIPPED.versions(name)
]  # fmt: skip
LLAMA = "LlamaForCausalLMEagle3"


def digest(made, *, architecture=LLAMA, runner=None, target_class="Made"):
    return facts_digest(made, target_class, architecture, runner)


targets = st.builds(
    target_facts,
    dialect=st.sampled_from(sorted(dialects.NAMES)),
    default=st.sampled_from(sorted(dialects.DEFAULTS)),
    captures=st.sampled_from(["listed", "nothing"]),
    stream=st.sampled_from(["residual", "branch"]),
    depth_zero=st.sampled_from(["captured", "raises"]),
    depth_n=st.sampled_from(["captured", "dropped"]),
    out_of_range=st.sampled_from(["dropped", "raises"]),
    accumulates=st.booleans(),
    at=st.sampled_from(["a.py:1", "b.py:2"]),
    note=st.sampled_from(["", "read twice"]),
    established=st.sampled_from(["evaluated", "read"]),
)
runners = st.builds(
    Runner,
    name=st.just(None),
    keys=st.sampled_from([(IdKey(pointer=NESTED),), (IdKey(pointer=TOP), IdKey(pointer=NESTED, dialect="plus_one"))]),
    capture_off=st.sampled_from([None, "/eagle_config/use_aux_hidden_state"]),
    empty_ids=st.sampled_from(["default", "nothing"]),
    at=st.sampled_from(["a.py:1", "b.py:2"]),
)
drafts = st.builds(
    draft_facts,
    architectures=st.sampled_from([(LLAMA,), (LLAMA, "OtherForCausalLMEagle3")]),
    layer_prefixes=st.sampled_from([("midlayer.",), ("midlayer.", "layers.0.")]),
    unknown_tensor=st.sampled_from(["dropped", "refused"]),
    many_layers=st.booleans(),
    at=st.sampled_from(["a.py:1", "b.py:2"]),
)
profiles = st.builds(
    lambda facts, runner, draft, hold, **names: profile(
        targets={"Made": facts}, runners=(runner,), draft=draft, ids_hold=hold, **names
    ),
    targets,
    runners,
    drafts,
    st.booleans(),
    version=st.sampled_from(["1.0", "2.0"]),
    revision=st.integers(1, 3),
)
configs = st.builds(
    config,
    st.none() | st.lists(st.integers(-2, 64), max_size=4),
    pointer=st.sampled_from([NESTED, TOP]),
    num_hidden_layers=st.integers(1, 2),
)
launches = st.sampled_from([None, Launch(text="", options={"--disable-cuda-graph": None})])


def reading(made: Profile, made_config, launch, *, target_class="Made", hidden=64):
    where = replace(target(), target_class=target_class)
    situation = Situation(profile=made, config=made_config, inventory=inventory(), target=where, launch=launch)
    # Why a runner cannot be told names the build.
    return replace(read(situation), runner_why="")


@settings(deadline=None, max_examples=400)
@given(profiles, st.data(), configs, launches)
def test_equal_facts_read_alike(one, data, made_config, launch):
    changed = {
        "targets": st.just(one.targets) | targets.map(lambda facts: {"Made": facts}),
        "version": st.sampled_from(["3.0", "4.0"]),
        "runners": st.just(one.runners) | runners.map(lambda runner: (runner,)),
        "drafts": st.just(one.drafts) | drafts.map(lambda draft: (draft,)),
    }
    other = replace(one, **{name: data.draw(strategy) for name, strategy in changed.items()})
    if digest(one) == digest(other):
        assert reading(one, made_config, launch) == reading(other, made_config, launch)


@settings(deadline=None, max_examples=300)
@given(st.data(), configs, launches)
def test_shipped_builds_with_equal_facts_read_alike(data, made_config, launch):
    target_class = data.draw(st.sampled_from(sorted({name for made in PROFILES for name in made.targets})))
    groups: dict[str, list[Profile]] = {}
    for made in PROFILES:
        groups.setdefault(digest(made, target_class=target_class), []).append(made)
    for alike in groups.values():
        readings = [reading(made, made_config, launch, target_class=target_class) for made in alike]
        assert all(one == readings[0] for one in readings), [made.build for made in alike]


def test_releases_are_grouped_at_all():
    """The law would hold for a digest of the version, too."""
    kimi = [digest(made, target_class="KimiK25ForConditionalGeneration") for made in PROFILES]
    assert len(set(kimi)) < len(kimi)


def test_names_citations_and_other_classes_are_no_facts():
    plain = profile()
    facts = target_facts(at="elsewhere.py:9", note="n", established="curated", probes=(Probe(ids=(1,), layers=4),))
    other = replace(
        plain,
        version="2.0",
        revision=7,
        digest="sha256:" + "1" * 64,
        upstream="1.0",
        targets={"Made": facts, "Other": target_facts(target_class="Other", dialect="identity")},
        graphs=replace(plain.graphs, cost="much slower", at="g.py"),
        patches=(Patch(name="log", purpose="debug", summary="logs"),),
        drafts=(draft_facts(architectures=(LLAMA, "OtherForCausalLMEagle3"), at="d.py:3"),),
        evidence={"targets": {"Made": {"at": "m.py:4"}}},
    )
    assert digest(plain) == digest(other)


OTHER_VALUES = {
    "missing_methods": ("m",), "needed_methods": ("m",), "dialect": "identity", "default": "unresolved",
    "captures": "nothing", "stream": "branch", "depth_zero": "raises", "depth_n": "captured",
    "out_of_range": "raises", "negative": "from_end", "accumulates": True, "refused": "no",
    "last_pipeline_rank_only": True, "delegates_to": "Inner",
}  # fmt: skip


def test_every_fact_of_a_target_class_is_tried_below():
    named = {entry.name for entry in fields(TargetFacts)} - NOT_FACTS - {"target_class"}
    assert named == OTHER_VALUES.keys()


@pytest.mark.parametrize("name", sorted(OTHER_VALUES))
def test_a_fact_of_the_target_class_counts(name):
    assert digest(profile()) != digest(profile(facts=target_facts(**{name: OTHER_VALUES[name]})))


@pytest.mark.parametrize(
    "changes",
    [
        {"graphs": Graphs(ids_hold=False)},
        {"launch": LaunchFacts(algorithm="EAGLE3", startup_pass=False)},
        {"engine": "vllm"},
        {"drafts": (draft_facts(flags={"norm_output": "honored"}),)},
        {"patches": (Patch(name="p", purpose="capture", summary="s", active_depths=(0,)),)},
        {"runners": (Runner(keys=(IdKey(pointer=TOP),)),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_other_facts_count(changes):
    assert digest(profile()) != digest(replace(profile(), **changes))


def two_runners(**second):
    keys = (IdKey(pointer=TOP),)
    return profile(runners=(Runner(name="v1", keys=keys), Runner(name="v2", keys=keys, default_for="none", **second)))


def test_a_runner_that_is_not_asked_for_counts_only_where_the_build_chooses():
    one, other = two_runners(), two_runners(empty_ids="nothing")
    assert digest(one) != digest(other)
    assert digest(one, runner="v1") == digest(other, runner="v1")
    assert digest(one, runner="v2") != digest(other, runner="v2")


def test_a_runner_is_the_default_for_the_class_at_hand_or_not():
    one, other = two_runners(default_classes=("A",)), two_runners(default_classes=("A", "B"))
    assert digest(one) == digest(other)
    assert digest(one) != digest(two_runners(default_classes=("Made",)))


def test_an_architecture_that_no_class_loads_is_told_from_one_that_does():
    made = profile(draft=draft_facts(architectures=("OtherForCausalLMEagle3",)))
    assert digest(made, architecture="OtherForCausalLMEagle3") != digest(made, architecture=LLAMA)
    assert digest(made, architecture=None) == digest(made, architecture="NobodyForCausalLM")


def test_a_class_that_is_not_listed_is_no_fact_of_another():
    assert Target(name="t").target_class is None
    assert digest(profile(), target_class=None) == digest(
        profile(facts=target_facts(dialect="identity")), target_class=""
    )
