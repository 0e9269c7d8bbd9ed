"""Shipped profiles with those of a registry on top, as one set; and keeping that set up to date.

Precedence, for one build:

1. The newest revision that somebody **added**: a correction, or a build we do not ship, with a reason and a name.
   It goes on counting when a newer release of this package ships another profile of the build; adding that one again
   goes back to it.
2. The **shipped** profile: checked by our tests against the source of the release.
3. The newest revision that a **node** scanned: facts about the engine that is installed there.

A node's profile never stands in for a release, however the engine there calls itself: a scanned tree is a build of its
own, `sglang==0.5.9+local.<digest>`, and `profile_additions` refuses any other name. So upstream ranges run over
releases only, shipped and added, and no local patch changes what they say.
"""

import hashlib
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from registry.documents import engine_profile
from registry.domain.profile import AddedOrigin, Origin, Profile
from registry.domain.proposal import Build
from registry.domain.versions import Version
from registry.services.ports import ProfileStore
from registry.services.profile_order import in_force
from registry.services.profiles import Profiles, neighbors
from registry.services.records import ProfileMark, ProfileRevision


class Layer(Protocol):
    """One profile to lay over others, as its document; `ProfileRevision` is one."""

    @property
    def engine(self) -> str:
        """The engine's name."""
        ...

    @property
    def version(self) -> str:
        """The build's version."""
        ...

    @property
    def origin(self) -> AddedOrigin:
        """Where it comes from."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of the document's canonical bytes."""
        ...

    @property
    def document(self) -> Mapping[str, object]:
        """The valid `roost.engine-profile/1` document."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedProfile:
    """A profile that came along with the files it was used for."""

    engine: str
    version: str
    digest: str
    document: Mapping[str, object]
    origin: AddedOrigin = "added"


class LayeredProfiles:
    """Added profiles over shipped ones (`profiles.Profiles`); see the module for which one counts.

    Parsed when first asked for, and never changed afterwards: a judgment sees one set from beginning to end.
    """

    def __init__(self, shipped: Profiles, added: Iterable[Layer]) -> None:
        """Lay `added`, the revision in force of each build, over `shipped`."""
        self._shipped = shipped
        laid = [one for one in added if one.origin == "added" or shipped.origin(_build(one)) is None]
        self._added: Mapping[str, Layer] = {str(_build(one)): one for one in laid}
        self._parsed: dict[str, Profile] = {}
        self._lock = threading.Lock()

    @cached_property
    def set_digest(self) -> str:
        """Identify the whole set: it changes when any profile does."""
        lines = [self._shipped.set_digest, *sorted(f"{build} {one.digest}" for build, one in self._added.items())]
        return f"sha256:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"

    def engines(self) -> tuple[str, ...]:
        """Return every engine that has a profile, sorted."""
        return tuple(sorted({*self._shipped.engines(), *(one.engine for one in self._added.values())}))

    def versions(self, engine: str) -> tuple[str, ...]:
        """Return every version of an engine, forks included, oldest first; empty for an unknown engine."""
        return self._versions.get(engine) or self._shipped.versions(engine)

    def upstream(self, engine: str) -> tuple[str, ...]:
        """Return the upstream releases of an engine, oldest first, added ones among them."""
        return self._upstream.get(engine) or self._shipped.upstream(engine)

    def get(self, build: Build) -> Profile | None:
        """Return the profile of exactly this build, or None."""
        name = str(build)
        added = self._added.get(name)
        if added is None:
            return self._shipped.get(build)
        with self._lock:
            if name not in self._parsed:
                self._parsed[name] = engine_profile.parse(added.document, digest=added.digest)
            return self._parsed[name]

    def origin(self, build: Build) -> Origin | None:
        """Return where the build's profile comes from, without reading it; None where there is none."""
        added = self._added.get(str(build))
        return self._shipped.origin(build) if added is None else added.origin

    def nearest(self, build: Build) -> tuple[str, ...]:
        """Return the upstream versions just below and just above a build; fewer at the ends of the list."""
        return neighbors(self.upstream(build.engine), build.version)

    @cached_property
    def _versions(self) -> Mapping[str, tuple[str, ...]]:
        engines = {one.engine for one in self._added.values()}
        return {name: _merged(self._shipped.versions(name), self._of(name)) for name in engines}

    @cached_property
    def _upstream(self) -> Mapping[str, tuple[str, ...]]:
        engines = {one.engine for one in self._added.values()}
        return {
            name: _merged(self._shipped.upstream(name), (one for one in self._of(name) if is_release(one.document)))
            for name in engines
        }

    def _of(self, engine: str) -> tuple[Layer, ...]:
        return tuple(one for one in self._added.values() if one.engine == engine)


class ProfileLayers:
    """The profiles of a running service: shipped ones, and the store's as of now.

    What was added is held in memory. Whether anything was added since, is one small query for each request, so that a
    profile that any process of the service took in is known to all of them with their next request.
    """

    def __init__(self, shipped: Profiles, store: ProfileStore) -> None:
        self._shipped = shipped
        self._store = store
        self._mark: ProfileMark | None = None
        self._added: Mapping[str, ProfileRevision] = {}
        self._layered: Profiles = shipped

    @property
    def shipped(self) -> Profiles:
        """The profiles under all additions."""
        return self._shipped

    async def current(self) -> Profiles:
        """Return the set as it is now; it stays what it is while more is added.

        Raises:
            Unavailable: the store does not answer.
        """
        mark = await self._store.profile_mark()
        if mark != self._mark:
            added = await self._fetched(mark)
            # Whoever fetched last wins, also with an older set: then the marks differ, and the next request fetches.
            self._mark, self._added = mark, added
            self._layered = LayeredProfiles(self._shipped, added.values()) if added else self._shipped
        return self._layered

    async def _fetched(self, mark: ProfileMark | None) -> Mapping[str, ProfileRevision]:
        """Return what is in force, fetching only what is new where the rest is known to be the same."""
        if mark is None:
            return {}
        known, added = self._mark, self._added
        if known is not None and mark.number > known.number:
            # The newest one known is asked for again: if it is not there, it is not the same database any more.
            late = await self._store.profiles_newest(after=known.number - 1)
            if any((one.number, one.digest) == (known.number, known.digest) for one in late):
                return {**added, **{one.build: _counting(added.get(one.build), one) for one in late}}
        return {one.build: one for one in await self._store.profiles_newest()}


def is_release(document: Mapping[str, object]) -> bool:
    """Tell whether a profile is one of an upstream release: no fork of one, and no local part in its version."""
    return document.get("upstream") is None and "+" not in str(document["version"])


def _counting(known: ProfileRevision | None, late: ProfileRevision) -> ProfileRevision:
    return late if known is None else in_force((known, late)) or late


def _build(one: Layer) -> Build:
    return Build(engine=one.engine, version=one.version)


def _merged(shipped: Iterable[str], added: Iterable[Layer]) -> tuple[str, ...]:
    return tuple(sorted({*shipped, *(one.version for one in added)}, key=Version.parse))
