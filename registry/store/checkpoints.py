"""Drafters, checkpoints and provenance in Postgres."""

from collections.abc import Mapping

from registry.documents.canonical import canonical_bytes, sha256_of
from registry.domain.case import Twin
from registry.domain.digests import Digest
from registry.domain.errors import Unavailable
from registry.domain.provenance import Provenance
from registry.services.records import (
    CheckpointRecord,
    CheckpointSummary,
    DrafterSummary,
    Event,
    NewCheckpoint,
    Page,
    ProvenanceRevision,
)
from registry.store import checkpoint_queries as queries
from registry.store import cursors, registration
from registry.store.access import Access, AnyRow
from registry.store.checkpoint_reader import CheckpointReader, TwinHead
from registry.store.events import EVENTS_OF_DRAFTER, event_of


class Checkpoints:
    """The checkpoint store (`ports.CheckpointStore`)."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._reader = CheckpointReader(access)

    async def add_checkpoint(self, new: NewCheckpoint) -> tuple[CheckpointRecord, bool]:
        """Register all of `new` or nothing, under the drafter's next consecutive version; True if it was created.

        Raises:
            FactsDiffer: the same weights are registered under this name with other facts.
            Refused: the target is not registered.
            Invalid: a text cannot be stored, or two files have one name.
            Unavailable: Postgres does not answer.
        """
        digest = sha256_of(canonical_bytes(new.document))
        written = await self._access.write(lambda connection: registration.register(connection, new, digest=digest))
        if written.created:
            self._reader.remember(new, written, digest=digest)
        record = await self.checkpoint(new.name, written.version)
        if record is None:
            raise Unavailable(f"{new.name}@{written.version} was stored and is gone: was the database replaced?")
        return record, written.created

    async def checkpoint(self, name: str, version: int | None = None) -> CheckpointRecord | None:
        """Return a checkpoint, the newest of that name without a version."""
        if version is None:
            return await self._reader.one(queries.HEAD_OF_NEWEST, {"name": name})
        return await self._reader.one(queries.HEAD_OF_VERSION, {"name": name, "version": version})

    async def checkpoint_by_digest(self, digest: Digest) -> CheckpointRecord | None:
        """Return the first registered checkpoint with these weights."""
        return await self._reader.one(queries.HEAD_OF_FIRST_WITH_WEIGHTS, {"weights_digest": digest})

    async def checkpoint_with_weights(self, name: str, weights_digest: Digest) -> CheckpointRecord | None:
        """Return the checkpoint with these weights under this very name."""
        return await self._reader.one(queries.HEAD_OF_WEIGHTS, {"name": name, "weights_digest": weights_digest})

    async def twins(self, weights_digest: Digest, *, name: str, document: Mapping[str, object]) -> tuple[Twin, ...]:
        """Return the checkpoints with these weights under other names, and where their facts differ from `document`."""
        rows = await self._access.read(queries.TWINS_OF_WEIGHTS, {"weights_digest": weights_digest, "name": name})
        heads = [TwinHead(name=row.name, version=row.version, part=(row.id, row.revision, row.digest)) for row in rows]
        return await self._reader.twins(heads, document=document, digest=sha256_of(canonical_bytes(document)))

    async def drafters(self, *, after: str | None = None, limit: int = 100) -> Page[DrafterSummary]:
        """List drafters by name.

        Raises:
            Invalid: `after` is not a cursor of this listing.
        """
        size = cursors.page_size(limit)
        key = cursors.decode(after, str)
        statement = queries.DRAFTERS if key is None else queries.DRAFTERS_AFTER
        continued = {} if key is None else {"after_name": key[0]}
        rows = await self._access.read(statement, {"limit": size + 1, **continued})
        items = tuple(_drafter(row) for row in rows[:size])
        return Page(items=items, next=cursors.encode(items[-1].name) if len(rows) > size else None)

    async def checkpoints(
        self, *, name: str | None = None, after: str | None = None, limit: int = 100
    ) -> Page[CheckpointSummary]:
        """List checkpoints by name and version.

        Raises:
            Invalid: `after` is not a cursor of this listing.
        """
        size = cursors.page_size(limit)
        key = cursors.decode(after, str, int)
        statement = queries.summaries(named=name is not None, continued=key is not None)
        parameters: dict[str, object] = {"limit": size + 1, "name": name}
        if key is not None:
            parameters |= {"after_name": key[0], "after_version": key[1]}
        rows = await self._access.read(statement, parameters)
        items = tuple(_summary(row) for row in rows[:size])
        following = cursors.encode(items[-1].name, items[-1].version) if len(rows) > size else None
        return Page(items=items, next=following)

    async def amend(  # noqa: PLR0913  # the port's signature
        self,
        name: str,
        version: int,
        *,
        provenance: Provenance,
        document: Mapping[str, object],
        actor: str,
        reason: str,
        expected_revision: int | None = None,
        trained_depths: tuple[int, ...] | None = None,
    ) -> ProvenanceRevision:
        """Append a provenance revision; the same facts as in the newest one return that one.

        Raises:
            NotFound: there is no such checkpoint.
            Conflict: `expected_revision` is not the newest.
            Refused: the target that the new facts name is not registered.
            Invalid: a text cannot be stored.
            Unavailable: Postgres does not answer.
        """
        amendment = registration.Amendment(
            name=name,
            version=version,
            provenance=provenance,
            document=document,
            digest=sha256_of(canonical_bytes(document)),
            trained_depths=trained_depths,
            expected_revision=expected_revision,
            actor=actor,
            reason=reason,
        )
        return await self._access.write(lambda connection: registration.amend(connection, amendment))

    async def revisions(self, name: str, version: int) -> tuple[ProvenanceRevision, ...]:
        """Return every provenance revision of a checkpoint, oldest first; none: there is no such checkpoint."""
        rows = await self._access.read(queries.REVISIONS, {"name": name, "version": version})
        return tuple(self._reader.revision_of(row) for row in rows)

    async def events(self, name: str) -> tuple[Event, ...]:
        """Return the events of a drafter, oldest first; none: there is no such drafter."""
        return tuple(event_of(row) for row in await self._access.read(EVENTS_OF_DRAFTER, {"name": name}))


def _drafter(row: AnyRow) -> DrafterSummary:
    return DrafterSummary(
        name=row.name,
        versions=row.versions,
        newest=f"{row.name}@{row.versions}",
        target_name=row.target_name,
        created_at=row.created_at,
    )


def _summary(row: AnyRow) -> CheckpointSummary:
    return CheckpointSummary(
        name=row.name,
        version=row.version,
        weights_digest=row.weights_digest,
        target_name=row.target_name,
        trained_depths=None if row.trained_depths is None else tuple(row.trained_depths),
        created_at=row.created_at,
    )
