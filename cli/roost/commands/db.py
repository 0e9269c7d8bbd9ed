"""`roost db`: brings a database to the revision that the service needs, and says where it stands."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from roost import data_folder
from roost.failures import PASSED, REFUSED, Failure
from roost.screen import Screen, takes_format
from roost.server_extra import server_module
from roost.tables import facts

_OWNER = "ROOST_OWNER_DATABASE_URL"

_takes_data = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help=f"Data folder of an embedded database, where {_OWNER} is not set.",
)


@click.group(name="db")
def command() -> None:
    """Migrate a database, or show where it stands.

    ROOST_OWNER_DATABASE_URL names the database, as the role that owns it; without it the embedded one is meant.
    """


@command.command(name="migrate")
@_takes_data
@takes_format
def migrate(data: Path | None, *, screen: Screen) -> None:
    """Bring the database to the revision that this version needs."""
    with _database(data) as url:
        migrations = server_module("registry.store.migrate")
        before = migrations.status(url)
        migrations.upgrade(url)
        after = migrations.status(url)
    done = f"migrated from {before.current or 'empty'} to {after.current}"
    screen.result(_document(after), f"already at head: {after.current}" if before.at_head else done)


@command.command(name="status")
@_takes_data
@takes_format
def status(data: Path | None, *, screen: Screen) -> int:
    """Show where the database stands.

    Exit 1 if it is not at head. Nothing is made: where there is no database yet, that is the answer.
    """
    found = _status(data)
    pairs = [
        ("current", found.current or "empty"),
        ("head", found.head),
        ("pending", ", ".join(found.pending) or "nothing"),
    ]
    hint = "" if found.at_head else "\n`roost db migrate` brings it to head; `roost up` does so by itself."
    screen.result(_document(found), facts(pairs, indent="") + hint)
    return PASSED if found.at_head else REFUSED


def _status(data: Path | None) -> Any:
    migrations = server_module("registry.store.migrate")
    if not (os.environ.get(_OWNER) and data is None):
        folder = (data or data_folder.default_folder()).expanduser().absolute()
        if server_module("registry.store.embedded").status(folder).state == "absent":
            _require_owner(data)
            return migrations.compare(None)
    with _database(data) as url:
        return migrations.status(url)


def _document(found: Any) -> dict[str, object]:
    return {"current": found.current, "head": found.head, "pending": list(found.pending), "at_head": found.at_head}


@contextmanager
def _database(data: Path | None) -> Iterator[str]:
    """Yield the owner's address of the database; an embedded one that was not running is stopped again."""
    url = os.environ.get(_OWNER)
    if url and data is None:
        yield url
        return
    _require_owner(data)
    folder = data_folder.prepared(data)
    embedded = server_module("registry.store.embedded")
    server = embedded.start(folder)
    try:
        yield server.owner_url
    finally:
        if server.started_by_us:
            embedded.stop(folder)


def _require_owner(data: Path | None) -> None:
    """Refuse to take the embedded database for one that only the service's role was named of."""
    if data is None and os.environ.get("ROOST_DATABASE_URL"):
        raise Failure(
            f"{_OWNER} is not set: ROOST_DATABASE_URL is the service's role, which may not migrate",
            hint=f"set {_OWNER} to the address with the role that owns the database.",
        )
