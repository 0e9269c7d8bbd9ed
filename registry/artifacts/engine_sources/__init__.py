"""Reads an engine's source text from wheels, sdists, directories and environments; nothing of it is ever run.

What belongs here: where the relevant files are, their bytes, version and digest, and a cache for what is made of them.
What does not: what the source means (`registry.engines.scan`). Everything read here is hostile until proven otherwise:
nothing is extracted to disk, no link is followed out of what was named, every size has a cap.
"""

from registry.artifacts.engine_sources.environments import installed_sources
from registry.artifacts.engine_sources.opening import open_sources
from registry.artifacts.engine_sources.scan_cache import ScanCache, cache_key
from registry.artifacts.engine_sources.selection import EngineName, is_relevant, relevant
from registry.artifacts.engine_sources.sources import EngineSources

__all__ = [
    "EngineName",
    "EngineSources",
    "ScanCache",
    "cache_key",
    "installed_sources",
    "is_relevant",
    "open_sources",
    "relevant",
]
