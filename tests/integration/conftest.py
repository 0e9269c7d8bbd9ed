"""One real Postgres per session, and a database of its own for each test that asks for one."""

import importlib
import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from registry.store import embedded
from registry.store.embedded import EmbeddedServer

TEMPLATE = "roost_template"


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database and the two ways in."""

    name: str
    owner_url: str
    service_url: str


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedServer]:
    """The session's server. Its folder has a short name: a socket's path may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="roost-test-") as folder:
        server = embedded.start(Path(folder, "data"), no_sync=True)
        yield server
        embedded.stop(Path(folder, "data"))


@pytest.fixture(scope="session")
def admin(postgres: EmbeddedServer) -> Iterator[psycopg.Connection]:
    """The owner's connection that makes databases; autocommit, since CREATE DATABASE runs in no transaction."""
    with psycopg.connect(
        host=str(postgres.socket_dir), user=embedded.OWNER_ROLE, dbname="postgres", autocommit=True
    ) as connection:
        yield connection


@pytest.fixture(scope="session")
def make_database(postgres: EmbeddedServer, admin: psycopg.Connection) -> Callable[[str, str], Database]:
    """Makes a database of a given name from a given template."""

    def make(name: str, template: str) -> Database:
        embedded.create_database(admin, name, template=template)
        owner_url, service_url = embedded.urls(postgres.socket_dir, name)
        return Database(name=name, owner_url=owner_url, service_url=service_url)

    return make


@pytest.fixture(scope="session")
def migrated_template(make_database: Callable[[str, str], Database]) -> str:
    """A database at head that others are copied from: migrating once is cheaper than migrating per test."""
    template = make_database(TEMPLATE, "template1")
    importlib.import_module("registry.store.migrate").upgrade(template.owner_url)
    return template.name


@pytest.fixture(scope="session")
def _numbers() -> Iterator[int]:
    return itertools.count(1)


@pytest.fixture
def new_database(
    make_database: Callable[[str, str], Database],
    admin: psycopg.Connection,
    migrated_template: str,
    _numbers: Iterator[int],
) -> Iterator[Callable[[], Database]]:
    """Makes databases at head; they are dropped after the test."""
    made: list[str] = []

    def make() -> Database:
        database = make_database(f"test_{next(_numbers)}", migrated_template)
        made.append(database.name)
        return database

    yield make
    for name in made:
        _drop(admin, name)


@pytest.fixture
def database(new_database: Callable[[], Database]) -> Database:
    """A database at head."""
    return new_database()


@pytest.fixture
def empty_database(
    make_database: Callable[[str, str], Database], admin: psycopg.Connection, _numbers: Iterator[int]
) -> Iterator[Database]:
    """A database without tables, for tests of the migrations themselves."""
    database = make_database(f"empty_{next(_numbers)}", "template1")
    yield database
    _drop(admin, database.name)


def _drop(admin: psycopg.Connection, name: str) -> None:
    admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
