"""The databases that other tests get: separate, and with the rights of the real one."""

import psycopg
import pytest

from registry.store import embedded
from registry.store.embedded import EmbeddedServer


def connect(server: EmbeddedServer, name: str, role: str) -> psycopg.Connection:
    return psycopg.connect(host=str(server.socket_dir), user=role, dbname=name, autocommit=True)


def test_the_service_may_enter_and_create_nothing(postgres: EmbeddedServer, empty_database) -> None:
    with (
        connect(postgres, empty_database.name, embedded.SERVICE_ROLE) as service,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        service.execute("CREATE TEMPORARY TABLE mine (x int)")


def test_each_is_a_copy_of_its_own(postgres: EmbeddedServer, new_database) -> None:
    one, other = new_database(), new_database()
    with connect(postgres, one.name, embedded.OWNER_ROLE) as owner:
        tables = owner.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        assert tables is not None
        assert tables[0] > 0
        owner.execute("CREATE TABLE only_here (x int)")
    with connect(postgres, other.name, embedded.OWNER_ROLE) as owner:
        assert owner.execute("SELECT to_regclass('only_here')").fetchone() == (None,)
