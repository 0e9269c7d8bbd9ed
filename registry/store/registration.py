"""Writing checkpoints and provenance. Every write of a drafter starts by taking the lock on the drafter's row.

That lock makes versions and events consecutive: whoever holds it sees all that was committed before, and the next one
waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from registry.documents import inventory as inventory_document
from registry.domain.differences import FactsDiffer, differences
from registry.domain.digests import Digest
from registry.domain.errors import Conflict, NotFound, Refused
from registry.domain.provenance import Provenance
from registry.services.records import NewCheckpoint, ProvenanceRevision
from registry.store import registration_statements as statements
from registry.store.access import AnyRow
from registry.store.events import Link

REGISTERED: Final = "registered"
"""The reason of every first revision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a registration wrote or found."""

    checkpoint_id: int
    version: int
    at: datetime
    """When it was written; of no meaning where it was found."""
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A new provenance revision, as somebody asks for it."""

    name: str
    version: int
    provenance: Provenance
    document: Mapping[str, object]
    digest: Digest
    """SHA-256 of the document's canonical bytes."""
    trained_depths: tuple[int, ...] | None
    expected_revision: int | None
    actor: str
    reason: str

    @property
    def ref(self) -> str:
        """NAME@N."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """Provenance on its way into the database."""

    document: Mapping[str, object]
    digest: Digest
    trained_depths: tuple[int, ...] | None
    target_id: int

    def parameters(self) -> dict[str, object]:
        """Return the values that the statements insert."""
        return {
            "document": self.document,
            "digest": self.digest,
            "trained_depths": None if self.trained_depths is None else list(self.trained_depths),
            "target_id": self.target_id,
        }


async def register(connection: AsyncConnection, new: NewCheckpoint, *, digest: Digest) -> Written:
    """Write a checkpoint, or find the one of that name with the same weights and facts.

    Args:
        connection: In a transaction.
        new: What to write.
        digest: SHA-256 of the canonical bytes of its provenance document.

    Raises:
        FactsDiffer: the same weights are registered under this name with other facts.
        Refused: the target is not registered.
    """
    target = {"target_name": new.target_name, "target_revision": new.target_revision}
    entered = (await connection.execute(statements.ENTER, {"name": new.name, **target})).one_or_none()
    if entered is None:
        raise _not_registered(new.target_name, new.target_revision)
    parameters = {"drafter_id": entered.drafter_id, "weights_digest": new.weights_digest}
    state = (await connection.execute(statements.STATE_WITH_WEIGHTS, parameters)).one()
    if state.checkpoint_id is not None:
        _refuse_other_facts(new, state)
        return Written(checkpoint_id=state.checkpoint_id, version=state.version, at=state.now, created=False)
    facts = _Facts(document=new.document, digest=digest, trained_depths=new.trained_depths, target_id=entered.target_id)
    return await _insert_checkpoint(connection, new, facts, drafter_id=entered.drafter_id, state=state)


async def amend(connection: AsyncConnection, amendment: Amendment) -> ProvenanceRevision:
    """Write the revision that follows the newest one, or return the newest where it has the same facts.

    Raises:
        NotFound: there is no such checkpoint.
        Conflict: another revision is the newest than was expected.
        Refused: the target that the new facts name is not registered.
    """
    drafter_id = await lock_drafter(connection, amendment.name)
    state = await state_with_version(connection, drafter_id, amendment.version)
    if state is None:
        raise NotFound(f"There is no checkpoint {amendment.ref}.", hint="`roost list` shows what is registered.")
    if not differences(state.document, amendment.document):
        return _newest_of(state, amendment)
    if amendment.expected_revision not in (None, state.revision):
        raise Conflict(
            f"{amendment.ref} has provenance revision {state.revision}; expected was {amendment.expected_revision}.",
            hint=f"Somebody amended it meanwhile: look at `roost provenance show {amendment.ref}` and repeat.",
        )
    return await _insert_revision(connection, amendment, drafter_id=drafter_id, state=state)


async def lock_drafter(connection: AsyncConnection, name: str) -> int | None:
    """Take the lock of a drafter and return its id; None: there is no such drafter."""
    found = (await connection.execute(statements.LOCK_DRAFTER, {"name": name})).scalar_one_or_none()
    return None if found is None else int(found)


async def state_with_version(connection: AsyncConnection, drafter_id: int | None, version: int | None) -> AnyRow | None:
    """Return the drafter's chain and one of its checkpoints; None: there is no such checkpoint."""
    parameters = {"drafter_id": drafter_id, "version": version}
    state = (await connection.execute(statements.STATE_WITH_VERSION, parameters)).one_or_none()
    return state if state is not None and state.checkpoint_id is not None else None


