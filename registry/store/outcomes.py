"""Verdicts and emissions in Postgres: content-addressed, never changed."""

from typing import Final

from sqlalchemy import bindparam, func, select, text, true
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

from registry.domain.digests import Digest
from registry.domain.errors import NotFound
from registry.domain.refs import Ref, parse_ref
from registry.services.records import EmissionRecord, EmittedFile, VerdictRecord
from registry.store.access import Access, AnyRow
from registry.store.checkpoint_queries import newest_revision
from registry.store.events import Link
from registry.store.registration import link_of, lock_drafter, state_with_version
from registry.store.registration_statements import INSERT_EVENT
from registry.store.tables import checkpoints, drafters, emission_files, emissions, judgments, verdicts

_STORE_VERDICT: Final = text(
    f"""
    WITH verdict AS (
        INSERT INTO verdicts (id, body) VALUES (:id, :body) ON CONFLICT ON CONSTRAINT pk_verdicts DO NOTHING
    ), judgment AS (
        INSERT INTO judgments (verdict_id, checkpoint_id, provenance_revision, actor, created_at)
        VALUES (:id, :checkpoint_id, :provenance_revision, :actor, :now)
        ON CONFLICT ON CONSTRAINT uq_judgments_verdict_id_checkpoint_id_provenance_revision DO NOTHING
        RETURNING id
    )
    {INSERT_EVENT.format(after="judgment")}
    """  # noqa: S608  # put together from constants only
).bindparams(bindparam("event_body", type_=JSONB))

_STORE_EMISSION: Final = text(
    f"""
    WITH emission AS (
        INSERT INTO emissions (id, checkpoint_id, engine, runner, target, document, actor, created_at)
        VALUES (:id, :checkpoint_id, :engine, :runner, :target, :document, :actor, :now)
        ON CONFLICT ON CONSTRAINT pk_emissions DO NOTHING
        RETURNING id
    ), files AS (
        INSERT INTO emission_files (emission_id, position, name, size, sha256)
        SELECT emission.id, file.position, file.name, file.size, file.sha256
        FROM emission, jsonb_to_recordset(:files) AS file (position integer, name text, size bigint, sha256 text)
    )
    {INSERT_EVENT.format(after="emission")}
    """  # noqa: S608  # put together from constants only
).bindparams(bindparam("document", type_=JSONB), bindparam("files", type_=JSONB), bindparam("event_body", type_=JSONB))

_newest = newest_revision(checkpoints, "newest")
_VERDICT: Final = (
    select(
        verdicts.c.id,
        verdicts.c.body,
        drafters.c.name,
        checkpoints.c.version,
        judgments.c.provenance_revision,
        judgments.c.created_at,
        _newest.c.revision.label("newest_revision"),
    )
    .select_from(
        verdicts.join(judgments, judgments.c.verdict_id == verdicts.c.id)
        .join(checkpoints, checkpoints.c.id == judgments.c.checkpoint_id)
        .join(drafters, drafters.c.id == checkpoints.c.drafter_id)
        .join(_newest, true())
    )
    .where(verdicts.c.id == bindparam("id"))
)
# Two subjects can have got the same bytes: the one judged last speaks for the digest.
_LAST_JUDGED: Final = _VERDICT.order_by(judgments.c.id.desc()).limit(1)
_OF_SUBJECT: Final = _VERDICT.where(
    drafters.c.name == bindparam("name"),
    checkpoints.c.version == bindparam("version"),
    judgments.c.provenance_revision == bindparam("provenance_revision"),
)

_file = func.jsonb_build_array(emission_files.c.name, emission_files.c.size, emission_files.c.sha256)
_files = (
    select(func.jsonb_agg(aggregate_order_by(_file, emission_files.c.position)))
    .where(emission_files.c.emission_id == emissions.c.id)
    .scalar_subquery()
)
_EMISSION: Final = (
    select(
        emissions.c.id,
        drafters.c.name,
        checkpoints.c.version,
        emissions.c.engine,
        emissions.c.runner,
        emissions.c.target,
        emissions.c.document,
        emissions.c.created_at,
        _files.label("files"),
    )
    .select_from(
        emissions.join(checkpoints, checkpoints.c.id == emissions.c.checkpoint_id).join(
            drafters, drafters.c.id == checkpoints.c.drafter_id
        )
    )
    .where(emissions.c.id == bindparam("id"))
)


