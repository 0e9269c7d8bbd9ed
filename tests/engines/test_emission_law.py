"""The law over everything that is shipped: what is emitted reads back as trained, or there is a stated refusal."""

import pytest
from fakes.profiles import config, inventory
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.domain.proposal import Build
from registry.domain.taps import Tap, at_depths
from registry.domain.target import Target
from registry.engines.emit import emission_config
from registry.engines.engine import engine
from registry.engines.reader import Situation, read
from registry.engines.spelling import NoSpelling, with_options
from registry.services.profiles import ShippedProfiles

PROFILES = ShippedProfiles()
BUILDS = [
    Build(engine=name, version=version) for name in PROFILES.engines() for version in PROFILES.versions(name)
]  # fmt: skip


def situation(build, target_class, layers, *, taps):
    profile = PROFILES.get(build)
    target = Target(name="any", target_class=target_class, layers=layers, hidden_size=64, vocab_size=512, dense=True)
    return Situation(profile=profile, config=config(), inventory=inventory(taps=taps), target=target)


@pytest.mark.parametrize("build", BUILDS, ids=str)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_is_emitted_reads_back_as_trained(build, data):
    profile = PROFILES.get(build)
    target_class = data.draw(st.sampled_from(sorted(profile.targets)))
    layers = data.draw(st.integers(1, 128))
    depths = data.draw(st.lists(st.integers(0, layers), min_size=1, max_size=5))
    where = situation(build, target_class, layers, taps=len(depths))
    facts = profile.targets[target_class]
    trained = tuple(Tap(depth=depth, stream=facts.stream if depth else "residual") for depth in depths)
    emitted = emission_config(engine(build.engine), where, trained)
    if isinstance(emitted, NoSpelling):
        assert emitted.reason
        return
    again = read(
        Situation(
            profile=profile,
            config=emitted.config,
            inventory=where.inventory,
            target=where.target,
            launch=with_options(None, emitted.options),
        )
    )
    assert again.taps.prefill == again.taps.decode == trained
    assert again.failures == ()


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_every_supported_class_can_be_given_three_inner_taps(build):
    """Three taps inside the target are the everyday case: no supported and traced class may refuse them."""
    profile = PROFILES.get(build)
    refused = {}
    for name, facts in profile.targets.items():
        if not facts.supported or facts.captures != "listed" or facts.dialect == "unresolved":
            continue
        trained = tuple(Tap(depth=depth, stream=facts.stream) for depth in (3, 31, 59))
        emitted = emission_config(engine(build.engine), situation(build, name, 61, taps=3), trained)
        if isinstance(emitted, NoSpelling):
            refused[name] = emitted.reason
    assert refused == {}


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_classes_that_are_not_traced_fail_closed(build):
    profile = PROFILES.get(build)
    for name, facts in profile.targets.items():
        if "unresolved" in (facts.dialect, facts.captures):
            emitted = emission_config(engine(build.engine), situation(build, name, 61, taps=3), at_depths((3, 31, 59)))
            assert isinstance(emitted, NoSpelling), name
