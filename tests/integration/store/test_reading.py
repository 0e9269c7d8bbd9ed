"""Reads on real Postgres: few round trips, current facts, and cursors that nobody else made."""

import asyncio

import pytest
from fakes import new_records
from fakes.new_records import new_checkpoint, target_record, verdict_record, weights
from sqlalchemy import event, text

from registry.documents import provenance as provenance_documents
from registry.domain.errors import Invalid, Unavailable
from registry.store import migrate
from registry.store.checkpoint_queries import MOST_TWINS
from registry.store.connect import connect
from registry.store.records import PostgresRecords

NAME = "kimi/eagle3"


class Statements:
    """Records every statement that reaches the driver."""

    def __init__(self, engine) -> None:
        self.seen: list[str] = []
        event.listen(engine.sync_engine, "before_cursor_execute", self._before)

    def _before(self, _connection, _cursor, statement, *_: object) -> None:
        self.seen.append(statement)

    def during(self) -> list[str]:
        seen, self.seen = self.seen, []
        return seen


def amendment(**facts):
    document = new_records.provenance_document(**facts)
    return {"provenance": provenance_documents.parse(document), "document": document}


async def fill(records):
    await records.add_target(target_record(), actor="ada")
    await records.add_checkpoint(new_checkpoint())
    await records.add_checkpoint(new_checkpoint("twin", standardization={"name": "arrow"}))


@pytest.fixture
def filled(database, on_postgres):
    on_postgres(database.service_url, fill)
    return database


def test_a_checkpoint_is_read_in_one_statement_once_its_parts_are_known(filled):
    async def scenario():
        engine = connect(filled.service_url)
        records, statements = PostgresRecords(engine), Statements(engine)
        cold = await records.checkpoint(NAME)
        first = statements.during()
        warm = [await records.checkpoint(NAME), await records.checkpoint(NAME, 1)]
        second = statements.during()
        await engine.dispose()
        return cold, warm, len(first), len(second)

    cold, warm, first, second = asyncio.run(scenario())
    assert warm == [cold, cold]
    assert [twin.ref for twin in cold.twins] == ["twin@1"]
    assert (first, second) == (3, 2)  # head, bodies, the twin's document; then one head each


def test_what_was_just_registered_is_read_without_its_bodies(database):
    async def scenario():
        engine = connect(database.service_url)
        records, statements = PostgresRecords(engine), Statements(engine)
        await records.add_target(target_record(), actor="ada")
        record, _ = await records.add_checkpoint(new_checkpoint())
        statements.during()
        found = await records.checkpoint(NAME)
        await engine.dispose()
        return record, found, statements.during()

    record, found, seen = asyncio.run(scenario())
    assert found == record
    assert len(seen) == 1


def test_a_remembered_record_equals_one_read_afresh(filled, on_postgres):
    async def scenario(records):
        await records.add_checkpoint(new_checkpoint("another", 2))
        await records.amend(NAME, 1, **amendment(data={"samples": 3}), actor="bob", reason="counted")
        return await records.checkpoint("another"), await records.checkpoint(NAME), await records.revisions(NAME, 1)

    async def afresh(records):
        return await records.checkpoint("another"), await records.checkpoint(NAME), await records.revisions(NAME, 1)

    assert on_postgres(filled.service_url, scenario) == on_postgres(filled.service_url, afresh)


def test_what_another_service_wrote_is_seen_at_once(filled):
    async def scenario():
        engines = [connect(filled.service_url) for _ in range(2)]
        one, other = map(PostgresRecords, engines)
        before = await one.checkpoint(NAME)
        await other.add_target(target_record(digest=weights(5)), actor="eve")
        await other.amend(NAME, 1, **amendment(standardization={"name": "arrow"}), actor="eve", reason="wrong")
        after = await one.checkpoint(NAME)
        for engine in engines:
            await engine.dispose()
        return before, after

    before, after = asyncio.run(scenario())
    assert (before.provenance.revision, after.provenance.revision) == (1, 2)
    assert after.target.target.digest == weights(5)
    assert "/standardization/name" in before.twins[0].facts_differ
    assert after.twins[0].facts_differ == ()
    assert after.provenance.provenance.standardization.name == "arrow"


def test_twins_differ_by_the_newest_facts_of_both(filled, on_postgres):
    async def scenario(records):
        before = await records.checkpoint("twin")
        same = amendment(standardization={"name": "arrow"})
        await records.amend(NAME, 1, **same, actor="bob", reason="wrong")
        return before, await records.checkpoint("twin")

    before, after = on_postgres(filled.service_url, scenario)
    assert "/standardization/name" in before.twins[0].facts_differ
    assert after.twins[0].facts_differ == ()


