"""Connections to Postgres: which addresses are understood, how long anything may take, how many at once."""

from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from registry.domain.errors import Invalid
from registry.store import json_values

DRIVER: Final = "postgresql+psycopg"
_SPELLINGS: Final = frozenset({"postgres", "postgresql", "postgresql+psycopg", "postgresql+psycopg_async"})

CONNECT_TIMEOUT: Final = 5
"""Seconds until a server that does not answer is given up."""
POOL_TIMEOUT: Final = 10.0
"""Seconds that a request waits for a free connection."""
SETTINGS: Final = {
    "default_transaction_isolation": r"read\ committed",
    "idle_in_transaction_session_timeout": "30s",
    "lock_timeout": "10s",
    "statement_timeout": "15s",
    "timezone": "UTC",
}
"""Session settings: nothing a request starts may hold a lock or a connection for long. `options` in a URL win."""


def normalized(url: str) -> URL:
    """Return a database URL with our driver, whichever usual spelling of the scheme it has.

    Raises:
        Invalid: `url` is not the URL of a Postgres database.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is None or parsed.drivername not in _SPELLINGS:
        # The URL can hold a password, so it is not repeated.
        raise Invalid(
            "The database URL is not one of Postgres: expected postgresql://ROLE:PASSWORD@HOST:PORT/DATABASE.",
            hint="Set ROOST_DATABASE_URL (service) and ROOST_OWNER_DATABASE_URL (migrations) to such URLs.",
        )
    return parsed.set(drivername=DRIVER)


def connect(service_url: str, *, pool_size: int = 10) -> AsyncEngine:
    """Return an engine for the service; nothing is opened yet. Dispose of it when done.

    A connection that died is noticed when it is used and replaced then (`Access` repeats the work once): a ping at
    each checkout would double the round trips of every read.

    Args:
        service_url: URL of the database with the service's role.
        pool_size: Connections kept open; as many again are opened under load.

    Raises:
        Invalid: `service_url` is not the URL of a Postgres database.
    """
    url = normalized(service_url)
    return create_async_engine(
        url,
        connect_args={
            "application_name": "roost",
            "connect_timeout": CONNECT_TIMEOUT,
            "options": session_options(url),
        },
        json_deserializer=json_values.loads,
        json_serializer=json_values.dumps,
        max_overflow=pool_size,
        pool_recycle=3600,
        pool_size=pool_size,
        pool_timeout=POOL_TIMEOUT,
        pool_use_lifo=True,
    )


def session_options(url: URL) -> str:
    """Return libpq's `options` for our settings, before those of the URL: the last one of a name holds."""
    ours = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    theirs = url.query.get("options", "")
    return f"{ours} {theirs if isinstance(theirs, str) else ' '.join(theirs)}".strip()
