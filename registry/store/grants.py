"""What the service's role may do, applied after every migration. Everything else is refused by Postgres itself."""

import os
from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import ProgrammingError

from registry.domain.errors import Unavailable
from registry.store import tables

ROLE_VARIABLE: Final = "ROOST_SERVICE_ROLE"
DEFAULT_ROLE: Final = "roost_service"

_APPEND = "SELECT, INSERT"

PRIVILEGES: Final[Mapping[str, str]] = {
    "alembic_version": "SELECT",
    "targets": f"{_APPEND}, UPDATE (digest, tokenizer_digest, chat_template_digest, edition)",
    "drafters": f"{_APPEND}, UPDATE (versions)",
    **{table.name: _APPEND for table in tables.IMMUTABLE},
}
"""Rights of the service's role by table."""


def service_role(environment: Mapping[str, str] = os.environ) -> str:
    """Return the name of the role that the service connects as."""
    return environment.get(ROLE_VARIABLE) or DEFAULT_ROLE


def apply(connection: Connection, role: str) -> None:
    """Give `role` exactly the rights that the service needs on the tables that exist; repeats change nothing.

    Raises:
        Unavailable: there is no such role and it may not be created.
    """
    _ensure_role(connection, role)
    present = frozenset(inspect(connection).get_table_names())
    quoted = connection.dialect.identifier_preparer.quote_identifier(role)
    connection.execute(text(f"GRANT USAGE ON SCHEMA public TO {quoted}"))
    if _owns_tables(connection, role):
        # Revoking an owner's own rights would lock everybody out; the triggers hold for owners too.
        return
    for table in sorted(present & PRIVILEGES.keys()):
        connection.execute(text(f'REVOKE ALL ON "{table}" FROM PUBLIC, {quoted}'))
        connection.execute(text(f'GRANT {PRIVILEGES[table]} ON "{table}" TO {quoted}'))


def _ensure_role(connection: Connection, role: str) -> None:
    known = connection.scalar(text("SELECT count(*) FROM pg_roles WHERE rolname = :role"), {"role": role})
    if known:
        return
    quoted = connection.dialect.identifier_preparer.quote_identifier(role)
    try:
        with connection.begin_nested():
            connection.execute(text(f"CREATE ROLE {quoted} NOLOGIN"))
    except ProgrammingError:
        raise Unavailable(
            f"There is no role {role!r} for the service on this server, and the migrating role may not create it.",
            hint=f"As an administrator run: CREATE ROLE {quoted} LOGIN PASSWORD '...'; then repeat. "
            f"If the service connects as another role, name that one in {ROLE_VARIABLE}.",
        ) from None


def _owns_tables(connection: Connection, role: str) -> bool:
    owned = text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tableowner = :role")
    return bool(connection.scalar(owned, {"role": role}))
