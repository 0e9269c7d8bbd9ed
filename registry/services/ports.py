"""Ports: what use cases need from the outside, as Protocols. `store` and `blobs` implement them; tests fake them."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Protocol

from registry.domain.case import Twin
from registry.domain.digests import Digest
from registry.domain.provenance import Provenance
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


class TargetStore(Protocol):
    """Registered targets."""

    async def add_target(self, record: TargetRecord, *, actor: str) -> tuple[TargetRecord, bool]:
        """Add a target, or fill in facts that the registered one lacks; True if anything changed.

        Raises:
            FactsDiffer: the name and revision are taken by another config, or a fact that is known differs.
        """
        ...

    async def target(self, name: str, revision: str | None = None) -> TargetRecord | None:
        """Return the target of that name and revision; without a revision the newest of that name."""
        ...

    async def targets(self, *, after: str | None = None, limit: int = 100) -> Page[TargetRecord]:
        """List targets by name and revision."""
        ...


class CheckpointStore(Protocol):
    """Drafters, checkpoints and their provenance."""

    async def add_checkpoint(self, new: NewCheckpoint) -> tuple[CheckpointRecord, bool]:
        """Register all of `new` or nothing, under the drafter's next consecutive version; True if it was created.

        The same weights with the same facts return the version that has them.

        Raises:
            FactsDiffer: the same weights are registered under this name with other facts; `difference` names them.
            Refused: the target is not registered.
        """
        ...

    async def checkpoint(self, name: str, version: int | None = None) -> CheckpointRecord | None:
        """Return a checkpoint, the newest of that name without a version."""
        ...

    async def checkpoint_by_digest(self, digest: Digest) -> CheckpointRecord | None:
        """Return the first registered checkpoint with these weights."""
        ...

    async def checkpoint_with_weights(self, name: str, weights_digest: Digest) -> CheckpointRecord | None:
        """Return the checkpoint with these weights under this very name."""
        ...

    async def twins(self, weights_digest: Digest, *, name: str, document: Mapping[str, object]) -> tuple[Twin, ...]:
        """Return the checkpoints with these weights under other names, and where their facts differ from `document`."""
        ...

    async def drafters(self, *, after: str | None = None, limit: int = 100) -> Page[DrafterSummary]:
        """List drafters by name."""
        ...

    async def checkpoints(
        self, *, name: str | None = None, after: str | None = None, limit: int = 100
    ) -> Page[CheckpointSummary]:
        """List checkpoints by name and version."""
        ...

    async def amend(  # noqa: PLR0913  # every argument is a column of the revision
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
        """
        ...

    async def revisions(self, name: str, version: int) -> tuple[ProvenanceRevision, ...]:
        """Return every provenance revision of a checkpoint, oldest first."""
        ...

    async def events(self, name: str) -> tuple[Event, ...]:
        """Return the events of a drafter, oldest first."""
        ...


class OutcomeStore(Protocol):
    """Verdicts and emissions."""

    async def add_verdict(self, record: VerdictRecord, *, actor: str) -> VerdictRecord:
        """Store a verdict under its digest; the same bytes again return the stored one."""
        ...

    async def verdict(self, digest: Digest) -> VerdictRecord | None:
        """Return a stored verdict."""
        ...

    async def add_emission(self, record: EmissionRecord, *, actor: str) -> EmissionRecord:
        """Store an emission under its digest; the same bytes again return the stored one."""
        ...

    async def emission(self, digest: Digest) -> EmissionRecord | None:
        """Return a stored emission."""
        ...


class ProfileStore(Protocol):
    """Engine profiles that were added, beside those that are shipped."""

    async def add_profile(self, new: NewProfile) -> tuple[ProfileRevision, bool]:
        """Append a revision to a build's profile; True if it was created.

        The facts of the revision in force, or of the newest one of the same origin, return that revision.
        """
        ...

    async def profile_revisions(self, engine: str, version: str) -> tuple[ProfileRevision, ...]:
        """Return every added revision of a build's profile, oldest first."""
        ...

    async def profiles_newest(self, *, after: int = 0) -> tuple[ProfileRevision, ...]:
        """Return the revision in force of each build, by engine and version, among additions numbered above `after`.

        The newest `added` revision is in force; the newest `node` one where there is no other.
        """
        ...

    async def profile_mark(self) -> ProfileMark | None:
        """Return the mark of the newest addition, None where there is none; cheap enough for every request."""
        ...


class Records(TargetStore, CheckpointStore, OutcomeStore, ProfileStore, Protocol):
    """The system of record."""

    async def ready(self) -> str | None:
        """Return None when the database is at head, else what is wrong.

        Raises:
            Unavailable: it does not answer.
        """
        ...


class Blobs(Protocol):
    """Content-addressed bytes."""

    async def write(
        self, digest: str, stream: AsyncIterator[bytes], expected_size: int | None = None, *, limit: int | None = None
    ) -> int:
        """Store a stream under its SHA-256, verified on the way; returns its size."""
        ...

    def write_bytes(self, data: bytes) -> Digest:
        """Store small content and return its SHA-256."""
        ...

    def exists(self, digest: str) -> int | None:
        """Return the size of a blob, or None."""
        ...

    def path(self, digest: str) -> Path:
        """Return where a blob's bytes lie, for readers that need a file."""
        ...

    def stream(self, digest: str, chunk: int = 1 << 20) -> AsyncIterator[bytes]:
        """Read a blob in chunks."""
        ...
