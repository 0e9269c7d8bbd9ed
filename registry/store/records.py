"""The system of record in Postgres: all stores over one engine, and whether the database is ready for this release."""

from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from registry.domain.errors import Unavailable
from registry.store.access import Access
from registry.store.checkpoints import Checkpoints
from registry.store.faults import not_migrated
from registry.store.outcomes import Outcomes
from registry.store.profiles import Profiles
from registry.store.targets import Targets

_REVISION: Final = text(
    "SELECT version_num, has_table_privilege(to_regclass('checkpoints'), 'INSERT') AS may_write FROM alembic_version"
)


class PostgresRecords(Targets, Checkpoints, Outcomes, Profiles):
    """The records port (`ports.Records`) over an engine of `connect`, which the caller disposes of."""

    def __init__(self, engine: AsyncEngine) -> None:
        access = Access(engine)
        Targets.__init__(self, access)
        Checkpoints.__init__(self, access)
        Outcomes.__init__(self, access)
        Profiles.__init__(self, access)
        self._access = access

    async def ready(self) -> str | None:
        """Return None when the database is at head, else what is wrong and which command mends it.

        Raises:
            Unavailable: it does not answer: no migration mends that.
        """
        from registry.store import migrate  # noqa: PLC0415  # Alembic takes half a second, and only `ready` asks

        try:
            rows = await self._access.read(_REVISION)
        except Unavailable as error:
            if not_migrated(error):
                return migrate.compare(None).problem
            raise
        revision = rows[0].version_num if rows else None
        problem = migrate.compare(revision).problem
        if problem is None and not rows[0].may_write:
            return "The service's role may not write. Run `roost db migrate` with its name in ROOST_SERVICE_ROLE."
        return problem