async def _find_target(connection: AsyncConnection, name: str, revision: str | None) -> int:
    """Return the id of a registered target; without a revision the newest of that name."""
    parameters = {"target_name": name, "target_revision": revision}
    found = (await connection.execute(statements.TARGET, parameters)).scalar_one_or_none()
    if found is None:
        raise _not_registered(name, revision)
    return int(found)


def _not_registered(name: str, revision: str | None) -> Refused:
    of_revision = f" at revision {revision}" if revision else ""
    option = f" --revision {revision}" if revision else ""
    return Refused(
        f"The target {name}{of_revision} is not registered.",
        hint=f"Register it first: roost target add {name} --config config.json{option}",
        pointer="/provenance/target",
    )


def _refuse_other_facts(new: NewCheckpoint, state: AnyRow) -> None:
    found = differences(state.document, new.document)
    if found:
        ref = f"{new.name}@{state.version}"
        raise FactsDiffer(
            f"These weights are registered as {ref} with other facts: {', '.join(one.pointer for one in found)}.",
            difference=found,
            hint=f"To correct facts: roost provenance amend {ref} --provenance FILE --reason TEXT",
        )


def link_of(row: AnyRow, *, drafter: str) -> Link:
    """Return where the drafter's next event goes, from a row of one of the `STATE` queries."""
    return Link(
        drafter=drafter,
        last_sequence=row.last_sequence or 0,
        last_digest=row.last_digest,
        now=row.now,
    )


async def _insert_checkpoint(
    connection: AsyncConnection, new: NewCheckpoint, facts: _Facts, *, drafter_id: int, state: AnyRow
) -> Written:
    """Write a checkpoint, its files, its first revision, its event and the drafter's counter."""
    version = state.versions + 1
    body = {
        "ref": f"{new.name}@{version}",
        "weights_digest": new.weights_digest,
        "provenance_digest": facts.digest,
        "target": {"name": new.target_name, "revision": new.target_revision},
    }
    link = link_of(state, drafter=new.name)
    parameters = {
        "drafter_id": drafter_id,
        "version": version,
        "weights_digest": new.weights_digest,
        "inventory": inventory_document.render(new.inventory),
        "files": _file_rows(new),
        "reason": REGISTERED,
        **facts.parameters(),
        **link.parameters("checkpoint.registered", actor=new.actor, body=body),
    }
    checkpoint_id = (await connection.execute(statements.REGISTER, parameters)).scalar_one()
    return Written(checkpoint_id=checkpoint_id, version=version, at=link.now, created=True)


async def _insert_revision(
    connection: AsyncConnection, amendment: Amendment, *, drafter_id: int | None, state: AnyRow
) -> ProvenanceRevision:
    target = amendment.provenance.target
    facts = _Facts(
        document=amendment.document,
        digest=amendment.digest,
        trained_depths=amendment.trained_depths,
        target_id=await _find_target(connection, target.name, target.revision),
    )
    revision = int(state.revision) + 1
    body = {
        "ref": amendment.ref,
        "revision": revision,
        "provenance_digest": amendment.digest,
        "reason": amendment.reason,
    }
    link = link_of(state, drafter=amendment.name)
    parameters = {
        "drafter_id": drafter_id,
        "checkpoint_id": state.checkpoint_id,
        "revision": revision,
        "reason": amendment.reason,
        **facts.parameters(),
        **link.parameters("provenance.amended", actor=amendment.actor, body=body),
    }
    await connection.execute(statements.APPEND_REVISION, parameters)
    return ProvenanceRevision(
        revision=revision,
        provenance=amendment.provenance,
        document=amendment.document,
        actor=amendment.actor,
        reason=amendment.reason,
        created_at=link.now,
    )


def _newest_of(state: AnyRow, amendment: Amendment) -> ProvenanceRevision:
    return ProvenanceRevision(
        revision=state.revision,
        provenance=amendment.provenance,
        document=state.document,
        actor=state.actor,
        reason=state.reason,
        created_at=state.created_at,
    )


def _file_rows(new: NewCheckpoint) -> list[dict[str, object]]:
    return [
        {"position": position, "name": file.name, "size": file.size, "sha256": file.sha256, "role": file.role}
        for position, file in enumerate(new.inventory.files)
    ]
