"""The two roles and the database of an embedded server. Rights on tables are the migrations' business.

* `roost_owner` made the cluster and owns everything; it only migrates.
* `roost_service` serves: it may connect, and do what migrations grant it.

Everyone who can enter the socket's folder (0700) may be either: the roles keep mistakes apart, not people.
"""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from registry.store.embedded.failure import EmbeddedPostgresError

if TYPE_CHECKING:
    import psycopg

OWNER_ROLE = "roost_owner"
SERVICE_ROLE = "roost_service"
DATABASE = "roost"


def urls(socket_dir: Path, database: str = DATABASE) -> tuple[str, str]:
    """Return the URLs of the owner and of the service for `database`, in SQLAlchemy's form."""
    host = quote(str(socket_dir), safe="/")
    owner, service = (f"postgresql+psycopg://{role}@/{database}?host={host}" for role in (OWNER_ROLE, SERVICE_ROLE))
    return owner, service


def provision(socket_dir: Path) -> None:
    """Make the service's role and the database where they are missing.

    Raises:
        EmbeddedPostgresError: the server refuses, or psycopg is not installed.
    """
    try:
        # Only here: whoever asks for the state or stops a server needs no driver.
        import psycopg  # noqa: PLC0415
    except ImportError as error:
        raise EmbeddedPostgresError(
            "The Postgres driver psycopg is not installed.", hint="Run: pip install 'roost[server]'"
        ) from error
    try:
        with psycopg.connect(
            host=str(socket_dir), user=OWNER_ROLE, dbname="postgres", autocommit=True, connect_timeout=10
        ) as connection:
            if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", SERVICE_ROLE):
                connection.execute(f"CREATE ROLE {SERVICE_ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE")
            if not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
                create_database(connection, DATABASE)
            else:
                grant_connect(connection, DATABASE)
    except psycopg.Error as error:
        raise EmbeddedPostgresError(
            f"The embedded Postgres on {socket_dir} runs, but its roles and database cannot be made: {error}"
        ) from error


def create_database(connection: "psycopg.Connection", database: str, *, template: str = "template1") -> None:
    """Create a database that the service may connect to.

    Args:
        connection: the owner's, in autocommit mode.
        database: its name.
        template: the database that is copied; rights on the database itself are not copied with it.
    """
    from psycopg import sql  # noqa: PLC0415 - see `provision`

    connection.execute(
        sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
            sql.Identifier(database), sql.Identifier(OWNER_ROLE), sql.Identifier(template)
        )
    )
    grant_connect(connection, database)


def grant_connect(connection: "psycopg.Connection", database: str) -> None:
    """Let the service's role into `database`; by default every role may connect and make temporary tables."""
    from psycopg import sql  # noqa: PLC0415 - see `provision`

    name = sql.Identifier(database)
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, sql.Identifier(SERVICE_ROLE)))


def _exists(connection: "psycopg.Connection", query: str, name: str) -> bool:
    return connection.execute(query.encode(), (name,)).fetchone() is not None
