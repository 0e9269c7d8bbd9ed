"""How statements reach Postgres: reads in one round trip, writes in one transaction, repeated if a connection died."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Executable, Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from registry.domain.errors import Unavailable
from registry.store.faults import connection_lost, translated

Result = TypeVar("Result")
AnyRow = Row[*tuple[Any, ...]]
"""A row of any columns; what they are is known to the query."""

Rows = Sequence[AnyRow]


class Access:
    """The one way from the stores to the database."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._writing = engine
        # Without BEGIN and COMMIT a read is a single round trip; one statement sees one snapshot anyway.
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")

    async def read(self, statement: Executable, parameters: Mapping[str, object] | None = None) -> Rows:
        """Run one reading statement and return its rows.

        Raises:
            Unavailable: Postgres does not answer, or is not migrated.
        """
        return await _twice(lambda: self._read(statement, parameters or {}))

    async def write(self, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        """Run `work` in one transaction: all of it is stored, or nothing.

        `work` runs again where the connection died under it. Every write of the registry is made so that a repeat
        finds what the first run may have stored.

        Raises:
            Unavailable: Postgres does not answer, or is not migrated.
        """
        return await _twice(lambda: self._write(work))

    async def _read(self, statement: Executable, parameters: Mapping[str, object]) -> Rows:
        with translated():
            async with self._reading.connect() as connection:
                return (await connection.execute(statement, parameters)).all()

    async def _write(self, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        with translated():
            async with self._writing.begin() as connection:
                return await work(connection)


async def _twice(attempt: Callable[[], Awaitable[Result]]) -> Result:
    try:
        return await attempt()
    except Unavailable as error:
        if not connection_lost(error):
            raise
    return await attempt()
