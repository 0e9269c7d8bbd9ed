"""Scanning: from an engine's sources to a profile document that can be looked at, corrected and added."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.artifacts.engine_sources import EngineSources
from registry.documents import engine_profile
from registry.domain.errors import Invalid, Refused
from registry.domain.profile import Profile
from registry.engines.consistency import contradictions
from registry.engines.scan.sglang import NotSglang, Unresolved, scan_sglang


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """A scanned build."""

    document: Mapping[str, object]
    """The `roost.engine-profile/1` document."""
    profile: Profile
    origin: str
    """Where the sources came from, in words."""
    source_digest: str
    """SHA-256 over the relevant files."""
    unresolved: tuple[Unresolved, ...]
    """What the scan could not establish, with file and line."""


def scan(sources: EngineSources, *, version: str | None = None) -> Scanned:
    """Scan an engine's sources. Nothing of the engine is imported or run.

    Args:
        sources: What was opened.
        version: What to call the build; the version that the sources state where None.

    Raises:
        Refused: the engine's sources are not scanned yet.
        Invalid: no version is stated, or the sources are not what a scan expects.
    """
    if sources.engine != "sglang":
        raise Refused(
            f"The sources are {sources.engine}'s, and only SGLang's are scanned so far.",
            hint="Profiles of vLLM ship with Roost; `roost engines add` takes a corrected one.",
        )
    named = version or sources.version
    if named is None:
        raise Invalid("The sources do not say which version they are.", hint="Name it with --as VERSION.")
    try:
        result = scan_sglang(sources, version=named)
    except NotSglang as error:
        raise Invalid(f"{error}.", hint="Give a wheel, an sdist, or the folder that holds the package.") from error
    document = _with_upstream(result.document, named)
    profile = engine_profile.parse(document)
    for fault in contradictions(profile):
        raise Invalid(f"The scanned profile contradicts itself at {fault.pointer}: {fault.message}.", hint=fault.hint)
    return Scanned(
        document=document,
        profile=profile,
        origin=sources.origin,
        source_digest=sources.digest,
        unresolved=result.unresolved,
    )


def _with_upstream(document: Mapping[str, object], version: str) -> Mapping[str, object]:
    """A version with a local part is somebody's fork of the release before it."""
    release, local, _ = version.partition("+")
    return {**document, "upstream": release} if local else document
