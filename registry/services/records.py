"""Records as use cases see them: what was stored, without a word about how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from registry.domain.case import Twin
from registry.domain.digests import Digest
from registry.domain.profile import AddedOrigin
from registry.domain.provenance import Provenance
from registry.domain.target import Target
from registry.domain.tensors import Inventory

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRecord:
    """A registered target: its facts and the config they were read from."""

    target: Target
    config: Mapping[str, object]
    """`config.json` as it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceRevision:
    """One revision of a checkpoint's provenance. Revisions are appended, never changed."""

    revision: int
    """From 1."""
    provenance: Provenance
    document: Mapping[str, object]
    """The `roost.provenance/1` document, canonical."""
    actor: str
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCheckpoint:
    """What a registration asks the store to keep, all of it or nothing."""

    name: str
    weights_digest: Digest
    inventory: Inventory
    provenance: Provenance
    document: Mapping[str, object]
    target_name: str
    target_revision: str | None
    """None: the newest registered revision of that name."""
    trained_depths: tuple[int, ...] | None = None
    """Depths of the trained taps, for listings; None where they are not known."""
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRecord:
    """One registered checkpoint with its newest provenance revision."""

    name: str
    version: int
    weights_digest: Digest
    inventory: Inventory
    provenance: ProvenanceRevision
    target: TargetRecord
    """The registered target that provenance names."""
    created_at: datetime
    twins: tuple[Twin, ...] = ()
    """The same weights under other drafters."""

    @property
    def ref(self) -> str:
        """NAME@N."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSummary:
    """One line of a listing."""

    name: str
    version: int
    weights_digest: Digest
    target_name: str
    trained_depths: tuple[int, ...] | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterSummary:
    """One drafter in a listing."""

    name: str
    versions: int
    """How many versions were registered, which is also the newest version's number."""
    newest: str
    """NAME@N of the newest version."""
    target_name: str
    """Target of the newest version."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """The result of a registration."""

    record: CheckpointRecord
    created: bool
    """False: the same weights with the same facts were registered before."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmittedFile:
    """One file of an emission; its bytes are a blob."""

    name: str
    size: int
    sha256: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class EmissionRecord:
    """An emission: immutable, content-addressed."""

    id: Digest
    """SHA-256 of the lock file's bytes."""
    ref: str
    engine: str
    runner: str | None
    target: str
    files: tuple[EmittedFile, ...]
    document: Mapping[str, object]
    """The `roost.emission/1` document."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """A stored verdict: canonical bytes under their SHA-256."""

    id: Digest
    ref: str
    provenance_revision: int
    body: bytes
    created_at: datetime
    stale: bool = False
    """Facts that it rests on have changed since: a newer provenance revision exists, or, where a use case asked for
    it, another profile of its build is in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProfile:
    """A profile that is to be kept as a revision of its build."""

    document: Mapping[str, object]
    """The `roost.engine-profile/1` document; its `revision` is given by the store."""
    origin: AddedOrigin
    source_digest: Digest | None = None
    """Of the source tree that was scanned, where one was."""
    after: int = 0
    """The revision that it follows at least: that of the shipped profile of the build, 0 without one."""
    actor: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileMark:
    """Which profile was added last: two equal marks mean that nothing was added between them."""

    number: int
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRevision:
    """One added revision of a build's profile. Revisions are appended, never changed."""

    number: int
    """Place in the order of all additions, from 1; the later one is the larger."""
    engine: str
    version: str
    revision: int
    """Consecutive per build, above the revision of a shipped profile."""
    origin: AddedOrigin
    source_digest: Digest | None
    digest: Digest
    """SHA-256 of the document's canonical bytes, as verdicts cite it."""
    document: Mapping[str, object]
    """The `roost.engine-profile/1` document, with this revision in it."""
    actor: str
    reason: str
    created_at: datetime

    @property
    def build(self) -> str:
        """`engine==version`."""
        return f"{self.engine}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """One page of a listing."""

    items: tuple[Item, ...]
    next: str | None = None
    """Opaque cursor of the next page, None at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change, hash-chained per drafter."""

    drafter: str
    sequence: int
    kind: Literal["checkpoint.registered", "provenance.amended", "verdict.stored", "emission.stored"]
    actor: str
    body: Mapping[str, object] = field(default_factory=dict)
    digest: Digest
    created_at: datetime
