"""Taking in an engine profile: checked against itself and against what is known, then kept as a revision."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from registry.documents import engine_profile
from registry.documents.faults import DocumentError, Fault, moved
from registry.documents.profile_addition import KIND, ProfileAddition
from registry.domain.profile import Profile
from registry.domain.proposal import Build
from registry.engines.consistency import contradictions
from registry.engines.engine import engines
from registry.services.ports import ProfileStore
from registry.services.profile_history import ProfileEntry, changes, entries_of
from registry.services.profile_layers import ProfileLayers
from registry.services.profiles import Profiles
from registry.services.records import NewProfile

_LONGEST_BUILD: Final = 100
"""Characters that a proposal can name a build with."""

_DIGITS: Final = 12
"""Of the source digest, in the version of a scanned tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedProfile:
    """The result of an addition."""

    build: Build
    entry: ProfileEntry
    """The revision that has these facts."""
    created: bool
    """False: the facts were known, and nothing was stored."""


async def add_profile(
    *, document: ProfileAddition, records: ProfileStore, layers: ProfileLayers, actor: str
) -> AddedProfile:
    """Keep a profile as the next revision of its build; the same facts again return the revision that has them.

    Args:
        document: the profile, where it comes from and why.
        records: where added profiles are.
        layers: the profiles known so far.
        actor: who asks.

    Raises:
        DocumentError: the profile contradicts itself, or names what is not known; with every fault.
    """
    profile, known = document.profile, await layers.current()
    found = list(moved(_faults(document, known), "/profile"))
    found += _source_faults(document)
    if found:
        raise DocumentError(KIND, found)
    build = Build(engine=profile.engine, version=profile.version)
    shipped = layers.shipped.get(build)
    rendered = engine_profile.render(profile)
    before = await records.profile_revisions(build.engine, build.version)
    if shipped is not None and not before and not changes(engine_profile.render(shipped), rendered):
        return AddedProfile(build=build, entry=entries_of(shipped, (), in_force=shipped)[0], created=False)
    kept, created = await records.add_profile(
        NewProfile(
            document=rendered,
            origin=document.origin,
            source_digest=document.source_digest,
            after=shipped.revision if shipped else 0,
            actor=actor,
            reason=document.reason,
        )
    )
    now = await layers.current()
    revisions = await records.profile_revisions(build.engine, build.version)
    entries = entries_of(shipped, revisions, in_force=now.get(build))
    entry = next(one for one in entries if (one.origin, one.revision) == (kept.origin, kept.revision))
    return AddedProfile(build=build, entry=entry, created=created)


def _faults(document: ProfileAddition, known: Profiles) -> Iterator[Fault]:
    """Yield every fault of the profile, with pointers into it."""
    profile = document.profile
    for one in contradictions(profile):
        yield Fault(pointer=one.pointer, message=one.message, hint=one.hint)
    if profile.engine not in engines() and profile.engine not in known.engines():
        names = ", ".join(sorted({*engines(), *known.engines()}))
        yield Fault(pointer="/engine", message=f"no engine is called {profile.engine}; expected one of {names}")
    if len(profile.build) > _LONGEST_BUILD:
        message = f"{len(profile.build)} characters with the engine's name; expected at most {_LONGEST_BUILD}"
        yield Fault(pointer="/version", message=message, hint="a proposal could not name the build")
    yield from _origin_faults(document)
    yield from _upstream_faults(profile, known)


def _origin_faults(document: ProfileAddition) -> Iterator[Fault]:
    """Yield what is wrong with the name of a scanned tree: it is a build of its own, and must not look like another."""
    version, source = document.profile.version, document.source_digest
    if document.origin != "node" or source is None:
        return
    wanted = f"local.{source.partition(':')[2][:_DIGITS]}"
    if re.search(rf"\+(.+\.)?{re.escape(wanted)}$", version) is None:
        yield Fault(
            pointer="/version",
            message=f"{version} is not the name of a scanned tree; expected a local part that ends in {wanted}",
            hint="what a node has installed is a build of its own, never a release",
        )


def _source_faults(document: ProfileAddition) -> Iterator[Fault]:
    if document.origin == "node" and document.source_digest is None:
        yield Fault(
            pointer="/source_digest", message="is missing; expected the digest of the source tree that was scanned"
        )


def _upstream_faults(profile: Profile, known: Profiles) -> Iterator[Fault]:
    releases = known.upstream(profile.engine)
    if profile.upstream is None:
        if "+" in profile.version:
            message = f"is missing; {profile.version} has a local part, so it is made from a release: expected which"
            yield Fault(pointer="/upstream", message=message)
        return
    if profile.version in releases:
        message = f"{profile.version} is a release itself; expected no upstream"
        yield Fault(pointer="/upstream", message=message, hint="a fork has a version of its own, such as 0.5.9+mine")
    elif profile.upstream not in releases:
        near = " or ".join(known.nearest(Build(engine=profile.engine, version=profile.upstream)))
        message = f"no release of {profile.engine} is called {profile.upstream}"
        yield Fault(pointer="/upstream", message=message + (f"; the nearest are {near}" if near else ""))
