"""Registering target models and finding them again."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.domain.errors import NotFound
from registry.domain.target import Target
from registry.services.ports import TargetStore
from registry.services.records import TargetRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTarget:
    """The result of adding a target."""

    record: TargetRecord
    created: bool
    """False: it was registered before."""
    changed: bool
    """True: it is new, or a fact that was missing was filled in."""


async def add_target(*, target: Target, config: Mapping[str, object], records: TargetStore, actor: str) -> AddedTarget:
    """Register a target, or fill in facts that the registered one lacks.

    Args:
        target: its facts, as read from the config and the digests that were sent.
        config: `config.json` as it was sent.
        records: where targets are.
        actor: who asks.

    Raises:
        Conflict: another config, or another value of a known fact, is registered under this name and revision.
    """
    before = await records.target(target.name, target.revision)
    known = before is not None and before.target.revision == target.revision
    record, changed = await records.add_target(TargetRecord(target=target, config=config), actor=actor)
    return AddedTarget(record=record, created=changed and not known, changed=changed)


async def find_target(name: str, revision: str | None, *, records: TargetStore) -> TargetRecord:
    """Return a registered target; without a revision the newest of that name.

    Raises:
        NotFound: there is none.
    """
    found = await records.target(name, revision)
    if found is None:
        at = f" at revision {revision}" if revision else ""
        raise NotFound(
            f"There is no target {name}{at}.", hint=f"`roost target add {name} --config config.json` adds it."
        )
    return found