class Outcomes:
    """The outcome store (`ports.OutcomeStore`)."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def add_verdict(self, record: VerdictRecord, *, actor: str) -> VerdictRecord:
        """Store a verdict under its digest, and what was judged; the same again returns the stored one.

        Raises:
            NotFound: there is no such checkpoint or revision.
            IntegrityMismatch: the digest is not the SHA-256 of the bytes.
            Unavailable: Postgres does not answer.
        """
        ref = parse_ref(record.ref)
        body = {"ref": record.ref, "verdict": record.id, "provenance_revision": record.provenance_revision}

        async def work(connection: AsyncConnection) -> VerdictRecord:
            drafter_id, state, link = await _entered(connection, ref)
            if not 1 <= record.provenance_revision <= state.revision:
                raise NotFound(f"{ref} has no provenance revision {record.provenance_revision}.")
            subject = {"provenance_revision": record.provenance_revision}
            parameters = {
                "id": record.id,
                "body": record.body,
                "checkpoint_id": state.checkpoint_id,
                "drafter_id": drafter_id,
                **subject,
                **link.parameters("verdict.stored", actor=actor, body=body),
            }
            await connection.execute(_STORE_VERDICT, parameters)
            key = {"id": record.id, "name": ref.name, "version": ref.version, **subject}
            return _verdict((await connection.execute(_OF_SUBJECT, key)).one())

        return await self._access.write(work)

    async def verdict(self, digest: Digest) -> VerdictRecord | None:
        """Return a stored verdict, as of the checkpoint and revision that got it last."""
        rows = await self._access.read(_LAST_JUDGED, {"id": digest})
        return _verdict(rows[0]) if rows else None

    async def add_emission(self, record: EmissionRecord, *, actor: str) -> EmissionRecord:
        """Store an emission under its digest; the same again returns the stored one.

        Raises:
            NotFound: there is no such checkpoint.
            Invalid: two files have one name, or a text cannot be stored.
            Unavailable: Postgres does not answer.
        """
        ref = parse_ref(record.ref)
        body = {"ref": record.ref, "emission": record.id, "engine": record.engine, "runner": record.runner}

        async def work(connection: AsyncConnection) -> EmissionRecord:
            drafter_id, state, link = await _entered(connection, ref)
            parameters = {
                "id": record.id,
                "checkpoint_id": state.checkpoint_id,
                "drafter_id": drafter_id,
                "engine": record.engine,
                "runner": record.runner,
                "target": record.target,
                "document": record.document,
                "files": _file_rows(record),
                **link.parameters("emission.stored", actor=actor, body=body),
            }
            await connection.execute(_STORE_EMISSION, parameters)
            return _emission((await connection.execute(_EMISSION, {"id": record.id})).one())

        return await self._access.write(work)

    async def emission(self, digest: Digest) -> EmissionRecord | None:
        """Return a stored emission."""
        rows = await self._access.read(_EMISSION, {"id": digest})
        return _emission(rows[0]) if rows else None


async def _entered(connection: AsyncConnection, ref: Ref) -> tuple[int | None, AnyRow, Link]:
    """Lock the drafter of `ref`, and return its id, the state of the checkpoint and where the next event goes."""
    drafter_id = await lock_drafter(connection, ref.name)
    state = await state_with_version(connection, drafter_id, ref.version)
    if state is None:
        raise NotFound(f"There is no checkpoint {ref}.", hint="`roost list` shows what is registered.")
    return drafter_id, state, link_of(state, drafter=ref.name)


def _verdict(row: AnyRow) -> VerdictRecord:
    return VerdictRecord(
        id=row.id,
        ref=f"{row.name}@{row.version}",
        provenance_revision=row.provenance_revision,
        body=bytes(row.body),
        created_at=row.created_at,
        stale=row.newest_revision > row.provenance_revision,
    )


def _emission(row: AnyRow) -> EmissionRecord:
    files = tuple(EmittedFile(name=name, size=size, sha256=sha256) for name, size, sha256 in row.files or ())
    return EmissionRecord(
        id=row.id,
        ref=f"{row.name}@{row.version}",
        engine=row.engine,
        runner=row.runner,
        target=row.target,
        files=files,
        document=row.document,
        created_at=row.created_at,
    )


def _file_rows(record: EmissionRecord) -> list[dict[str, object]]:
    return [
        {"position": position, "name": file.name, "size": file.size, "sha256": file.sha256}
        for position, file in enumerate(record.files)
    ]