def test_a_page_never_repeats_or_skips_while_records_are_added(filled, on_postgres):
    async def scenario(records):
        page = await records.checkpoints(limit=1)
        await records.add_checkpoint(new_checkpoint("a/earlier", 5))
        await records.add_checkpoint(new_checkpoint("zz/later", 6))
        rest = await records.checkpoints(after=page.next, limit=10)
        return [row.name for row in (*page.items, *rest.items)]

    assert on_postgres(filled.service_url, scenario) == [NAME, "twin", "zz/later"]


@pytest.mark.parametrize("cursor", ["", "x", "!!", "WyJhIl0", "WzEsMl0", "bnVsbA", "ä", "W10" * 4000])
@pytest.mark.parametrize("listing", ["targets", "checkpoints"])
def test_a_cursor_that_was_not_given_out_is_invalid(database, on_postgres, listing, cursor):
    async def scenario(records):
        with pytest.raises(Invalid, match="cursor"):
            await getattr(records, listing)(after=cursor)

    on_postgres(database.service_url, scenario)


@pytest.mark.parametrize("limit", [-1, 0, 10**9])
def test_any_limit_gives_a_page(filled, on_postgres, limit):
    async def scenario(records):
        return (await records.drafters(limit=limit)).items

    assert 1 <= len(on_postgres(filled.service_url, scenario)) <= 2


def test_names_in_odd_places_are_only_not_found(filled, on_postgres):
    async def scenario(records):
        return [
            await records.checkpoint("'; DROP TABLE events; --"),
            await records.checkpoint(NAME, 2**31 - 1),
            await records.target("%"),
            await records.checkpoint(NAME),
        ]

    *missing, found = on_postgres(filled.service_url, scenario)
    assert missing == [None] * 3
    assert found.version == 1


def test_a_database_at_head_is_ready(filled, on_postgres):
    async def scenario(records):
        return await records.ready()

    assert on_postgres(filled.service_url, scenario) is None


def test_an_empty_database_is_reported_with_the_command_that_mends_it(empty_database, on_postgres):
    async def scenario(records):
        with pytest.raises(Unavailable, match="roost db migrate"):
            await records.checkpoint(NAME)
        return await records.ready()

    said = on_postgres(empty_database.service_url, scenario)
    assert "roost db migrate" in said
    assert migrate.head() in said


@pytest.mark.parametrize("revision", ["0000", "9999"])
def test_a_database_at_a_revision_of_another_release_is_reported(database, on_postgres, revision):
    async def mark():
        engine = connect(database.owner_url)
        async with engine.begin() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
        await engine.dispose()

    async def scenario(records):
        return await records.ready()

    asyncio.run(mark())
    said = on_postgres(database.service_url, scenario)
    assert revision in said
    assert "newer" in said


def test_a_database_that_is_behind_is_reported_with_the_command_that_mends_it(database, on_postgres):
    async def clear():
        engine = connect(database.owner_url)
        async with engine.begin() as connection:
            await connection.execute(text("DELETE FROM alembic_version"))
        await engine.dispose()

    async def scenario(records):
        return await records.ready()

    asyncio.run(clear())
    assert "Run `roost db migrate`" in on_postgres(database.service_url, scenario)


def test_a_server_that_is_away_is_unavailable_and_says_what_to_do(tmp_path, on_postgres):
    async def scenario(records):
        with pytest.raises(Unavailable, match="ROOST_DATABASE_URL"):
            await records.checkpoint(NAME)
        with pytest.raises(Unavailable, match="Postgres does not answer"):
            await records.add_target(target_record(), actor="ada")
        return await records.ready()

    with pytest.raises(Unavailable, match="Postgres does not answer"):
        on_postgres(f"postgresql://roost_service@/roost?host={tmp_path}", scenario)


def test_a_busy_pool_is_unavailable_and_not_endless(filled):
    async def scenario():
        engine = connect(filled.service_url, pool_size=1)
        engine.pool._timeout = 0.1
        held = [await engine.connect() for _ in range(2)]
        with pytest.raises(Unavailable, match="connections are in use"):
            await PostgresRecords(engine).checkpoint(NAME)
        for connection in held:
            await connection.close()
        await engine.dispose()

    asyncio.run(scenario())


def test_a_verdict_body_comes_back_byte_for_byte(filled, on_postgres):
    given = verdict_record(f"{NAME}@1", body=bytes(range(256)) * 64)

    async def scenario(records):
        await records.add_verdict(given, actor="ada")
        return await records.verdict(given.id)

    assert on_postgres(filled.service_url, scenario).body == given.body


def test_weights_under_hundreds_of_names_do_not_slow_reads(filled, on_postgres):
    async def scenario(records):
        for number in range(MOST_TWINS + 5):
            await records.add_checkpoint(new_checkpoint(f"copy/{number}"))
        return await records.checkpoint(NAME)

    listed = on_postgres(filled.service_url, scenario).twins
    assert len(listed) == MOST_TWINS
    assert "twin@1" in [twin.ref for twin in listed], "the first registered are the ones listed"
