"""Scenarios over a store: each runs in an event loop of its own, with its connections closed at the end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from registry.services.ports import Records
from registry.store.connect import connect
from registry.store.records import PostgresRecords

Result = TypeVar("Result")
Scenario = Callable[[Records], Awaitable[Result]]


def run_on_postgres(url: str, scenario: Scenario[Result], *, pool_size: int = 10) -> Result:
    async def main() -> Result:
        engine = connect(url, pool_size=pool_size)
        try:
            return await scenario(PostgresRecords(engine))
        finally:
            await engine.dispose()

    return asyncio.run(main())


@pytest.fixture
def on_postgres() -> Callable[[str, Scenario[Result]], Result]:
    """Runs a scenario on the database with a URL."""
    return run_on_postgres
