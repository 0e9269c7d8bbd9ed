import pytest

from registry.domain.digests import Digest
from registry.domain.errors import Invalid, NotFound
from registry.services import listing
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


@pytest.mark.parametrize("find", [listing.stored_verdict, listing.stored_emission])
async def test_outcomes_are_found_by_digest_alone(registry, find):
    with pytest.raises(NotFound):
        await find(DIGEST, records=registry.records)
    with pytest.raises(Invalid):
        await find("latest", records=registry.records)


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
