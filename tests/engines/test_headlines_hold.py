"""What a headline promises, build by build: every stretch of builds it names is judged again one by one.

Where a stretch takes the config as proposed, judging it there must not block; where it needs ids, options or other
settings, the config with exactly these must not block; where it is barred, nothing can be emitted.
"""

import json
from dataclasses import replace

import pytest
from fakes.eagle3 import TOP, config, head, proposal, provenance, subject, target
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.target import TargetDocument
from registry.domain.digests import Digest
from registry.domain.findings import Remedy, Severity
from registry.domain.proposal import Build
from registry.domain.taps import depths_of
from registry.domain.verdict import cost_of, overall_remedy
from registry.engines.draft_config import apply, setting
from registry.engines.emit import emission_config
from registry.engines.engine import engine
from registry.engines.reader import Situation, read
from registry.engines.spelling import NoSpelling, with_options
from registry.services.emission import plan
from registry.services.headline import headline
from registry.services.judging import judge
from registry.services.profiles import ShippedProfiles
from registry.services.ranges import spans
from registry.services.refusals import EmissionRefused

PROFILES = ShippedProfiles()
BUILDS = [f"{name}=={version}" for name in PROFILES.engines() for version in PROFILES.versions(name)]

PAIRS = [
    ("LlamaForCausalLM", 80, (3, 40, 77)),
    ("LlamaForCausalLM", 32, (2, 16, 29)),
    ("KimiK25ForConditionalGeneration", 61, (3, 31, 59)),
    ("KimiK25ForConditionalGeneration", 61, (1, 29, 57)),
    ("DeepseekV3ForCausalLM", 61, (0, 30, 58)),
    ("GlmMoeDsaForCausalLM", 78, (8, 23, 38, 53, 68)),
    ("GlmMoeDsaForCausalLM", 78, (38, 68, 78)),
    ("Qwen3MoeForCausalLM", 94, (2, 46, 91, 93)),
    ("Qwen3MoeForCausalLM", 48, (48,)),
    ("Qwen3ForCausalLM", 36, (0, 18, 33)),
    ("GptOssForCausalLM", 24, (12, 18, 24)),
    ("GptOssForCausalLM", 24, ()),
    ("MiniMaxM2ForCausalLM", 62, (3, 31, 58)),
    ("Gemma3ForCausalLM", 26, (3, 13, 26)),
    ("Qwen3_5MoeForConditionalGeneration", 48, (3, 24, 45)),
    ("Qwen2ForCausalLM", 28, (3, 14, 25)),
    ("Llama4ForConditionalGeneration", 48, (24, 3, 45)),
    ("NobodyForCausalLM", 40, (3, 20, 37)),
]
"""Target class, layers, trained depths: everyday taps and every edge that a dialect or a class has."""

