"""Engine profiles by build: what every use case asks of them, and those that travel in the package.

Shipped profiles are listed from an index, each read when it is first asked for. `profile_layers` puts those that a
registry was given on top.
"""

import bisect
import json
import pkgutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from registry.documents import engine_profile
from registry.domain.errors import Unavailable
from registry.domain.profile import Origin, Profile
from registry.domain.proposal import Build
from registry.domain.versions import Version

INDEX: Final = "index.json"

Read = Callable[[str], bytes]
"""File name -> content."""


class Profiles(Protocol):
    """The profiles a judgment is made with. They do not change while it is made; safe to share between threads."""

    @property
    def set_digest(self) -> str:
        """Identify the whole set: it changes when any profile does."""
        ...

    def engines(self) -> tuple[str, ...]:
        """Return every engine that has a profile, sorted."""
        ...

    def versions(self, engine: str) -> tuple[str, ...]:
        """Return every version of an engine, forks included, oldest first; empty for an unknown engine."""
        ...

    def upstream(self, engine: str) -> tuple[str, ...]:
        """Return the upstream releases of an engine, oldest first: what ranges run over. Forks are not among them."""
        ...

    def get(self, build: Build) -> Profile | None:
        """Return the profile of exactly this build, or None."""
        ...

    def origin(self, build: Build) -> Origin | None:
        """Return where the build's profile comes from, without reading it; None where there is none."""
        ...

    def nearest(self, build: Build) -> tuple[str, ...]:
        """Return the upstream versions just below and just above a build; fewer at the ends of the list."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of the index."""

    engine: str
    version: str
    file: str
    digest: str
    upstream: str | None = None
    """For a fork: the release it was made from."""


class ShippedProfiles:
    """The shipped profiles, by build. Nothing is read before it is needed; safe to share between threads."""

    def __init__(self, read: Read | None = None) -> None:
        """Take profiles from the package, or from `read` where somebody brings their own."""
        self._read = read or _packaged
        self._loaded: dict[str, Profile] = {}
        self._lock = threading.Lock()

    @property
    def set_digest(self) -> str:
        """Identify the whole set: it changes when any profile does."""
        return self._index[0]

    def engines(self) -> tuple[str, ...]:
        """Return every engine that has a profile, sorted."""
        return tuple(sorted(self._by_engine))

    def versions(self, engine: str) -> tuple[str, ...]:
        """Return every version of an engine, forks included, oldest first; empty for an unknown engine."""
        return tuple(entry.version for entry in self._by_engine.get(engine, ()))

    def upstream(self, engine: str) -> tuple[str, ...]:
        """Return the upstream releases of an engine, oldest first."""
        return tuple(entry.version for entry in self._by_engine.get(engine, ()) if entry.upstream is None)

    def listed(self, build: Build) -> Listed | None:
        """Return the index line of a build, without reading its profile."""
        return self._by_build.get(str(build))

    def get(self, build: Build) -> Profile | None:
        """Return the profile of exactly this build, or None.

        Raises:
            Unavailable: the installation lacks the profile's file.
        """
        name = str(build)
        entry = self._by_build.get(name)
        if entry is None:
            return None
        with self._lock:
            if name not in self._loaded:
                document = _json(self._read(entry.file))
                self._loaded[name] = engine_profile.parse(document, digest=entry.digest)
            return self._loaded[name]

    def origin(self, build: Build) -> Origin | None:
        """Return `shipped` for a build that is listed, else None."""
        return "shipped" if str(build) in self._by_build else None

    def nearest(self, build: Build) -> tuple[str, ...]:
        """Return the upstream versions just below and just above a build; fewer at the ends of the list."""
        return neighbors(self.upstream(build.engine), build.version)

    @cached_property
    def _index(self) -> tuple[str, tuple[Listed, ...]]:
        document = _json(self._read(INDEX))
        entries = (Listed(**entry) for entry in document["profiles"])
        return document["set_digest"], tuple(sorted(entries, key=lambda entry: Version.parse(entry.version)))

    @cached_property
    def _by_build(self) -> Mapping[str, Listed]:
        return {f"{entry.engine}=={entry.version}": entry for entry in self._index[1]}

    @cached_property
    def _by_engine(self) -> Mapping[str, tuple[Listed, ...]]:
        grouped: dict[str, tuple[Listed, ...]] = {}
        for entry in self._index[1]:
            grouped[entry.engine] = (*grouped.get(entry.engine, ()), entry)
        return grouped


def neighbors(versions: Sequence[str], version: str) -> tuple[str, ...]:
    """Return what stands just below and just above `version` in `versions`, oldest first; itself where it is there."""
    if version in versions:
        return (version,)
    place = bisect.bisect_left([Version.parse(one) for one in versions], Version.parse(version))
    return tuple(versions[max(place - 1, 0) : place + 1])


def _json(data: bytes) -> Any:
    # Our own file: the strict reading that documents from outside get would cost milliseconds and find nothing.
    return json.loads(data)


def _packaged(file: str) -> bytes:
    """Read package data through the loader, so that it works from a zipapp too; `importlib.resources` is slower."""
    try:
        data = pkgutil.get_data("registry.engines", f"profiles/{file}")
    except OSError:
        data = None
    if data is None:
        raise Unavailable(f"The engine profile {file} of this installation is missing.", hint="Install roost again.")
    return data
