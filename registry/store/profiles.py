"""Engine profiles that were added, in Postgres: revisions of builds, appended and never changed."""

from typing import Final

from sqlalchemy import bindparam, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from registry.documents.canonical import canonical_bytes, sha256_of
from registry.services.profile_order import same_facts
from registry.services.records import NewProfile, ProfileMark, ProfileRevision
from registry.store.access import Access, AnyRow
from registry.store.tables import profile_revisions as rows

_KEY: Final = 0x526F6F7350  # "RoosP": all who add a profile to one database queue up here
_TAKE_TURN: Final = text("SELECT pg_advisory_xact_lock(:key)")
"""One addition at a time: revisions are consecutive, and no addition becomes visible after one with a larger id."""

_MARK: Final = text("SELECT id, digest FROM profile_revisions ORDER BY id DESC LIMIT 1")
"""Asked with every request, so it is plain text: building a statement would take longer than Postgres does."""

_OF_BUILD: Final = (
    select(rows)
    .where(rows.c.engine == bindparam("engine"), rows.c.version == bindparam("version"))
    .order_by(rows.c.revision)
)
_place = func.row_number().over(
    partition_by=(rows.c.engine, rows.c.version),
    order_by=((rows.c.origin == "added").desc(), rows.c.revision.desc()),
)
_placed = select(rows.c.id, _place.label("place")).where(rows.c.id > bindparam("after")).subquery()
_IN_FORCE: Final = (
    select(rows)
    .join(_placed, _placed.c.id == rows.c.id)
    .where(_placed.c.place == 1)
    .order_by(rows.c.engine, rows.c.version)
)
"""`profile_order.in_force`, in words of Postgres; only the documents that count are read."""

_ADD: Final = insert(rows).returning(rows)


class Profiles:
    """The store of added profiles (`ports.ProfileStore`)."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def add_profile(self, new: NewProfile) -> tuple[ProfileRevision, bool]:
        """Append a revision to a build's profile; True if it was created.

        The facts of the revision in force, or of the newest one of the same origin, return that revision.

        Raises:
            Invalid: a text cannot be stored.
            Unavailable: Postgres does not answer.
        """

        async def work(connection: AsyncConnection) -> tuple[ProfileRevision, bool]:
            return await _add(connection, new)

        return await self._access.write(work)

    async def profile_revisions(self, engine: str, version: str) -> tuple[ProfileRevision, ...]:
        """Return every added revision of a build's profile, oldest first."""
        found = await self._access.read(_OF_BUILD, {"engine": engine, "version": version})
        return tuple(_revision(row) for row in found)

    async def profiles_newest(self, *, after: int = 0) -> tuple[ProfileRevision, ...]:
        """Return the revision in force of each build, by engine and version, among additions numbered above `after`."""
        return tuple(_revision(row) for row in await self._access.read(_IN_FORCE, {"after": after}))

    async def profile_mark(self) -> ProfileMark | None:
        """Return the mark of the newest addition, None where there is none."""
        found = await self._access.read(_MARK)
        return ProfileMark(number=found[0].id, digest=found[0].digest) if found else None


async def _add(connection: AsyncConnection, new: NewProfile) -> tuple[ProfileRevision, bool]:
    await connection.execute(_TAKE_TURN, {"key": _KEY})
    build = {"engine": new.document["engine"], "version": new.document["version"]}
    known = [_revision(row) for row in await connection.execute(_OF_BUILD, build)]
    same = same_facts(known, new)
    if same is not None:
        return same, False
    revision = max([new.after, *(one.revision for one in known)]) + 1
    document = {**new.document, "revision": revision}
    values = {
        **build,
        "revision": revision,
        "origin": new.origin,
        "source_digest": new.source_digest,
        "digest": sha256_of(canonical_bytes(document)),
        "document": document,
        "actor": new.actor,
        "reason": new.reason,
        "created_at": func.clock_timestamp(),
    }
    return _revision((await connection.execute(_ADD.values(values))).one()), True


def _revision(row: AnyRow) -> ProfileRevision:
    return ProfileRevision(
        number=row.id,
        engine=row.engine,
        version=row.version,
        revision=row.revision,
        origin=row.origin,
        source_digest=row.source_digest,
        digest=row.digest,
        document=row.document,
        actor=row.actor,
        reason=row.reason,
        created_at=row.created_at,
    )
