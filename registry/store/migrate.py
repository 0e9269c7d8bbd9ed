"""Bringing a database to the revision of this release, and telling where it stands. The files are in `migrations/`."""

import threading
from dataclasses import dataclass
from functools import cache
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from psycopg import errors as postgres
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from registry.domain.errors import Invalid, Unavailable
from registry.resources import migrations_dir
from registry.store.connect import CONNECT_TIMEOUT, normalized
from registry.store.faults import translated

OLDEST_SERVER: Final = 150_000
"""Postgres 15: the first with unique constraints in which nulls are not distinct."""

_ONE_AT_A_TIME: Final = threading.Lock()
"""Alembic keeps the context of a run in module globals; between processes an advisory lock does the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStatus:
    """Where a database stands beside this release."""

    current: str | None
    """Revision of the database; None: nothing was migrated yet."""
    head: str
    """Revision that this release needs."""
    pending: tuple[str, ...]
    """Revisions still to run, in order."""
    known: bool
    """False: the database is at a revision of another, probably newer release."""

    @property
    def at_head(self) -> bool:
        """Whether the service can run on the database."""
        return self.current == self.head

    @property
    def problem(self) -> str | None:
        """What is wrong and which command mends it; None at head."""
        if self.at_head:
            return None
        if not self.known:
            return (
                f"The database is at revision {self.current}, which this release does not know (its newest is "
                f"{self.head}). Run the release that migrated it, or a newer one."
            )
        stands = f"at revision {self.current}" if self.current else "not migrated"
        return f"The database is {stands}; this release needs revision {self.head}. Run `roost db migrate`."


def upgrade(owner_url: str, revision: str = "head") -> None:
    """Migrate to `revision` and give the service's role its rights. Repeats and parallel calls are harmless.

    Raises:
        Unavailable: Postgres does not answer, is too old, stays locked, or the service's role cannot be made.
        Invalid: the URL is none of Postgres, or there is no such revision.
    """
    _check_server(owner_url)
    _run("upgrade", owner_url, revision)


def downgrade(owner_url: str, revision: str) -> None:
    """Undo revisions down to `revision` (`base`: all). For tests and developers: it drops tables with their rows.

    Raises:
        Unavailable: Postgres does not answer or stays locked.
        Invalid: the URL is none of Postgres, or there is no such revision.
    """
    _run("downgrade", owner_url, revision)


def current(url: str) -> str | None:
    """Return the revision of the database; None: nothing was migrated yet. Any role that may read will do.

    Raises:
        Unavailable: Postgres does not answer.
        Invalid: the URL is none of Postgres.
    """
    engine = create_engine(normalized(url), poolclass=NullPool, connect_args={"connect_timeout": CONNECT_TIMEOUT})
    with translated(), engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


@cache
def head() -> str:
    """Return the revision that this release needs."""
    return _scripts().get_current_head() or ""


def status(url: str) -> MigrationStatus:
    """Tell where the database stands.

    Raises:
        Unavailable: Postgres does not answer.
        Invalid: the URL is none of Postgres.
    """
    return compare(current(url))


def compare(revision: str | None) -> MigrationStatus:
    """Tell how a database at `revision` stands beside this release."""
    order = [script.revision for script in reversed(list(_scripts().walk_revisions()))]
    known = revision is None or revision in order
    done = order.index(revision) + 1 if revision is not None and known else 0
    return MigrationStatus(current=revision, head=head(), pending=tuple(order[done:]) if known else (), known=known)


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _run(direction: str, owner_url: str, revision: str) -> None:
    config = _config()
    config.attributes["owner_url"] = owner_url
    try:
        with _ONE_AT_A_TIME, translated():
            (command.upgrade if direction == "upgrade" else command.downgrade)(config, revision)
    except CommandError as error:
        raise Invalid(f"The database cannot go to revision {revision}: {error}.") from error
    except Unavailable as error:
        raise _while_migrating(error) from error


def _while_migrating(error: Unavailable) -> Unavailable:
    cause = error.__cause__
    origin = cause.orig if isinstance(cause, DBAPIError) else None
    if isinstance(origin, postgres.LockNotAvailable):
        return Unavailable(
            "The database stays locked: another migration or a long transaction holds what this one needs.",
            hint="Nothing of this revision was changed. Repeat `roost db migrate` when that has ended.",
        )
    if isinstance(origin, postgres.InsufficientPrivilege):
        return Unavailable(
            f"The role that migrates lacks a right: {origin.diag.message_primary}.",
            hint="Set ROOST_OWNER_DATABASE_URL to the role that owns the database.",
        )
    return error


def _check_server(owner_url: str) -> None:
    engine = create_engine(normalized(owner_url), poolclass=NullPool, connect_args={"connect_timeout": CONNECT_TIMEOUT})
    with translated(), engine.connect() as connection:
        version = _server_version(connection)
    if version < OLDEST_SERVER:
        raise Unavailable(
            f"The server is Postgres {version // 10_000}; expected {OLDEST_SERVER // 10_000} or newer.",
            hint="Point ROOST_OWNER_DATABASE_URL and ROOST_DATABASE_URL to a newer server.",
        )


def _server_version(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT current_setting('server_version_num')")) or 0)
