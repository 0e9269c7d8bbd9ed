import pytest

from registry.domain.errors import Invalid, NotFound, Refused
from registry.services.resolving import find_checkpoint, proposed_target, registered_target


async def test_a_name_alone_is_the_newest_version(registry, case):
    await registry.register(case.body("Kimi/Eagle3"))
    other = case.with_weights(3)
    registry.upload(other)
    await registry.register(other.body("Kimi/Eagle3"))
    assert (await find_checkpoint("Kimi/Eagle3", records=registry.records)).version == 2
    assert (await find_checkpoint("Kimi/Eagle3@1", records=registry.records)).version == 1


async def test_a_weights_digest_is_the_first_that_has_it(registry, case):
    first = (await registry.register(case.body("b"))).record
    await registry.register(case.body("a/copy"))
    found = await find_checkpoint(first.weights_digest, records=registry.records)
    assert found.weights_digest == first.weights_digest


async def test_a_version_that_is_not_there_names_the_newest(registry, case):
    await registry.register(case.body("kimi"))
    with pytest.raises(NotFound, match="kimi@1"):
        await find_checkpoint("kimi@9", records=registry.records)


async def test_an_unknown_name_points_to_the_list(registry):
    with pytest.raises(NotFound, match="roost list"):
        await find_checkpoint("nobody", records=registry.records, pointer="/checkpoint")


@pytest.mark.parametrize("text", ["", "a@0", "../a", "blake3:zz", "a@1@2", "a b"])
async def test_what_is_no_reference_is_invalid(registry, text):
    with pytest.raises(Invalid):
        await find_checkpoint(text, records=registry.records)


async def test_without_a_revision_the_newest_target_of_the_name_is_meant(registry, case):
    found = await registered_target(case.target["name"], None, records=registry.records)
    assert found.target.revision == case.target["revision"]


async def test_naming_the_trained_target_changes_nothing(registry, case):
    record = (await registry.register(case.body("kimi"))).record
    assert await proposed_target(None, record, records=registry.records) == record.target
    assert await proposed_target(case.target["name"], record, records=registry.records) == record.target


async def test_another_target_must_be_registered(registry, case):
    record = (await registry.register(case.body("kimi"))).record
    with pytest.raises(Refused, match="roost target add other/target") as caught:
        await proposed_target("other/target", record, records=registry.records)
    assert caught.value.pointer == "/target"
