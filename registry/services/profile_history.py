"""The history of one build's profile: the shipped one and every added revision, and what each changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from registry.documents import engine_profile
from registry.domain.differences import Difference, differences
from registry.domain.errors import NotFound
from registry.domain.profile import Origin, Profile
from registry.domain.proposal import Build
from registry.services.ports import ProfileStore
from registry.services.profile_layers import ProfileLayers
from registry.services.profiles import Profiles
from registry.services.records import ProfileRevision

_NUMBERING = "/revision"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileEntry:
    """One revision of a build's profile."""

    revision: int
    origin: Origin
    digest: str
    in_force: bool
    """It is the one that judgments are made with."""
    changes: tuple[Difference, ...]
    """What it says otherwise than the revision before it in this history; nothing for the first."""
    source_digest: str | None = None
    actor: str | None = None
    """None for a shipped profile, as are the reason's text and the time."""
    reason: str = ""
    created_at: datetime | None = None


async def history(build: Build, *, records: ProfileStore, layers: ProfileLayers) -> tuple[ProfileEntry, ...]:
    """Return every revision of a build's profile: the shipped one first, then the added ones, oldest first.

    Raises:
        NotFound: there is no profile of the build; the nearest ones are named.
    """
    current = await layers.current()
    added = await records.profile_revisions(build.engine, build.version)
    entries = entries_of(layers.shipped.get(build), added, in_force=current.get(build))
    if not entries:
        raise missing(build, current)
    return entries


def entries_of(
    shipped: Profile | None, added: tuple[ProfileRevision, ...], *, in_force: Profile | None
) -> tuple[ProfileEntry, ...]:
    """Return the history that a shipped profile and added revisions make."""
    counting = in_force.digest if in_force else None
    entries, before = [], None
    if shipped is not None:
        before = engine_profile.render(shipped)
        entries.append(
            ProfileEntry(
                revision=shipped.revision,
                origin="shipped",
                digest=shipped.digest,
                in_force=shipped.digest == counting,
                changes=(),
            )
        )
    for one in added:
        entries.append(_entry(one, before, in_force=one.digest == counting))
        before = dict(one.document)
    return tuple(entries)


def _entry(one: ProfileRevision, before: Mapping[str, object] | None, *, in_force: bool) -> ProfileEntry:
    return ProfileEntry(
        revision=one.revision,
        origin=one.origin,
        digest=one.digest,
        in_force=in_force,
        changes=() if before is None else changes(before, one.document),
        source_digest=one.source_digest,
        actor=one.actor,
        reason=one.reason,
        created_at=one.created_at,
    )


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[Difference, ...]:
    """Return what a profile's document says otherwise than an earlier one; its number is no fact."""
    return tuple(one for one in differences(before, after) if one.pointer != _NUMBERING)


def missing(build: Build, profiles: Profiles) -> NotFound:
    """Return the error for a build without a profile, which names the nearest ones."""
    nearest = ", ".join(f"{build.engine}=={version}" for version in profiles.nearest(build))
    return NotFound(
        f"There is no profile of {build}.",
        hint=f"The nearest are {nearest}." if nearest else "`roost engines list` shows all.",
    )
