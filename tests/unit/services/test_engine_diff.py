"""What going from one build to another asks of a checkpoint, by judging what serves on the first on the second."""

import pytest
from fakes.profiles import profile, target_facts
from fakes.shipped import shipped

from registry.domain.errors import Invalid, NotFound
from registry.domain.profile import Graphs
from registry.domain.proposal import parse_build
from registry.services.cases import subject_of
from registry.services.engine_diff import Page, effect_on, engine_diff
from registry.services.profiles import ShippedProfiles

KIMI = "KimiK25ForConditionalGeneration"
SHIPPED = ShippedProfiles()


@pytest.fixture
async def subject(registry, case):
    await registry.register(case.body("kimi"))
    return subject_of(await registry.records.checkpoint("kimi"))


@pytest.mark.parametrize(
    ("before", "after", "effect", "says"),
    [
        ("0.5.12.post1", "0.5.13", "ids", "needs ids [3,31,59]"),
        ("0.5.10", "0.5.10.post1", "nothing", "every fact that matters for it is the same"),
        ("0.5.10.post1", "0.5.11", "nothing", "--disable-cuda-graph can be dropped"),
        ("0.5.11", "0.5.10", "option", "needs --disable-cuda-graph beside the same config"),
        ("0.5.13", "0.5.10", "ids_and_option", "ids [2,30,58] at /eagle_config"),
        ("0.5.9", "0.5.11", "gains", "only sglang==0.5.11 serves it"),
        ("0.5.11", "0.5.9", "stay", "lacks set_eagle3_layers_to_capture"),
        ("0.5.9", "0.5.9", "neither", "neither build serves it"),
    ],
)
def test_the_founding_checkpoint_across_releases(subject, before, after, effect, says):
    profiles = [SHIPPED.get(parse_build(f"sglang=={version}")) for version in (before, after)]
    found = effect_on(subject, *profiles, profiles=SHIPPED)
    assert found.effect == effect, found
    assert says in found.sentence
    assert found.facts_equal == ((before, after) in (("0.5.10", "0.5.10.post1"), ("0.5.9", "0.5.9")))
    assert (found.ids is None) == (effect in ("stay", "neither"))


def test_options_of_one_engine_are_not_carried_to_another(subject):
    before, after = (SHIPPED.get(parse_build(text)) for text in ("sglang==0.5.10", "vllm==0.33.0"))
    found = effect_on(subject, before, after, profiles=SHIPPED)
    assert (found.effect, found.ids, found.options) == ("ids", (3, 31, 59), ())
    assert not found.facts_equal


def made(version, **changes):
    return profile(version=version, targets={KIMI: target_facts(target_class=KIMI, **changes)})


async def diff(registry, before, after, page=None, profiles=None):
    profiles = profiles or registry.profiles
    return await engine_diff(before, after, page=page, records=registry.records, profiles=profiles)


async def test_without_checkpoints_none_is_judged(registry, case):
    await registry.register(case.body("kimi"))
    found = await diff(registry, "sglang==1.0", "sglang==2.0")
    assert (found.before, found.after, found.checkpoints, found.next) == ("sglang==1.0", "sglang==2.0", None, None)
    assert [change.what for change in found.changes] == ["methods"]


async def test_every_registered_checkpoint_is_judged_a_page_at_a_time(registry, case):
    profiles = shipped(made("1.0"), made("2.0", dialect="identity"))
    for name in ("a", "b", "c"):
        registry.upload(case.with_weights(ord(name)))
        await registry.register(case.with_weights(ord(name)).body(name))
    seen, after = [], None
    while True:
        page = await diff(registry, "sglang==1.0", "sglang==2.0", Page(after=after, limit=2), profiles)
        seen += page.checkpoints
        after = page.next
        if after is None:
            break
    assert [(effect.checkpoint, effect.effect, effect.ids) for effect in seen] == [
        ("a@1", "ids", (3, 31, 59)), ("b@1", "ids", (3, 31, 59)), ("c@1", "ids", (3, 31, 59)),
    ]  # fmt: skip


async def test_a_build_without_the_methods_means_stay(registry, case):
    await registry.register(case.body("kimi"))
    found = await diff(registry, "sglang==1.0", "sglang==2.0", Page())
    (effect,) = found.checkpoints
    assert effect.effect == "stay"
    assert effect.sentence.startswith("stay on sglang==1.0: sglang==2.0 does not serve it: ")
    assert "set_embed_and_head" in effect.sentence


async def test_what_cannot_be_compared_is_said(registry):
    with pytest.raises(Invalid):
        await diff(registry, "sglang", "sglang==2.0")
    with pytest.raises(NotFound) as caught:
        await diff(registry, "sglang==1.0", "sglang==1.5")
    assert "sglang==1.0" in str(caught.value)
    curated = shipped(profile(engine="tensorrt-llm"), profile())
    with pytest.raises(NotFound, match="only how it counts"):
        await diff(registry, "tensorrt-llm==1.0", "sglang==1.0", profiles=curated)


def test_graphs_that_hold_no_ids_call_for_an_option(subject):
    held = profile(version="1.0", targets={KIMI: target_facts(target_class=KIMI)})
    lost = profile(
        version="2.0",
        targets={KIMI: target_facts(target_class=KIMI)},
        graphs=Graphs(ids_hold=False, disable_option="--disable-cuda-graph"),
    )
    profiles = shipped(held, lost)
    assert effect_on(subject, held, lost, profiles=profiles).effect == "option"
    assert effect_on(subject, lost, held, profiles=profiles).effect == "nothing"