DENSE = {"LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "Gemma3ForCausalLM"}

FAULTS = [
    {},
    {"architectures": ["Qwen3ForCausalLM"]},
    {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 40},
    {"tie_word_embeddings": True},
    {"rows": 16000},
    {"num_aux_hidden_states": 5},
    {"auto_map": {"AutoModel": "someone/theirs--modeling.Draft"}},
]
"""What may be wrong with the stored config beside the ids."""

TENSORS = [{}, {"layer": "layers.0."}, {"adding": {"fc.bias": (64,)}}, {"without": ("lm_head.weight",)}]


def drafter(pair, ids, *, key=None, fault=None, tensors=None):
    target_class, layers, taps = pair
    served = target(target_class, layers=layers, hidden=64, vocab=128256, dense=target_class in DENSE)
    body = config(ids, hidden=64, **({"key": key} if key else {}), **(fault or {}))
    if not taps:
        body["eagle_config"] = {"use_aux_hidden_state": False}
    inventory = head(body, hidden=64, taps=max(len(taps), 1), **(tensors or {}))
    return subject(inventory, provenance(taps), served)


def said(verdict):
    return [(finding.code, finding.severity.value, finding.message) for finding in verdict.findings]


def document(served):
    return TargetDocument(target=served, config={})


def planned(made, name):
    stored = replace(made, weights_digest=Digest("sha256:" + "5" * 64))
    of = document(made.trained_target)
    try:
        return plan(stored, proposal(name), profiles=PROFILES, target=of, trained_target=of)
    except EmissionRefused as refusal:
        return refusal


class Asked:
    """A drafter and how it is to run; shown short, since a failing example is read by people."""

    def __init__(self, made, pair, tensors, engine, launch, runner):
        self.made, self.pair, self.tensors = made, pair, tensors
        self.engine, self.launch, self.runner = engine, launch, runner

    def __repr__(self):
        stored = dict(self.made.inventory.config)
        return f"{self.pair} {stored} {self.tensors} {self.engine} {self.launch} {self.runner}"


@st.composite
def proposals(draw):
    pair = draw(st.sampled_from(PAIRS))
    layers, taps = pair[1], pair[2]
    shifted = tuple(depth - 1 for depth in taps)
    some = st.lists(st.integers(-1, layers), min_size=1, max_size=4).map(tuple)
    ids = draw(st.one_of(st.sampled_from([taps, shifted]), st.none(), some))
    if pair[2] == ():
        ids = None
    key = draw(st.sampled_from([None, TOP]))
    tensors = draw(st.sampled_from(TENSORS))
    made = drafter(pair, ids, key=key, fault=draw(st.sampled_from(FAULTS)), tensors=tensors)
    name = draw(st.sampled_from(["sglang", "vllm"]))
    option = {"sglang": "--disable-cuda-graph", "vllm": "--enforce-eager"}[name]
    launch = draw(st.sampled_from([None, option]))
    runner = draw(st.sampled_from([None, "v1", "v2"])) if name == "vllm" else None
    return Asked(made, pair, tensors, name, launch, runner)


def runner_on(build, asked):
    return asked if asked in {runner.name for runner in PROFILES.get(build).runners} else None


def wanted(made, span):
    """Return the stored config with what the span says it needs, and nothing else changed."""
    stored = made.inventory.config
    value = list(span.ids) if span.ids else False
    edited = apply(stored, setting(stored, span.pointer, value))
    for key, needed in span.settings:
        edited = apply(edited, setting(edited, f"/{key}", needed))
    return edited


@given(proposals())
@settings(max_examples=40, deadline=None)
def test_every_stretch_of_a_headline_holds_on_each_of_its_builds(asked):
    made, name, launch, runner = asked.made, asked.engine, asked.launch, asked.runner
    versions = PROFILES.upstream(name)
    what = proposal(f"{name}=={versions[-1]}", launch=launch, runner=runner)
    stretches = spans(made, what, target=None, profiles=PROFILES)
    covered = []
    for span in stretches:
        inside = versions[versions.index(span.first) : versions.index(span.last) + 1]
        covered += inside
        for version in inside:
            build = Build(engine=name, version=version)
            there = replace(what, build=build, runner=runner_on(build, runner))
            if not span.serves:
                at = PROFILES.get(build)
                situation = Situation(
                    profile=at, config=made.inventory.config, inventory=made.inventory, target=made.trained_target,
                    runner=there.runner,
                )  # fmt: skip
                spelled = emission_config(engine(name), situation, depths_taps(made))
                if isinstance(spelled, NoSpelling):
                    continue
                there = replace(there, draft_config=spelled.config, launch=with_options(None, spelled.options))
                assert judge(made, there, profiles=PROFILES).decision == "block", (version, span)
            elif span.as_proposed:
                there = replace(there, launch=with_options(there.launch, span.options))
                assert judge(made, there, profiles=PROFILES).decision != "block", (version, span)
            elif "auto_map" not in made.inventory.config:  # code is never emitted, and no setting takes it out
                there = replace(there, draft_config=wanted(made, span), launch=with_options(None, span.options))
                verdict = judge(made, there, profiles=PROFILES)
                assert verdict.decision != "block", (version, span, said(verdict))
    assert tuple(covered) == versions or not stretches


def depths_taps(made):
    return judge(made, proposal(BUILDS[0]), profiles=PROFILES).trained_taps


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}-{'-'.join(map(str, pair[2]))}")
def test_what_is_emitted_reads_back_or_is_refused_and_the_verdict_agrees(name, pair):
    made = drafter(pair, None)
    build = proposal(name).build
    done = planned(made, name)
    if isinstance(done, EmissionRefused):
        assert done.verdict.decision == "block"
        assert str(done)
        return
    at = PROFILES.get(build)
    emitted = json.loads(done.written["config.json"])
    reading = read(
        Situation(
            profile=at, config=emitted, inventory=made.inventory, target=made.trained_target,
            launch=with_options(None, tuple(cost.option for cost in done.lock.option_costs)),
        )
    )  # fmt: skip
    assert depths_of(reading.taps.prefill) == depths_of(reading.taps.decode) == pair[2]
    assert reading.failures == ()


