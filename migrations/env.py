"""How migrations run: one at a time, one transaction each, and never waiting long for a lock that serving needs.

`registry.store.migrate` starts this and passes `owner_url` in the configuration's attributes; where Alembic's own
command starts it, the URL is that of ROOST_OWNER_DATABASE_URL.
"""

import os
from typing import Final

from alembic import context
from sqlalchemy import Connection, NullPool, create_engine, text

from registry.store import grants, tables
from registry.store.connect import normalized

ADVISORY_LOCK: Final = 0x526F6F7374  # "Roost": all who migrate one database queue up here
QUEUE_TIMEOUT: Final = "120s"  # another process may be migrating, which takes seconds
LOCK_TIMEOUT: Final = "5s"  # a table lock that does not come at once stops every reader behind it
STATEMENT_TIMEOUT: Final = "60s"


def run() -> None:
    """Migrate, then give the service's role its rights."""
    url = context.config.attributes.get("owner_url") or os.environ.get("ROOST_OWNER_DATABASE_URL", "")
    engine = create_engine(normalized(url), poolclass=NullPool)
    with engine.connect() as connection:
        _take_turn(connection)
        context.configure(
            connection=connection,
            target_metadata=tables.metadata,
            transaction_per_migration=True,
            compare_server_default=True,
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()  # ends the transaction in which Alembic read the revision; each step had its own
        with connection.begin():
            grants.apply(connection, grants.service_role())


def _take_turn(connection: Connection) -> None:
    # The lock belongs to the session, so it outlives the transaction of each revision and ends with the connection.
    with connection.begin():
        connection.execute(text(f"SET lock_timeout = '{QUEUE_TIMEOUT}'"))
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": ADVISORY_LOCK})
        connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
        connection.execute(text(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'"))


if context.is_offline_mode():
    msg = "Migrations are not written as SQL scripts: run `roost db migrate` against the database."
    raise SystemExit(msg)
run()
