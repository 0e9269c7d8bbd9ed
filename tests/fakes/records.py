"""Records in memory, with the laws that use cases rely on: versions, conflicts, twins, revisions, events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from registry.documents.engine_profile import digest_of
from registry.domain.case import Twin
from registry.domain.differences import FactsDiffer, differences
from registry.domain.digests import Digest
from registry.domain.errors import Conflict, NotFound, Refused
from registry.domain.provenance import Provenance
from registry.services.profile_order import in_force, same_facts
from registry.services.records import (
    CheckpointRecord,
    CheckpointSummary,
    DrafterSummary,
    EmissionRecord,
    Event,
    NewCheckpoint,
    NewProfile,
    Page,
    ProfileMark,
    ProfileRevision,
    ProvenanceRevision,
    TargetRecord,
    VerdictRecord,
)

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
Item = TypeVar("Item")


class FakeRecords:
    """Implements the port `Records`. `wrong` is what `ready` says."""

    def __init__(self) -> None:
        self.wrong: str | None = None
        self._targets: dict[tuple[str, str | None], TargetRecord] = {}
        self._checkpoints: dict[str, list[CheckpointRecord]] = {}
        self._depths: dict[str, tuple[int, ...] | None] = {}
        self._revisions: dict[str, list[ProvenanceRevision]] = {}
        self._events: dict[str, list[Event]] = {}
        self._verdicts: dict[Digest, VerdictRecord] = {}
        self._emissions: dict[Digest, EmissionRecord] = {}
        self._profiles: list[ProfileRevision] = []

    async def ready(self) -> str | None:
        return self.wrong

    async def add_target(self, record: TargetRecord, *, actor: str) -> tuple[TargetRecord, bool]:
        key = (record.target.name, record.target.revision)
        known = self._targets.get(key)
        if known is None:
            self._targets[key] = record
            return record, True
        found = differences(known.config, record.config, at="/config")
        if found:
            raise FactsDiffer(f"The target {record.target.name} is registered with another config.", difference=found)
        digest = known.target.digest or record.target.digest
        if record.target.digest not in (None, digest):
            raise Conflict("The digest of the target differs.")
        filled = replace(known, target=replace(known.target, digest=digest))
        self._targets[key] = filled
        return filled, filled != known

    async def target(self, name: str, revision: str | None = None) -> TargetRecord | None:
        if revision is not None:
            return self._targets.get((name, revision))
        return next((record for key, record in reversed(self._targets.items()) if key[0] == name), None)

    async def targets(self, *, after: str | None = None, limit: int = 100) -> Page[TargetRecord]:
        return _page(sorted(self._targets.values(), key=lambda record: record.target.name), after, limit)

    async def drafters(self, *, after: str | None = None, limit: int = 100) -> Page[DrafterSummary]:
        rows = [
            DrafterSummary(
                name=name,
                versions=len(versions),
                newest=versions[-1].ref,
                target_name=versions[-1].target.target.name,
                created_at=NOW,
            )
            for name, versions in sorted(self._checkpoints.items())
        ]
        return _page(rows, after, limit)

    async def add_checkpoint(self, new: NewCheckpoint) -> tuple[CheckpointRecord, bool]:
        known = await self.checkpoint_with_weights(new.name, new.weights_digest)
        if known is not None:
            found = differences(known.provenance.document, new.document)
            if found:
                raise FactsDiffer(f"The weights are registered as {known.ref} with other facts.", difference=found)
            return known, False
        target = await self.target(new.target_name, new.target_revision)
        if target is None:
            raise Refused(f"The target {new.target_name} is not registered.")
        versions = self._checkpoints.setdefault(new.name, [])
        revision = _revision(1, new.provenance, new.document, actor=new.actor, reason="registered")
        record = CheckpointRecord(
            name=new.name,
            version=len(versions) + 1,
            weights_digest=new.weights_digest,
            inventory=new.inventory,
            provenance=revision,
            target=target,
            created_at=NOW,
            twins=await self.twins(new.weights_digest, name=new.name, document=new.document),
        )
        versions.append(record)
        self._revisions[record.ref] = [revision]
        self._depths[record.ref] = new.trained_depths
        self._event(new.name, "checkpoint.registered", new.actor)
        return record, True

    async def checkpoint(self, name: str, version: int | None = None) -> CheckpointRecord | None:
        versions = self._checkpoints.get(name, [])
        if version is None:
            return versions[-1] if versions else None
        return versions[version - 1] if 0 < version <= len(versions) else None

    async def checkpoint_by_digest(self, digest: Digest) -> CheckpointRecord | None:
        return next((record for record in self._all() if record.weights_digest == digest), None)

    async def checkpoint_with_weights(self, name: str, weights_digest: Digest) -> CheckpointRecord | None:
        return next((r for r in self._checkpoints.get(name, []) if r.weights_digest == weights_digest), None)

    async def twins(self, weights_digest: Digest, *, name: str, document: Mapping[str, object]) -> tuple[Twin, ...]:
        return tuple(
            Twin.compared(record.ref, document, record.provenance.document, provenance=record.provenance.provenance)
            for record in self._all()
            if record.weights_digest == weights_digest and record.name != name
        )

    async def checkpoints(
        self, *, name: str | None = None, after: str | None = None, limit: int = 100
    ) -> Page[CheckpointSummary]:
        rows = [
            CheckpointSummary(
                name=record.name,
                version=record.version,
                weights_digest=record.weights_digest,
                target_name=record.target.target.name,
                trained_depths=self._depths[record.ref],
                created_at=NOW,
            )
            for record in self._all()
            if name in (None, record.name)
        ]
        return _page(rows, after, limit)

    async def amend(
        self,
        name: str,
        version: int,
        *,
        provenance: Provenance,
        document: Mapping[str, object],
        trained_depths: tuple[int, ...] | None = None,
        actor: str,
        reason: str,
        expected_revision: int | None = None,
    ) -> ProvenanceRevision:
        record = await self.checkpoint(name, version)
        if record is None:
            raise NotFound(f"There is no {name}@{version}.")
        newest = self._revisions[record.ref][-1]
        if expected_revision not in (None, newest.revision):
            raise Conflict(f"The newest revision is {newest.revision}, not {expected_revision}.")
        if not differences(newest.document, document):
            return newest
        revision = _revision(newest.revision + 1, provenance, document, actor=actor, reason=reason)
        self._revisions[record.ref].append(revision)
        self._depths[record.ref] = trained_depths
        self._checkpoints[name][version - 1] = replace(record, provenance=revision)
        self._event(name, "provenance.amended", actor)
        return revision

    async def revisions(self, name: str, version: int) -> tuple[ProvenanceRevision, ...]:
        return tuple(self._revisions.get(f"{name}@{version}", ()))

    async def events(self, name: str) -> tuple[Event, ...]:
        return tuple(self._events.get(name, ()))

    async def add_verdict(self, record: VerdictRecord, *, actor: str) -> VerdictRecord:
        self._event(record.ref.partition("@")[0], "verdict.stored", actor)
        return self._verdicts.setdefault(record.id, record)

    async def verdict(self, digest: Digest) -> VerdictRecord | None:
        record = self._verdicts.get(digest)
        if record is None:
            return None
        return replace(record, stale=self._revisions[record.ref][-1].revision > record.provenance_revision)

    async def add_emission(self, record: EmissionRecord, *, actor: str) -> EmissionRecord:
        self._event(record.ref.partition("@")[0], "emission.stored", actor)
        return self._emissions.setdefault(record.id, record)

    async def emission(self, digest: Digest) -> EmissionRecord | None:
        return self._emissions.get(digest)

    async def add_profile(self, new: NewProfile) -> tuple[ProfileRevision, bool]:
        engine, version = str(new.document["engine"]), str(new.document["version"])
        known = await self.profile_revisions(engine, version)
        same = same_facts(known, new)
        if same is not None:
            return same, False
        number = max([new.after, *(one.revision for one in known)]) + 1
        document = {**new.document, "revision": number}
        revision = ProfileRevision(
            number=len(self._profiles) + 1,
            engine=engine,
            version=version,
            revision=number,
            origin=new.origin,
            source_digest=new.source_digest,
            digest=Digest(digest_of(document)),
            document=document,
            actor=new.actor,
            reason=new.reason,
            created_at=NOW,
        )
        self._profiles.append(revision)
        return revision, True

    async def profile_revisions(self, engine: str, version: str) -> tuple[ProfileRevision, ...]:
        return tuple(one for one in self._profiles if (one.engine, one.version) == (engine, version))

    async def profiles_newest(self, *, after: int = 0) -> tuple[ProfileRevision, ...]:
        late = [one for one in self._profiles if one.number > after]
        builds = sorted({(one.engine, one.version) for one in late})
        found = (in_force([one for one in late if (one.engine, one.version) == build]) for build in builds)
        return tuple(one for one in found if one is not None)

    async def profile_mark(self) -> ProfileMark | None:
        newest = self._profiles[-1] if self._profiles else None
        return ProfileMark(number=newest.number, digest=newest.digest) if newest else None

    def _all(self) -> list[CheckpointRecord]:
        return [record for _, versions in sorted(self._checkpoints.items()) for record in versions]

    def _event(self, drafter: str, kind: str, actor: str) -> None:
        events = self._events.setdefault(drafter, [])
        digest = Digest("sha256:" + "0" * 64)
        events.append(
            Event(
                drafter=drafter,
                sequence=len(events) + 1,
                kind=kind,  # type: ignore[arg-type]
                actor=actor,
                digest=digest,
                created_at=NOW,
            )
        )


def _revision(
    number: int, provenance: Provenance, document: Mapping[str, object], *, actor: str, reason: str
) -> ProvenanceRevision:
    return ProvenanceRevision(
        revision=number, provenance=provenance, document=document, actor=actor, reason=reason, created_at=NOW
    )


def _page(rows: Sequence[Item], after: str | None, limit: int) -> Page[Item]:
    begin = int(after or 0)
    following = begin + limit
    return Page(items=tuple(rows[begin:following]), next=str(following) if following < len(rows) else None)