@given(proposals(), st.sampled_from(BUILDS))
@settings(max_examples=60, deadline=None)
def test_the_remedy_is_the_dearest_of_the_cheapest_and_what_is_suggested_does_not_block(asked, name):
    made = asked.made
    verdict = judge(made, proposal(name), profiles=PROFILES)
    wrong = [finding for finding in verdict.findings if finding.severity is Severity.ERROR]
    assert (verdict.decision == "block") == bool(wrong)
    assert all(finding.remedies for finding in wrong)
    assert verdict.remedy is overall_remedy(verdict.findings)
    ordered = [min(map(cost_of, known)) for f in wrong if (known := [r for r in f.remedies if r.name in Known])]
    if verdict.remedy.name in Known and wrong:
        assert cost_of(verdict.remedy) == max(ordered)
    if verdict.remedy is Remedy.CONFIG:
        assert "no retraining" in verdict.headline
    for finding in verdict.findings:
        if finding.suggested is not None:
            edited = apply(made.inventory.config, finding.suggested.draft_config)
            launch = " ".join(finding.suggested.launch) or None
            assert judge(made, proposal(name, edited, launch=launch), profiles=PROFILES).decision != "block"


Known = {"NONE", "CONFIG", "CONVERT", "ENGINE", "OTHER_TARGET", "RETRAIN"}
"""Remedies that have a place in the order."""


@given(proposals(), st.sampled_from(BUILDS))
@settings(max_examples=60, deadline=None)
def test_config_alone_is_enough_exactly_where_something_can_be_emitted(asked, name):
    """The overall remedy and the emission are two ways to ask one question."""
    made = asked.made
    verdict = judge(made, proposal(name), profiles=PROFILES)
    if isinstance(planned(made, name), EmissionRefused):
        assert verdict.decision == "block"
        assert verdict.remedy is not Remedy.CONFIG, said(verdict)
        return
    assert verdict.remedy in (Remedy.NONE, Remedy.CONFIG, Remedy.REJECT), said(verdict)


def test_a_headline_names_every_setting_that_ids_alone_do_not_cover():
    pair = ("Qwen3MoeForCausalLM", 94, (2, 46, 91, 93))
    made = drafter(pair, (2, 46, 91, 93), key=TOP, fault={"architectures": ["Qwen3ForCausalLM"]})
    verdict = judge(made, proposal("vllm==0.33.0"), profiles=PROFILES)
    assert (
        "with ids [2,46,91,93] and architectures LlamaForCausalLMEagle3 and num_aux_hidden_states 4" in verdict.headline
    )


def test_a_headline_of_a_head_without_taps_names_the_switch():
    made = drafter(("GptOssForCausalLM", 24, ()), None)
    there = proposal("sglang==0.5.23", config(hidden=64))
    verdict = judge(made, there, profiles=PROFILES)
    assert "with use_aux_hidden_state false and num_aux_hidden_states 1" in verdict.headline
    assert headline(there.build, "pass", Remedy.NONE, (), (), ahead="") == "passes on sglang==0.5.23"


def test_what_a_wrong_class_hides_is_found_behind_it():
    """Naming the right class would not be enough: it sizes `fc` for three, and the layer's names are not its own."""
    pair = ("GlmMoeDsaForCausalLM", 78, (8, 23, 38, 53, 68))
    made = drafter(pair, None, fault={"architectures": ["Qwen3ForCausalLM"]}, tensors={"layer": "layers.0."})
    verdict = judge(made, proposal("sglang==0.5.9"), profiles=PROFILES)
    hidden = {f.code: f for f in verdict.findings if f.message.startswith("once the config is mended: ")}
    assert {"TAP106", "WGT105"} <= set(hidden)
    assert verdict.remedy is Remedy.ENGINE
