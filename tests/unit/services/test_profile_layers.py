"""Layers of profiles: which one counts for a build, what ranges run over, and that every addition is seen."""

from dataclasses import replace

import pytest
from fakes.new_records import new_profile
from fakes.profiles import profile
from fakes.records import FakeRecords
from fakes.shipped import shipped

from registry.domain.proposal import parse_build
from registry.services.profile_layers import LayeredProfiles, ProfileLayers
from registry.services.records import NewProfile, ProfileMark

SHIPPED = shipped(
    profile(version="0.5.9"), profile(version="0.5.11"), profile(version="0.5.9+fork", upstream="0.5.9"),
    profile(version="1.0", engine="vllm"),
)  # fmt: skip


def release(version: str, *, layers: int = 61, origin: str = "added", after: int = 1) -> NewProfile:
    """A profile without upstream."""
    new = new_profile(version, layers=layers, origin=origin, after=after)
    return replace(new, document={key: value for key, value in new.document.items() if key != "upstream"})


async def layered(*added: NewProfile) -> LayeredProfiles:
    records = FakeRecords()
    for new in added:
        await records.add_profile(new)
    return LayeredProfiles(SHIPPED, await records.profiles_newest())


def get(profiles, text):
    return profiles.get(parse_build(text))


async def test_an_added_profile_counts_before_the_shipped_one_and_cites_its_revision():
    profiles = await layered(release("0.5.11"))
    found = get(profiles, "sglang==0.5.11")
    assert found is get(profiles, "sglang==0.5.11")
    assert (found.revision, set(found.targets)) == (2, {"Made"})
    assert found.citation == f"sglang==0.5.11 rev 2 {found.digest[:19]}"
    assert found.digest != get(SHIPPED, "sglang==0.5.11").digest
    assert get(profiles, "sglang==0.5.9") is get(SHIPPED, "sglang==0.5.9")
    assert get(profiles, "sglang==0.5.10") is None
    assert profiles.versions("sglang") == SHIPPED.versions("sglang")


async def test_a_nodes_profile_never_stands_in_for_a_shipped_one():
    profiles = await layered(release("0.5.11", origin="node"))
    assert get(profiles, "sglang==0.5.11") is get(SHIPPED, "sglang==0.5.11")
    assert profiles.origin(parse_build("sglang==0.5.11")) == "shipped"
    assert profiles.set_digest != (await layered(release("0.5.11"))).set_digest


async def test_ranges_run_over_shipped_and_added_releases_and_over_no_fork():
    profiles = await layered(
        release("0.5.10"), new_profile("0.5.9+local.0123", origin="node"), new_profile("0.5.12.mine"), release("0.6+x")
    )
    assert profiles.versions("sglang") == (
        "0.5.12.mine", "0.5.9", "0.5.9+fork", "0.5.9+local.0123", "0.5.10", "0.5.11", "0.6+x",
    )  # fmt: skip
    assert profiles.upstream("sglang") == ("0.5.9", "0.5.10", "0.5.11")
    assert profiles.upstream("vllm") == SHIPPED.upstream("vllm") == ("1.0",)
    assert profiles.nearest(parse_build("sglang==0.5.10.post1")) == ("0.5.10", "0.5.11")


async def test_engines_and_origins_are_those_of_both_layers():
    other = release("2.0")
    lmdeploy = replace(other, document={**other.document, "engine": "lmdeploy"})
    profiles = await layered(lmdeploy, new_profile("0.5.9+local.0123", origin="node"))
    assert profiles.engines() == ("lmdeploy", "sglang", "vllm")
    assert profiles.versions("lmdeploy") == profiles.upstream("lmdeploy") == ("2.0",)
    builds = ("lmdeploy==2.0", "sglang==0.5.9+local.0123", "sglang==0.5.9", "sglang==9")
    assert [profiles.origin(parse_build(build)) for build in builds] == ["added", "node", "shipped", None]


