"""Writes on real Postgres: consecutive under any load, all or nothing, chained, and sound against odd values."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from fakes import new_records
from fakes.new_records import emission_record, new_checkpoint, new_profile, target_record, verdict_record, weights
from sqlalchemy import event, text

from registry.documents import provenance as provenance_documents
from registry.domain.digests import Digest
from registry.domain.errors import IntegrityMismatch, Invalid, NotFound, Refused, Unavailable
from registry.domain.tensors import StoredFile
from registry.store import tables
from registry.store.chain import verify_chain
from registry.store.connect import connect
from registry.store.records import PostgresRecords

NAME = "kimi/eagle3"
KILL_THE_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


def plain(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True)


def count_rows(url: str) -> dict[str, int]:
    with plain(url) as connection:
        return {table: connection.execute(f"TABLE {table}").rowcount for table in tables.metadata.tables}


def amendment(**facts):
    document = new_records.provenance_document(**facts)
    return {"provenance": provenance_documents.parse(document), "document": document}


def test_64_parallel_registrations_give_64_consecutive_versions(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        new = [new_checkpoint(number=number) for number in range(64)]
        made = await asyncio.gather(*(records.add_checkpoint(one) for one in new))
        return [record.version for record, _ in made], await records.events(NAME)

    versions, events = on_postgres(database.service_url, scenario)
    assert sorted(versions) == list(range(1, 65))
    verify_chain(events)
    assert [event.body["ref"] for event in events] == [f"{NAME}@{version}" for version in range(1, 65)]


def test_two_services_share_one_line_of_versions(database):
    async def scenario():
        engines = [connect(database.service_url, pool_size=4) for _ in range(2)]
        one, other = map(PostgresRecords, engines)
        await one.add_target(target_record(), actor="ada")
        work = [(one, other)[n % 2].add_checkpoint(new_checkpoint(number=n)) for n in range(16)]
        made = await asyncio.gather(*work)
        for engine in engines:
            await engine.dispose()
        return sorted(record.version for record, _ in made)

    assert asyncio.run(scenario()) == list(range(1, 17))


def test_the_same_registration_64_times_at_once_is_one_version(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        made = await asyncio.gather(*(records.add_checkpoint(new_checkpoint()) for _ in range(64)))
        return [record.version for record, _ in made], sum(created for _, created in made), await records.events(NAME)

    versions, created, events = on_postgres(database.service_url, scenario)
    assert (set(versions), created, len(events)) == ({1}, 1, 1)


def test_the_same_target_64_times_at_once_is_added_once(database, on_postgres):
    async def scenario(records):
        return await asyncio.gather(*(records.add_target(target_record(), actor="ada") for _ in range(64)))

    made = on_postgres(database.service_url, scenario)
    assert sum(changed for _, changed in made) == 1


def test_parallel_writes_of_every_kind_make_one_sound_chain(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        ref = f"{NAME}@1"
        work = []
        for number in range(2, 12):
            body = f'{{"n":{number}}}'.encode()
            work += [
                records.add_checkpoint(new_checkpoint(number=number)),
                records.add_verdict(verdict_record(ref, body=body), actor="ada"),
                records.add_emission(emission_record(ref, number=number), actor="ada"),
                records.amend(NAME, 1, **amendment(data={"samples": number}), actor="ada", reason=f"n {number}"),
            ]
        await asyncio.gather(*work)
        return await records.events(NAME), await records.revisions(NAME, 1)

    events, revisions = on_postgres(database.service_url, scenario)
    assert [event.sequence for event in events] == list(range(1, 42))
    assert [revision.revision for revision in revisions] == list(range(1, 12))
    verify_chain(events)


@pytest.mark.parametrize(
    "change",
    [
        {"sequence": 7},
        {"actor": "eve"},
        {"body": {"ref": "another"}},
        {"kind": "emission.stored"},
        {"digest": Digest("sha256:" + "0" * 64)},
    ],
)
def test_a_changed_event_breaks_the_chain(database, on_postgres, change):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        for number in range(3):
            await records.add_checkpoint(new_checkpoint(number=number))
        return await records.events(NAME)

    events = list(on_postgres(database.service_url, scenario))
    verify_chain(events)
    with pytest.raises(IntegrityMismatch):
        verify_chain([events[0], replace(events[1], **change), events[2]])
    with pytest.raises(IntegrityMismatch, match="missing"):
        verify_chain([events[0], events[2]])


class Failing:
    """Makes the n-th statement of a transaction fail after Postgres ran it, as if the process had died there."""

    def __init__(self, engine, at: int) -> None:
        self._at, self.seen = at, 0
        event.listen(engine.sync_engine, "after_cursor_execute", self._after)

    def _after(self, *_: object) -> None:
        self.seen += 1
        if self.seen == self._at:
            msg = "injected"
            raise RuntimeError(msg)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_registration_that_fails_midway_leaves_nothing_and_can_be_repeated(database, on_postgres, at):
    async def prepare(records):
        await records.add_target(target_record(), actor="ada")

    async def fail():
        engine = connect(database.service_url)
        Failing(engine, at)
        with pytest.raises(RuntimeError, match="injected"):
            await PostgresRecords(engine).add_checkpoint(new_checkpoint())
        await engine.dispose()

    async def repeat(records):
        record, created = await records.add_checkpoint(new_checkpoint())
        return record.version, created, len(await records.events(NAME))

    on_postgres(database.service_url, prepare)
    before = count_rows(database.owner_url)
    asyncio.run(fail())
    assert count_rows(database.owner_url) == before
    assert on_postgres(database.service_url, repeat) == (1, True, 1)


def test_a_failure_after_the_commit_leaves_the_whole_and_the_repeat_finds_it(database, on_postgres):
    async def fail():
        engine = connect(database.service_url)
        records = PostgresRecords(engine)
        await records.add_target(target_record(), actor="ada")
        Failing(engine, 4)
        with pytest.raises(RuntimeError, match="injected"):
            await records.add_checkpoint(new_checkpoint())
        await engine.dispose()

    async def repeat(records):
        record, created = await records.add_checkpoint(new_checkpoint())
        return record.version, created, len(await records.events(NAME))

    asyncio.run(fail())
    assert on_postgres(database.service_url, repeat) == (1, False, 1)


def test_a_refused_row_undoes_the_whole_registration(database, on_postgres):
    new = new_checkpoint()
    twice = StoredFile(name="config.json", size=1, sha256=new_records.sha256("other"), role="config")
    bad = replace(new, inventory=replace(new.inventory, files=(*new.inventory.files, twice)))

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        before = count_rows(database.owner_url)
        with pytest.raises(Invalid, match="one name"):
            await records.add_checkpoint(bad)
        return before

    assert on_postgres(database.service_url, scenario) == count_rows(database.owner_url)


def test_a_connection_that_was_killed_is_replaced_and_the_work_repeated(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        with plain(database.owner_url) as owner:
            assert owner.execute(KILL_THE_OTHERS).rowcount > 0
            read = await records.checkpoint(NAME)
            assert owner.execute(KILL_THE_OTHERS).rowcount > 0
            written, _ = await records.add_checkpoint(new_checkpoint(number=2))
        return read.version, written.version

    assert on_postgres(database.service_url, scenario) == (1, 2)


def test_a_held_lock_is_given_up_in_time_and_reported(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        with plain(database.owner_url) as owner, owner.transaction():
            owner.execute("SELECT 1 FROM drafters FOR UPDATE")
            with pytest.raises(Unavailable, match="in time"):
                await records.add_checkpoint(new_checkpoint(number=2))
        return (await records.add_checkpoint(new_checkpoint(number=2)))[0].version

    url = database.service_url + "&options=-c%20lock_timeout%3D200ms"
    assert on_postgres(url, scenario) == 2


def test_a_canceled_registration_leaves_nothing_and_no_connection_behind(database):
    async def scenario():
        engine = connect(database.service_url, pool_size=1)
        records = PostgresRecords(engine)
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        with plain(database.owner_url) as owner, owner.transaction():
            owner.execute("SELECT 1 FROM drafters FOR UPDATE")
            waiting = asyncio.create_task(records.add_checkpoint(new_checkpoint(number=2)))
            await asyncio.sleep(0.2)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        held = engine.pool.checkedout()
        record, created = await records.add_checkpoint(new_checkpoint(number=3))
        await engine.dispose()
        return held, record.version, created

    assert asyncio.run(scenario()) == (0, 2, True)


def test_reads_do_not_wait_for_a_writer(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        with plain(database.owner_url) as owner, owner.transaction():
            owner.execute("SELECT 1 FROM drafters FOR UPDATE")
            return (await asyncio.wait_for(records.checkpoint(NAME), timeout=5)).version

    assert on_postgres(database.service_url, scenario) == 1


def test_a_verdict_for_two_subjects_is_stored_once_and_stale_by_the_last(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint("one"))
        await records.add_checkpoint(new_checkpoint("two"))
        first = await records.add_verdict(verdict_record("one@1"), actor="ada")
        second = await records.add_verdict(verdict_record("two@1"), actor="ada")
        again = await records.add_verdict(verdict_record("two@1"), actor="eve")
        await records.amend("one", 1, **amendment(standardization={"name": "arrow"}), actor="bob", reason="wrong")
        judged_again = await records.add_verdict(verdict_record("one@1", revision=2), actor="ada")
        return first, second, again, judged_again, await records.verdict(first.id), await records.events("two")

    first, second, again, judged_again, found, events = on_postgres(database.service_url, scenario)
    assert (first.ref, second.ref, first.id) == ("one@1", "two@1", second.id)
    assert again == second
    assert [event.kind for event in events] == ["checkpoint.registered", "verdict.stored"]
    assert found == judged_again
    assert (found.ref, found.provenance_revision, found.stale) == ("one@1", 2, False)
    assert count_rows(database.owner_url)["verdicts"] == 1


def test_a_verdict_whose_digest_is_not_of_its_bytes_is_refused(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        wrong = replace(verdict_record(f"{NAME}@1"), id=new_records.sha256("other"))
        with pytest.raises(IntegrityMismatch):
            await records.add_verdict(wrong, actor="ada")
        for missing in (verdict_record(f"{NAME}@2"), verdict_record("none@1"), verdict_record(f"{NAME}@1", revision=2)):
            with pytest.raises(NotFound):
                await records.add_verdict(missing, actor="ada")
        with pytest.raises(NotFound):
            await records.add_emission(emission_record("none@1"), actor="ada")
        return await records.events(NAME)

    assert len(on_postgres(database.service_url, scenario)) == 1


def test_an_amendment_to_an_unregistered_target_is_refused(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        with pytest.raises(Refused, match="roost target add other/model"):
            await records.amend(NAME, 1, **amendment(target={"name": "other/model"}), actor="bob", reason="wrong one")
        await records.add_target(target_record(name="other/model"), actor="ada")
        await records.amend(NAME, 1, **amendment(target={"name": "other/model"}), actor="bob", reason="wrong one")
        return (await records.checkpoint(NAME)).target.target.name

    assert on_postgres(database.service_url, scenario) == "other/model"


def test_a_repeated_amendment_is_not_a_conflict_with_itself(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        arrow = amendment(standardization={"name": "arrow"})
        first = await records.amend(NAME, 1, **arrow, actor="bob", reason="wrong", expected_revision=1)
        return first, await records.amend(NAME, 1, **arrow, actor="bob", reason="wrong", expected_revision=1)

    first, second = on_postgres(database.service_url, scenario)
    assert first == second


def test_digests_of_two_kinds_are_never_compared(database, on_postgres):
    of_shards = new_records.sha256("shards")

    async def scenario(records):
        await records.add_target(target_record(digest=weights(5)), actor="ada")
        return await records.add_target(target_record(digest=of_shards), actor="ada")

    record, changed = on_postgres(database.service_url, scenario)
    assert (record.target.digest, changed) == (weights(5), False)


@pytest.mark.parametrize("odd", ["a\x00b", "half \ud800 pair"])
def test_text_that_postgres_cannot_hold_is_invalid_and_stores_nothing(database, on_postgres, odd):
    async def scenario(records):
        with pytest.raises(Invalid):
            await records.add_target(replace(target_record(), config={"architectures": [odd]}), actor="ada")
        await records.add_target(target_record(), actor="ada")
        new = new_checkpoint()
        bad = (
            replace(new, actor=odd),
            replace(new, inventory=replace(new.inventory, config={odd: 1})),
            replace(new, inventory=replace(new.inventory, config={"k": float("nan")})),
        )
        for one in bad:
            with pytest.raises(Invalid):
                await records.add_checkpoint(one)
        return await records.checkpoint(NAME)

    assert on_postgres(database.service_url, scenario) is None


@pytest.mark.parametrize("name", ["../x", "a//b", "a b", "", "x" * 201, "a@1"])
def test_a_drafter_name_is_checked_by_the_database_too(database, on_postgres, name):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        with pytest.raises(Invalid, match="name"):
            await records.add_checkpoint(new_checkpoint(name))

    on_postgres(database.service_url, scenario)


def test_a_malformed_digest_is_refused_by_the_database_too(database, on_postgres):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        with pytest.raises(Invalid, match="digest"):
            await records.add_checkpoint(replace(new_checkpoint(), weights_digest=Digest("blake3:ABC")))

    on_postgres(database.service_url, scenario)


def test_large_numbers_in_a_config_are_compared_as_they_are_stored(database, on_postgres):
    config = {**target_record().config, "big": 2**63 - 1, "huge": 10**40, "exact": 2**53, "small": 1e-7, "real": 5e4}

    async def scenario(records):
        record = replace(target_record(), config=config)
        await records.add_target(record, actor="ada")
        return await records.add_target(record, actor="ada")

    record, changed = on_postgres(database.service_url, scenario)
    assert not changed
    assert record.config["big"] == float(2**63)
    assert record.config["exact"] == 2**53


def test_a_role_without_rights_is_told_what_to_do(database, on_postgres):
    with plain(database.owner_url) as owner:
        owner.execute("REVOKE ALL ON checkpoints FROM roost_service")

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        with pytest.raises(Unavailable, match="roost db migrate"):
            await records.add_checkpoint(new_checkpoint())
        return await records.ready()

    assert "ROOST_SERVICE_ROLE" in on_postgres(database.service_url, scenario)


def test_sessions_have_limits_and_a_name(database):
    async def scenario():
        engine = connect(database.service_url + "&options=-c%20work_mem%3D5MB")
        query = "SELECT current_setting(:name)"
        names = (
            "application_name",
            "statement_timeout",
            "lock_timeout",
            "TimeZone",
            "work_mem",
            "transaction_isolation",
        )
        async with engine.connect() as connection:
            found = [await connection.scalar(text(query), {"name": name}) for name in names]
        await engine.dispose()
        return found

    assert asyncio.run(scenario()) == ["roost", "15s", "10s", "UTC", "5MB", "read committed"]


def test_parallel_additions_of_profiles_are_consecutive_and_become_visible_in_their_order(database):
    async def scenario():
        engines = [connect(database.service_url, pool_size=8) for _ in range(2)]
        stores = list(map(PostgresRecords, engines))
        done = asyncio.Event()

        async def watch():
            seen = set()
            while not done.is_set():
                rows = await stores[0]._access.read(text("SELECT id FROM profile_revisions"))
                late = {row.id for row in rows} - seen
                # Whoever has fetched up to a number asks for larger ones only: nothing may appear below it.
                assert min(late, default=max(seen, default=0) + 1) > max(seen, default=0)
                seen |= late
            return len(seen)

        watching = asyncio.create_task(watch())
        new = [new_profile(f"1+{n % 4}", layers=10 + n) for n in range(32)]
        made = await asyncio.gather(*(stores[n % 2].add_profile(one) for n, one in enumerate(new)))
        done.set()
        seen = await watching
        revisions = [await stores[1].profile_revisions("sglang", f"1+{n}") for n in range(4)]
        for engine in engines:
            await engine.dispose()
        return made, revisions, seen

    made, revisions, seen = asyncio.run(scenario())
    assert all(created for _, created in made)
    assert [[one.revision for one in of_build] for of_build in revisions] == [list(range(1, 9))] * 4
    assert 0 < seen <= 32


def test_the_same_profile_from_many_at_once_is_stored_once(database, on_postgres):
    async def scenario(records):
        return await asyncio.gather(*(records.add_profile(new_profile()) for _ in range(16)))

    made = on_postgres(database.service_url, scenario)
    assert sorted(created for _, created in made) == [False] * 15 + [True]
    assert len({one.number for one, _ in made}) == 1
    assert count_rows(database.owner_url)["profile_revisions"] == 1


def test_a_profile_that_cannot_be_stored_leaves_nothing(database, on_postgres):
    async def scenario(records):
        new = new_profile()
        for broken in (replace(new, reason="a\x00b"), replace(new, source_digest=Digest("md5:1"))):
            with pytest.raises(Invalid):
                await records.add_profile(broken)

    on_postgres(database.service_url, scenario)
    assert count_rows(database.owner_url)["profile_revisions"] == 0
