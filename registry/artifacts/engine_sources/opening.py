"""Opens whatever a person names: a wheel, an sdist or a directory."""

import os
import stat
from pathlib import Path

from registry.artifacts.engine_sources import selection
from registry.artifacts.engine_sources.archives import open_archive
from registry.artifacts.engine_sources.limits import shown
from registry.artifacts.engine_sources.scan_cache import ScanCache
from registry.artifacts.engine_sources.sources import EngineSources
from registry.artifacts.engine_sources.tree import open_tree
from registry.domain.errors import Invalid, NotFound


def open_sources(path: Path, *, engine: str | None = None, cache: ScanCache | None = None) -> EngineSources:
    """Open the engine source at `path`.

    Args:
        path: a wheel (`.whl`), an sdist (`.tar.gz`, `.tgz`, `.zip`), or a directory: a checkout, an unpacked wheel,
            site-packages or the package folder itself.
        engine: `sglang` or `vllm`; needed only where `path` holds both.
        cache: where digests of unchanged files are remembered; opening them again then takes a few milliseconds.

    Raises:
        NotFound: there is nothing at `path`.
        Invalid: what is there is not an engine's source, is damaged, or contradicts itself.
        Refused: it is understood and not read: several engines, links in the way, sizes beyond any engine's.
    """
    check_engine(engine)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  # the user named it, so a link is followed
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "Give a wheel, an sdist or a directory of sglang or vllm."
        raise NotFound(f"'{shown(path.name)}' cannot be found ({reason}).", hint=hint) from None
    if stat.S_ISDIR(mode):
        return open_tree(path, engine=engine, cache=cache)
    return open_archive(path, engine=engine, cache=cache)


def check_engine(engine: str | None) -> None:
    """Check the name of an engine.

    Raises:
        Invalid: it is not one whose source is read.
    """
    if engine is not None and engine not in selection.ENGINES:
        raise Invalid(f"The source of '{shown(engine)}' is not read; expected {' or '.join(selection.ENGINES)}.")