async def test_the_set_digest_changes_with_every_change_and_with_nothing_else():
    one, other = release("0.5.10"), new_profile("0.5.9+mine")
    sets = [(), (one,), (other,), (one, other), (one, release("0.5.10", layers=7))]
    digests = [(await layered(*added)).set_digest for added in sets]
    assert len(set(digests)) == len(digests)
    assert (await layered(other, one)).set_digest == digests[3]


class Watched(FakeRecords):
    """Counts how much is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[int] = []

    async def profiles_newest(self, *, after: int = 0):
        found = await super().profiles_newest(after=after)
        self.fetched.append(len(found))
        return found


async def test_without_additions_the_shipped_set_is_used_and_nothing_is_fetched():
    records = Watched()
    assert await ProfileLayers(SHIPPED, records).current() is SHIPPED
    assert records.fetched == []


async def test_an_addition_is_seen_by_the_next_request_of_every_process():
    records = Watched()
    processes = [ProfileLayers(SHIPPED, records) for _ in range(3)]
    before = [await one.current() for one in processes]
    await records.add_profile(release("0.5.11"))
    after = [await one.current() for one in processes]
    assert {get(one, "sglang==0.5.11").revision for one in before} == {1}
    assert {get(one, "sglang==0.5.11").revision for one in after} == {2}
    assert [await one.current() for one in processes] == after
    assert records.fetched == [1, 1, 1]


async def test_a_set_stays_what_it_is_while_more_is_added():
    records = FakeRecords()
    layers = ProfileLayers(SHIPPED, records)
    await records.add_profile(release("0.5.11"))
    held = await layers.current()
    digest = held.set_digest
    await records.add_profile(release("0.5.11", layers=7))
    assert get(await layers.current(), "sglang==0.5.11").revision == 3
    assert (get(held, "sglang==0.5.11").revision, held.set_digest) == (2, digest)


async def test_only_what_is_new_is_fetched_and_what_was_known_stays():
    records = Watched()
    layers = ProfileLayers(SHIPPED, records)
    for number in range(20):
        await records.add_profile(new_profile(f"1+{number}"))
    await layers.current()
    await records.add_profile(new_profile("1+late"))
    profiles = await layers.current()
    assert records.fetched == [20, 2]
    assert len(profiles.versions("sglang")) == len(SHIPPED.versions("sglang")) + 21


@pytest.mark.parametrize("first", ["node", "added"])
async def test_a_late_scan_does_not_undo_a_correction_that_was_known(first):
    records = FakeRecords()
    layers = ProfileLayers(SHIPPED, records)
    second = {"node": "added", "added": "node"}[first]
    await records.add_profile(new_profile("1+a", layers=10, origin=first))
    await layers.current()
    await records.add_profile(new_profile("1+b"))
    await records.add_profile(new_profile("1+a", layers=11, origin=second))
    build = parse_build("sglang==1+a")
    assert (await layers.current()).origin(build) == "added"


async def test_another_database_in_the_place_of_the_first_is_noticed():
    layers = ProfileLayers(SHIPPED, records := FakeRecords())
    for version in ("1+a", "1+b"):
        await records.add_profile(new_profile(version))
    await layers.current()
    for versions in (("1+c", "1+d"), ("1+c", "1+d", "1+e"), ("1+f",), ()):
        layers._store = other = FakeRecords()
        for version in versions:
            await other.add_profile(new_profile(version))
        found = (await layers.current()).versions("sglang")
        assert [version for version in found if version.startswith("1+")] == list(versions)


async def test_a_fetch_that_was_overtaken_is_mended_by_the_next_request():
    layers = ProfileLayers(SHIPPED, records := FakeRecords())
    await records.add_profile(new_profile("1+a"))
    stale = await records.profiles_newest()
    await records.add_profile(new_profile("1+b"))
    await layers.current()
    layers._mark = ProfileMark(number=stale[0].number, digest=stale[0].digest)
    layers._added = {one.build: one for one in stale}
    assert "1+b" in (await layers.current()).versions("sglang")
