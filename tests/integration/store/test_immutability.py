"""Records never change: the service's role has no right to, and triggers refuse it to owners too."""

import psycopg
import pytest
from fakes import new_records
from fakes.new_records import emission_record, new_checkpoint, new_profile, target_record, verdict_record

from registry.store import tables

CHANGES = {
    "UPDATE": "UPDATE {table} SET {column} = {column}",
    "DELETE": "DELETE FROM {table}",
    "DELETE of no row": "DELETE FROM {table} WHERE false",
    "TRUNCATE": "TRUNCATE {table}",
    "TRUNCATE CASCADE": "TRUNCATE {table} CASCADE",
}
IMMUTABLE = [table.name for table in tables.IMMUTABLE]


async def one_of_each(records):
    await records.add_target(target_record(), actor="ada")
    record, _ = await records.add_checkpoint(new_checkpoint())
    await records.add_verdict(verdict_record(record.ref), actor="ada")
    await records.add_emission(emission_record(record.ref), actor="ada")
    await records.add_profile(new_profile())


@pytest.fixture
def filled(database, on_postgres):
    on_postgres(database.service_url, one_of_each)
    return database


def connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True)


def rows(connection: psycopg.Connection) -> dict[str, object]:
    query = "SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {} t"
    return {table: connection.execute(query.format(table)).fetchone() for table in IMMUTABLE}


def attempt(connection: psycopg.Connection, change: str, table: str) -> str:
    column = list(tables.metadata.tables[table].columns)[-1].name
    with pytest.raises(psycopg.errors.Error) as caught:
        connection.execute(CHANGES[change].format(table=table, column=column))
    return caught.value.sqlstate


def test_the_service_role_is_refused_every_change_of_every_immutable_table(filled):
    with connect(filled.service_url) as service:
        before = rows(service)
        assert all(count > 0 for count, _ in before.values()), "every table must hold a row, or nothing is tested"
        refused = {(table, change): attempt(service, change, table) for table in IMMUTABLE for change in CHANGES}
        after = rows(service)
    assert set(refused.values()) == {"42501"}  # insufficient_privilege
    assert after == before


def test_the_owner_is_refused_every_change_of_every_immutable_table(filled):
    with connect(filled.owner_url) as owner:
        before = rows(owner)
        refused = {(table, change): attempt(owner, change, table) for table in IMMUTABLE for change in CHANGES}
        after = rows(owner)
    # A plain TRUNCATE of a table that others refer to fails for that reason first.
    assert set(refused.values()) <= {"23001", "0A000"}
    assert {code for (_, change), code in refused.items() if change != "TRUNCATE"} == {"23001"}
    assert after == before


def test_a_session_in_replica_mode_is_refused_too(filled):
    with connect(filled.owner_url) as owner:
        owner.execute("SET session_replication_role = replica")
        assert attempt(owner, "DELETE", "events") == "23001"


def test_the_refusal_names_itself(filled):
    with connect(filled.owner_url) as owner, pytest.raises(psycopg.errors.RestrictViolation) as caught:
        owner.execute("DELETE FROM verdicts")
    assert caught.value.diag.constraint_name == "immutable_verdicts"
    assert "never change" in caught.value.diag.message_primary


def test_truncating_drafters_or_targets_does_not_reach_around(filled):
    with connect(filled.owner_url) as owner:
        for table in ("drafters", "targets"):
            with pytest.raises(psycopg.errors.RestrictViolation):
                owner.execute(f"TRUNCATE {table} CASCADE")


def test_the_service_role_may_not_remove_or_rename_targets_and_drafters(filled):
    statements = (
        "DELETE FROM targets",
        "TRUNCATE drafters CASCADE",
        "UPDATE targets SET config = '{}'",
        "UPDATE drafters SET name = 'other'",
        "ALTER TABLE events DISABLE TRIGGER immutable",
        "DROP TABLE events",
        "CREATE TABLE mine ()",
        "UPDATE alembic_version SET version_num = '9999'",
    )
    with connect(filled.service_url) as service:
        for statement in statements:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                service.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE targets SET digest = 'blake3:' || repeat('0', 64)",
        "UPDATE targets SET digest = NULL",
        "UPDATE targets SET name = 'other'",
        "UPDATE targets SET config = '{}'",
    ],
)
def test_a_known_fact_of_a_target_never_changes_not_even_for_the_owner(database, on_postgres, change):
    async def scenario(records):
        await records.add_target(target_record(digest=new_records.weights(5)), actor="ada")

    on_postgres(database.service_url, scenario)
    with connect(database.owner_url) as owner, pytest.raises(psycopg.errors.RestrictViolation) as caught:
        owner.execute(change)
    assert caught.value.diag.constraint_name == "fill_in_only_targets"
