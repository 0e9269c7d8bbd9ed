"""Reading checkpoints: one small query where their parts are remembered, one more where they are not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Executable

from registry.documents import inventory as inventory_document
from registry.documents import provenance as provenance_document
from registry.domain.case import Twin
from registry.domain.digests import Digest
from registry.domain.memo import Memo
from registry.domain.tensors import Inventory
from registry.services.records import CheckpointRecord, NewCheckpoint, ProvenanceRevision, TargetRecord
from registry.store.access import Access, AnyRow
from registry.store.checkpoint_queries import BODIES, DOCUMENTS
from registry.store.registration import REGISTERED, Written
from registry.store.targets import record_of

Part = tuple[int, int, Digest]
"""Key of a provenance revision: checkpoint, revision, digest of the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinHead:
    """What a query tells about a twin."""

    name: str
    version: int
    part: Part


class CheckpointReader:
    """Turns heads into records, and remembers the parts that never change.

    Keys hold a digest or a time beside ids, so that a database that was replaced under a running service does not
    meet the memory of the one before it.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._inventories: Memo[tuple[int, Digest, datetime], Inventory] = Memo(512)
        self._revisions: Memo[Part, ProvenanceRevision] = Memo(2048)
        self._targets: Memo[tuple[int, int, datetime], TargetRecord] = Memo(512)
        self._twins: Memo[tuple[Digest, TwinHead], Twin] = Memo(4096)

    async def one(self, statement: Executable, parameters: Mapping[str, object]) -> CheckpointRecord | None:
        """Return the record whose head `statement` selects, or None."""
        rows = await self._access.read(statement, parameters)
        return await self._record(rows[0]) if rows else None

    async def twins(
        self, heads: Iterable[TwinHead], *, document: Mapping[str, object], digest: Digest
    ) -> tuple[Twin, ...]:
        """Return twins by name and version, with the pointers where their facts differ from `document`.

        Args:
            heads: The twins.
            document: Provenance to compare with.
            digest: SHA-256 of its canonical bytes.
        """
        ordered = sorted(heads, key=lambda head: (head.name, head.version))
        known = {head: self._twins.get((digest, head)) for head in ordered}
        compared = await self._compared([head for head in ordered if known[head] is None], document, digest)
        return tuple(known[head] or compared[head] for head in ordered)

    def remember(self, new: NewCheckpoint, written: Written, *, digest: Digest) -> None:
        """Remember the parts of a checkpoint that was just written; `digest` is that of its provenance document."""
        self._inventories.put((written.checkpoint_id, new.weights_digest, written.at), new.inventory)
        revision = ProvenanceRevision(
            revision=1,
            provenance=new.provenance,
            document=new.document,
            actor=new.actor,
            reason=REGISTERED,
            created_at=written.at,
        )
        self._revisions.put((written.checkpoint_id, 1, digest), revision)

    def revision_of(self, row: AnyRow) -> ProvenanceRevision:
        """Return the provenance revision in a row of `REVISIONS`."""
        part = (row.id, row.revision, row.digest)
        return self._revisions.get(part) or self._revisions.put(part, revision_record(row, created_at=row.created_at))

    async def _record(self, head: AnyRow) -> CheckpointRecord:
        inventory, revision, target = await self._bodies(head)
        heads = [
            TwinHead(name=name, version=version, part=(id_, newest, digest))
            for name, version, id_, newest, digest in head.twins or ()
        ]
        twins = await self.twins(heads, document=revision.document, digest=head.provenance_digest) if heads else ()
        return CheckpointRecord(
            name=head.name,
            version=head.version,
            weights_digest=head.weights_digest,
            inventory=inventory,
            provenance=revision,
            target=target,
            created_at=head.created_at,
            twins=twins,
        )

    async def _bodies(self, head: AnyRow) -> tuple[Inventory, ProvenanceRevision, TargetRecord]:
        part = (head.id, head.revision, head.provenance_digest)
        inventory_key = (head.id, head.weights_digest, head.created_at)
        target_key = (head.target_id, head.edition, head.target_created_at)
        inventory = self._inventories.get(inventory_key)
        revision = self._revisions.get(part)
        target = self._targets.get(target_key)
        if inventory is None or revision is None or target is None:
            rows = await self._access.read(BODIES, {"checkpoint_id": head.id, "revision": head.revision})
            row = rows[0]
            inventory = inventory or self._inventories.put(inventory_key, inventory_document.parse(row.inventory))
            revision = revision or self._revisions.put(
                part, revision_record(row, created_at=row.revised_at, revision=head.revision)
            )
            target = self._targets.put(target_key, record_of(row))
        return inventory, revision, target

    async def _compared(
        self, heads: list[TwinHead], document: Mapping[str, object], digest: Digest
    ) -> dict[TwinHead, Twin]:
        unread = [head.part[:2] for head in heads if head.part[2] != digest]
        rows = await self._access.read(DOCUMENTS, {"revisions": unread}) if unread else ()
        documents = {(row.checkpoint_id, row.revision): row.document for row in rows}
        compared = {head: _twin(head, document, documents.get(head.part[:2], document)) for head in heads}
        for head, twin in compared.items():
            self._twins.put((digest, head), twin)
        return compared


def revision_record(row: AnyRow, *, created_at: datetime, revision: int | None = None) -> ProvenanceRevision:
    """Return the provenance revision in a row that holds its document, actor and reason."""
    return ProvenanceRevision(
        revision=row.revision if revision is None else revision,
        provenance=provenance_document.from_fields(row.document),
        document=row.document,
        actor=row.actor,
        reason=row.reason,
        created_at=created_at,
    )


def _twin(head: TwinHead, document: Mapping[str, object], other: Mapping[str, object]) -> Twin:
    provenance = provenance_document.from_fields(other)
    return Twin.compared(f"{head.name}@{head.version}", document, other, provenance=provenance)
