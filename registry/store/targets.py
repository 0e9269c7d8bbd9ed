"""Targets in Postgres. Only the config and the digests are stored: the other facts are read from the config."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sqlalchemy import bindparam, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.ext.asyncio import AsyncConnection

from registry.domain.differences import Difference, FactsDiffer, differences
from registry.domain.digests import comparable
from registry.domain.target import Target, describe
from registry.services.records import Page, TargetRecord
from registry.store import cursors, json_values
from registry.store.access import Access, AnyRow
from registry.store.tables import targets

FACTS: Final = (
    targets.c.name,
    targets.c.revision,
    targets.c.config,
    targets.c.digest,
    targets.c.tokenizer_digest,
    targets.c.chat_template_digest,
)
"""What `record_of` reads."""

DIGESTS: Final = ("digest", "tokenizer_digest", "chat_template_digest")
"""Facts that may be missing at first and are filled in later."""

_ADD = postgres_insert(targets).on_conflict_do_nothing(constraint="uq_targets_name_revision").returning(targets.c.id)
_LOCKED = (
    select(targets.c.id, *FACTS)
    .where(targets.c.name == bindparam("name"))
    .where(targets.c.revision.is_not_distinct_from(bindparam("revision")))
    .with_for_update(key_share=True)
)
_FILL_IN = (
    update(targets)
    .where(targets.c.id == bindparam("target_id"))
    .values({column: bindparam(column) for column in DIGESTS} | {"edition": targets.c.edition + 1})
)
_ONE = select(*FACTS).where(targets.c.name == bindparam("name")).where(targets.c.revision == bindparam("revision"))
_NEWEST = select(*FACTS).where(targets.c.name == bindparam("name")).order_by(targets.c.id.desc()).limit(1)

_revision_or_empty = func.coalesce(targets.c.revision, "")
_FIRST_PAGE = select(*FACTS).order_by(targets.c.name, _revision_or_empty).limit(bindparam("limit"))
_NEXT_PAGE = _FIRST_PAGE.where(targets.c.name >= bindparam("name")).where(
    tuple_(targets.c.name, _revision_or_empty) > tuple_(bindparam("name"), bindparam("revision"))
)


class Targets:
    """The target store (`ports.TargetStore`)."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def add_target(self, record: TargetRecord, *, actor: str) -> tuple[TargetRecord, bool]:
        """Add a target, or fill in digests that the registered one lacks; True if anything changed.

        Two kinds of weights identity are never compared: a digest of the other kind changes nothing.

        Raises:
            FactsDiffer: the name and revision are taken by another config, or a fact that is known differs.
        """

        async def work(connection: AsyncConnection) -> tuple[TargetRecord, bool]:
            return await _add(connection, record, actor=actor)

        return await self._access.write(work)

    async def target(self, name: str, revision: str | None = None) -> TargetRecord | None:
        """Return the target of that name and revision; without a revision the newest of that name."""
        rows = await self._access.read(
            _NEWEST if revision is None else _ONE,
            {"name": name} if revision is None else {"name": name, "revision": revision},
        )
        return record_of(rows[0]) if rows else None

    async def targets(self, *, after: str | None = None, limit: int = 100) -> Page[TargetRecord]:
        """List targets by name and revision.

        Raises:
            Invalid: `after` is not a cursor of this listing.
        """
        size = cursors.page_size(limit)
        key = cursors.decode(after, str, str)
        parameters: dict[str, object] = {"limit": size + 1}
        if key is not None:
            parameters |= {"name": key[0], "revision": key[1]}
        rows = await self._access.read(_FIRST_PAGE if key is None else _NEXT_PAGE, parameters)
        records = tuple(record_of(row) for row in rows[:size])
        last = records[-1].target if len(rows) > size else None
        return Page(items=records, next=cursors.encode(last.name, last.revision or "") if last else None)


def record_of(row: AnyRow) -> TargetRecord:
    """Return the record in a row that holds `FACTS`."""
    return TargetRecord(
        target=describe(
            row.name,
            row.config,
            revision=row.revision,
            digest=row.digest,
            tokenizer_digest=row.tokenizer_digest,
            chat_template_digest=row.chat_template_digest,
        ),
        config=row.config,
    )


async def _add(connection: AsyncConnection, given: TargetRecord, *, actor: str) -> tuple[TargetRecord, bool]:
    target = given.target
    values = {
        "name": target.name,
        "revision": target.revision,
        "config": given.config,
        "edition": 1,
        "actor": actor,
        "created_at": func.clock_timestamp(),
        **{column: getattr(target, column) for column in DIGESTS},
    }
    added = (await connection.execute(_ADD.values(values))).one_or_none()
    if added is not None:
        return replace(given, target=_derived(target, given.config)), True
    row = (await connection.execute(_LOCKED, {"name": target.name, "revision": target.revision})).one()
    registered = record_of(row)
    _refuse_other_facts(registered, given)
    digests = {column: getattr(registered.target, column) or getattr(target, column) for column in DIGESTS}
    filled = replace(registered, target=replace(registered.target, **digests))
    if filled == registered:
        return registered, False
    await connection.execute(_FILL_IN, {"target_id": row.id, **digests})
    return filled, True


def _derived(target: Target, config: Mapping[str, object]) -> Target:
    # As it will be read back: what the config tells, whatever the caller derived.
    return describe(
        target.name,
        config,
        revision=target.revision,
        digest=target.digest,
        tokenizer_digest=target.tokenizer_digest,
        chat_template_digest=target.chat_template_digest,
    )


def _refuse_other_facts(registered: TargetRecord, given: TargetRecord) -> None:
    found = (
        *differences(registered.config, json_values.stored(given.config), at="/config"),
        *_other_digests(registered.target, given.target),
    )
    if found:
        label = given.target.label
        raise FactsDiffer(
            f"The target {label} is registered with other facts: {', '.join(one.pointer for one in found)}.",
            difference=found,
            hint="A registered fact of a target never changes. Name the revision that these facts belong to.",
        )


def _other_digests(registered: Target, given: Target) -> tuple[Difference, ...]:
    pairs = ((column, getattr(registered, column), getattr(given, column)) for column in DIGESTS)
    return tuple(
        Difference(pointer=f"/{column}", registered=one, given=other)
        for column, one, other in pairs
        if comparable(one, other) and one != other
    )
