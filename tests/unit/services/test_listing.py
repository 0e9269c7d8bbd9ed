from dataclasses import replace

import pytest
from fakes.shipped import shipped

from registry.documents import proposal as proposal_documents
from registry.domain.digests import Digest
from registry.domain.errors import Invalid, NotFound
from registry.domain.proposal import parse_build
from registry.services import listing
from registry.services.checking import store_verdict
from registry.services.records import EmissionRecord, EmittedFile

DIGEST = Digest("sha256:" + "0" * 64)


async def test_revisions_come_with_their_checkpoint(registry, case):
    await registry.register(case.body("kimi"))
    checkpoint, revisions = await listing.provenance_of("kimi", records=registry.records)
    assert checkpoint.ref == "kimi@1"
    assert [revision.revision for revision in revisions] == [1]


async def test_events_are_those_of_one_drafter(registry, case):
    await registry.register(case.body("kimi"))
    events = await listing.events_of("kimi", records=registry.records)
    assert [event.kind for event in events] == ["checkpoint.registered"]
    with pytest.raises(NotFound):
        await listing.events_of("nobody", records=registry.records)
    with pytest.raises(Invalid):
        await listing.events_of("../x", records=registry.records)


@pytest.mark.parametrize("kind", ["verdict", "emission"])
async def test_outcomes_are_found_by_digest_alone(registry, kind):
    async def find(text):
        if kind == "emission":
            return await listing.stored_emission(text, records=registry.records)
        return await listing.stored_verdict(text, records=registry.records, profiles=registry.profiles)

    with pytest.raises(NotFound):
        await find(DIGEST)
    with pytest.raises(Invalid):
        await find("latest")


async def test_a_verdict_is_stale_once_its_build_has_another_profile(registry, case):
    await registry.register(case.body("kimi"))
    document = proposal_documents.parse({"schema": "roost.proposal/1", "checkpoint": "kimi", "engine": "sglang==1.0"})
    stored = await store_verdict(document=document, records=registry.records, profiles=registry.profiles, actor="ada")

    async def stale(profiles):
        return (await listing.stored_verdict(stored.id, records=registry.records, profiles=profiles)).stale

    assert not await stale(registry.profiles)
    corrected = replace(registry.profiles.get(parse_build("sglang==1.0")), revision=2)
    assert await stale(shipped(corrected))
    assert await stale(shipped())


def test_a_file_the_emission_does_not_have_names_those_it_has(tmp_path):
    emission = EmissionRecord(
        id=DIGEST,
        ref="kimi@1",
        engine="sglang==1.0",
        runner=None,
        target="t",
        files=(EmittedFile(name="config.json", size=2, sha256=DIGEST),),
        document={},
        created_at=None,
    )
    assert listing.emitted_file(emission, "config.json").size == 2
    with pytest.raises(NotFound, match=r"config\.json"):
        listing.emitted_file(emission, "../config.json")
