"""Migrations on real Postgres: one line of revisions, each of which can be run, undone and run again."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import IntegrityError

from registry.domain.errors import Invalid, Unavailable
from registry.resources import migrations_dir
from registry.store import grants, migrate, tables

ROOT = Path(__file__).parents[3]
FILE_NAME = re.compile(r"(?P<number>\d{4})_(expand|contract)_[a-z0-9]+(_[a-z0-9]+)*\.py")


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(migrations_dir()))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)


def revisions() -> list[str]:
    return [script.revision for script in reversed(list(scripts().walk_revisions()))]


def on(url: str, work: Callable[[Connection], object]) -> object:
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        return work(connection)


SHAPE = {
    "columns": """
        SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity, identity_generation,
               collation_name
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'
        ORDER BY table_name, ordinal_position""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
          AND conrelid::regclass::text <> 'alembic_version' ORDER BY 1, 2""",
    "indexes": """
        SELECT tablename, indexname, indexdef FROM pg_indexes
        WHERE schemaname = 'public' AND tablename <> 'alembic_version' ORDER BY 1, 2""",
}


def shape(url: str) -> dict[str, list[tuple[object, ...]]]:
    def read(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
        return {part: [tuple(row) for row in connection.execute(text(query))] for part, query in SHAPE.items()}

    return on(url, read)


def test_there_is_one_head():
    assert len(scripts().get_heads()) == 1
    assert migrate.head() == scripts().get_current_head()


def test_files_are_named_by_number_kind_and_slug():
    files = sorted(path.name for path in (migrations_dir() / "versions").glob("*.py"))
    numbers = [match["number"] for match in map(FILE_NAME.fullmatch, files) if match]
    assert len(numbers) == len(files), f"expected NNNN_expand_slug.py or NNNN_contract_slug.py: {files}"
    assert numbers == revisions() == [f"{number:04}" for number in range(1, len(files) + 1)]


def test_the_template_prints_the_deployment_rules():
    template = (migrations_dir() / "script.py.mako").read_text(encoding="utf-8")
    assert "previous release must still work" in template
    assert "No long locks" in template


def test_an_empty_database_goes_to_head(empty_database):
    assert migrate.current(empty_database.owner_url) is None
    assert migrate.status(empty_database.owner_url).pending == tuple(revisions())
    migrate.upgrade(empty_database.owner_url)
    assert migrate.current(empty_database.owner_url) == migrate.head()
    assert migrate.current(empty_database.service_url) == migrate.head()
    assert migrate.status(empty_database.service_url).problem is None


def test_migrating_again_changes_nothing(empty_database):
    migrate.upgrade(empty_database.owner_url)
    before = shape(empty_database.owner_url)
    migrate.upgrade(empty_database.owner_url)
    assert shape(empty_database.owner_url) == before


def test_each_step_goes_up_down_and_up(empty_database):
    url = empty_database.owner_url
    below = "base"
    for revision in revisions():
        before = shape(url)
        migrate.upgrade(url, revision)
        after = shape(url)
        migrate.downgrade(url, below)
        assert shape(url) == before
        migrate.upgrade(url, revision)
        assert shape(url) == after
        below = revision


def test_rows_of_the_first_release_survive_the_engine_profiles_and_are_still_guarded(empty_database):
    url = empty_database.owner_url
    migrate.upgrade(url, "0001")
    seed = text(
        "INSERT INTO verdicts (id, body) SELECT 'sha256:' || encode(sha256(body), 'hex'), body "
        "FROM (VALUES ('{}'::bytea), ('[]'::bytea)) AS made (body)"
    )
    on(url, lambda connection: connection.execute(seed))
    kept = text("SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM verdicts t")
    before = on(url, lambda connection: connection.scalar(kept))
    for step in (migrate.upgrade, migrate.downgrade, migrate.upgrade):
        step(url, "0001" if step is migrate.downgrade else "0002")
        assert on(url, lambda connection: connection.scalar(kept)) == before
        with pytest.raises(IntegrityError, match="never change"):
            on(url, lambda connection: connection.execute(text("DELETE FROM verdicts")))


def test_going_down_leaves_no_function_behind(empty_database):
    migrate.upgrade(empty_database.owner_url)
    migrate.downgrade(empty_database.owner_url, "base")
    count = text("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
    assert on(empty_database.owner_url, lambda connection: connection.scalar(count)) == 0


def test_alembic_sees_no_difference_between_tables_and_head(database):
    def compare(connection: Connection) -> list[object]:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": tables.metadata}
        )
        return compare_metadata(context, tables.metadata)

    assert on(database.owner_url, compare) == []


def test_tables_and_head_have_the_same_columns_constraints_and_indexes(database, empty_database):
    # Alembic compares neither checks nor collations, so the catalogs are compared too.
    on(empty_database.owner_url, tables.metadata.create_all)
    assert _by_name(shape(empty_database.owner_url)) == _by_name(shape(database.owner_url))


def _by_name(found: dict[str, list[tuple[object, ...]]]) -> dict[str, set[tuple[object, ...]]]:
    return {part: set(rows) for part, rows in found.items()}


def test_every_constraint_and_index_is_named_by_the_convention(database):
    names = [row[1] for part in ("constraints", "indexes") for row in shape(database.owner_url)[part]]
    assert [name for name in names if not re.match(r"(pk|fk|uq|ck|ix)_", str(name))] == []


def test_every_table_has_rights_and_the_immutable_ones_a_trigger(database):
    made = {row[0] for row in shape(database.owner_url)["columns"]}
    assert made == set(tables.metadata.tables)
    assert made | {"alembic_version"} == set(grants.PRIVILEGES)
    triggers = text("SELECT tgrelid::regclass::text, tgenabled FROM pg_trigger WHERE tgname = 'immutable'")
    found = on(database.owner_url, lambda connection: {tuple(row) for row in connection.execute(triggers)})
    assert found == {(table.name, "A") for table in tables.IMMUTABLE}


def test_processes_that_migrate_at_once_queue_up(empty_database):
    code = "import sys; from registry.store import migrate; migrate.upgrade(sys.argv[1])"
    command = [sys.executable, "-W", "error", "-c", code, empty_database.owner_url]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)]
    assert [process.communicate(timeout=120)[1] for process in running] == ["", "", ""]
    assert migrate.status(empty_database.owner_url).at_head


def test_threads_that_migrate_at_once_queue_up(empty_database):
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(migrate.upgrade, [empty_database.owner_url] * 4))
    assert migrate.status(empty_database.owner_url).at_head


def test_a_database_of_a_newer_release_is_told_apart_from_one_that_is_behind(database):
    mark = text("UPDATE alembic_version SET version_num = '9999'")
    on(database.owner_url, lambda connection: connection.execute(mark))
    status = migrate.status(database.owner_url)
    assert not status.known
    assert status.pending == ()
    assert "9999" in status.problem
    assert "newer" in status.problem
    with pytest.raises(Invalid, match="9999"):
        migrate.upgrade(database.owner_url)


def test_an_unknown_revision_is_refused(database):
    with pytest.raises(Invalid, match="0815"):
        migrate.upgrade(database.owner_url, "0815")


def test_the_service_role_cannot_migrate(empty_database):
    with pytest.raises(Unavailable, match="ROOST_OWNER_DATABASE_URL"):
        migrate.upgrade(empty_database.service_url)
    assert migrate.current(empty_database.owner_url) is None


def test_a_missing_role_is_made_where_that_is_permitted(empty_database, monkeypatch):
    role = f"svc_{os.getpid()}"
    monkeypatch.setenv(grants.ROLE_VARIABLE, role)
    migrate.upgrade(empty_database.owner_url)
    may = text("SELECT has_table_privilege(:role, 'events', 'INSERT'), has_table_privilege(:role, 'events', 'UPDATE')")
    found = on(empty_database.owner_url, lambda connection: tuple(connection.execute(may, {"role": role}).one()))
    quoted = f'"{role}"'
    on(empty_database.owner_url, lambda connection: connection.execute(text(f"DROP OWNED BY {quoted}")))
    on(empty_database.owner_url, lambda connection: connection.execute(text(f"DROP ROLE {quoted}")))
    assert found == (True, False)


def test_a_missing_role_that_may_not_be_made_is_an_error_that_says_what_to_run(empty_database, monkeypatch):
    # The service's role owns a database here, and like many a hosted owner may not create roles.
    grant = f"ALTER DATABASE {empty_database.name} OWNER TO roost_service"
    on(empty_database.owner_url, lambda connection: connection.execute(text(grant)))
    monkeypatch.setenv(grants.ROLE_VARIABLE, "nobody_made_this")
    with pytest.raises(Unavailable, match="CREATE ROLE") as caught:
        migrate.upgrade(empty_database.service_url)
    assert grants.ROLE_VARIABLE in caught.value.hint


def test_an_owner_that_serves_too_keeps_its_rights(empty_database, monkeypatch):
    grant = f"ALTER DATABASE {empty_database.name} OWNER TO roost_service"
    on(empty_database.owner_url, lambda connection: connection.execute(text(grant)))
    monkeypatch.setenv(grants.ROLE_VARIABLE, "roost_service")
    migrate.upgrade(empty_database.service_url)
    count = text("SELECT count(*) FROM events")
    assert on(empty_database.service_url, lambda connection: connection.scalar(count)) == 0
    with pytest.raises(psycopg.errors.RestrictViolation):
        _delete_as(empty_database.service_url)


def _delete_as(url: str) -> None:
    with psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as connection:
        connection.execute("DELETE FROM events")


def test_a_url_of_another_database_is_refused():
    with pytest.raises(Invalid, match="postgresql://"):
        migrate.upgrade("sqlite:///roost.db")


def test_a_server_that_is_away_is_unavailable(tmp_path):
    with pytest.raises(Unavailable, match="Postgres does not answer"):
        migrate.current(f"postgresql://roost_owner@/roost?host={tmp_path}")
