import pytest
from fakes.records import FakeRecords

from registry.documents import target as target_documents
from registry.domain.errors import Conflict, NotFound
from registry.services.targets import add_target, find_target


async def add(records, body):
    document = target_documents.parse(body)
    return await add_target(target=document.target, config=document.config, records=records, actor="ada")


async def test_a_new_target_is_created_and_the_same_again_changes_nothing(case):
    records = FakeRecords()
    first, second = await add(records, case.target), await add(records, case.target)
    assert (first.created, first.changed) == (True, True)
    assert (second.created, second.changed) == (False, False)
    assert first.record == second.record


async def test_a_missing_digest_is_filled_in_without_creating_a_target(case):
    records = FakeRecords()
    await add(records, {key: value for key, value in case.target.items() if key != "digest"})
    added = await add(records, case.target)
    assert (added.created, added.changed) == (False, True)
    assert added.record.target.digest == case.target["digest"]


async def test_another_config_under_the_same_name_and_revision_is_a_conflict(case):
    records = FakeRecords()
    await add(records, case.target)
    with pytest.raises(Conflict):
        await add(records, {**case.target, "config": {"architectures": ["Other"]}})


async def test_another_revision_is_created_beside_the_first(case):
    records = FakeRecords()
    await add(records, case.target)
    assert (await add(records, {**case.target, "revision": "v2"})).created


async def test_a_target_that_is_not_there_is_answered_with_the_command_that_adds_it():
    with pytest.raises(NotFound, match="roost target add who/knows"):
        await find_target("who/knows", "abc", records=FakeRecords())
