"""Where the embedded server's things lie, and the lock that makes starters take turns.

DATA/postgres.lock    held while one process starts or stops the server
DATA/postgres.json    only what cannot be derived: a database folder or socket folder kept elsewhere
DATA/postgres/        the home: pgdata/, run/ (the socket), server.log
"""

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.store.embedded.failure import EmbeddedPostgresError
from registry.store.embedded.identity import Identity
from registry.store.embedded.process import SOCKET_NAME

SOCKET_PATH_LIMIT = 103 if platform.system() == "Darwin" else 107
"""Bytes in a socket's path: `sun_path` of the kernel, less its final zero byte."""

SHELTERS = (Path("/var/lib/roost"), Path("/var/tmp"))  # noqa: S108 - a new 0700 folder is made inside
"""Where a database goes whose data folder its user may not enter."""

_SHORT = Path("/tmp")  # noqa: S108 - a new 0700 folder is made inside; XDG_RUNTIME_DIR would go away at logout


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folder that holds one database and its server's files."""

    folder: Path
    socket_dir: Path

    @property
    def pgdata(self) -> Path:
        """The database's folder, as Postgres means it."""
        return self.folder / "pgdata"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "server.log"

    @property
    def exists(self) -> bool:
        """Whether there is a complete database: it is renamed into place when it is."""
        return (self.pgdata / "PG_VERSION").is_file()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFolder:
    """A registry's data folder, as far as the embedded server is concerned."""

    path: Path
    """Absolute, without symbolic links: every process must come to the same name."""

    @classmethod
    def at(cls, path: Path) -> "DataFolder":
        """Name a data folder; nothing is created."""
        return cls(path=path.expanduser().resolve())

    @property
    def own_home(self) -> Path:
        """The home inside the data folder."""
        return self.path / "postgres"

    @property
    def record(self) -> Path:
        """Where a home or socket folder elsewhere is written down."""
        return self.path / "postgres.json"

    @property
    def is_used(self) -> bool:
        """Whether a server was ever started here."""
        return self.own_home.exists() or self.record.exists()

    def create(self) -> None:
        """Make the folder.

        Raises:
            EmbeddedPostgresError: it cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The data folder {self.path} cannot be made: {error.strerror}.",
                hint="Name another with --data.",
            ) from error

    @contextlib.contextmanager
    def locked(self, timeout: float) -> Iterator[None]:
        """Hold the folder's lock; the kernel frees it when the holder dies.

        Args:
            timeout: seconds to wait for another process.

        Raises:
            EmbeddedPostgresError: the folder is not writable, or another process kept the lock too long.
        """
        deadline = time.monotonic() + timeout
        path = self.path / "postgres.lock"
        try:
            file = path.open("a")
        except OSError as error:
            raise EmbeddedPostgresError(
                f"{path} cannot be written: {error.strerror}.", hint="Use a data folder that belongs to this user."
            ) from error
        with file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise EmbeddedPostgresError(
                            f"Another process has held {path} for more than {timeout:.0f} s.",
                            hint=f"Find it with: fuser {path}",
                        ) from None
                    time.sleep(0.02)
            yield

    def home(self) -> Home:
        """Return where the database is, or would be made.

        Raises:
            EmbeddedPostgresError: the record is damaged, or names a folder that is gone.
        """
        recorded = self._read_record()
        folder = Path(recorded.get("home") or self.own_home)
        if "home" in recorded and not folder.is_dir():
            raise EmbeddedPostgresError(
                f"The database of {self.path} was kept in {folder}, which is gone.",
                hint=f"Bring it back, or remove {self.record} to begin with an empty database.",
            )
        return Home(folder=folder, socket_dir=Path(recorded.get("socket_dir") or folder / "run"))

    def write_record(self, home: Home) -> None:
        """Write down what differs from the usual places; replaced as a whole, so that no half is ever read."""
        facts = {}
        if home.folder != self.own_home:
            facts["home"] = str(home.folder)
        if home.socket_dir != home.folder / "run":
            facts["socket_dir"] = str(home.socket_dir)
        if facts == self._read_record():
            return
        partial = self.record.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n")
        partial.replace(self.record)

    def _read_record(self) -> dict[str, str]:
        try:
            facts = json.loads(self.record.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise EmbeddedPostgresError(
                f"{self.record} cannot be read: {error}.", hint="Restore it: it says where the database is kept."
            ) from error
        if not isinstance(facts, dict) or not all(isinstance(value, str) for value in facts.values()):
            raise EmbeddedPostgresError(
                f"{self.record} is not a JSON object of paths.", hint="Restore it: it says where the database is kept."
            )
        return facts


def prepare_socket_dir(home: Home, identity: Identity) -> Home:
    """Make the folder of the socket, 0700: whoever enters it may connect. Return the home with the folder chosen.

    It is the recorded one, else `run` in the home, else, where that path is too long for a socket, a short one in /tmp.
    """
    for wanted in (home.socket_dir, home.folder / "run"):
        if _fits(wanted) and _claim(wanted, identity):
            return Home(folder=home.folder, socket_dir=wanted)
    name = hashlib.sha256(os.fsencode(home.folder)).hexdigest()[:12]
    short = _SHORT / f"roost-{identity.uid}-{name}"
    if not _claim(short, identity):
        # Somebody else took that name: a folder of a new name is ours for sure.
        short = Path(tempfile.mkdtemp(prefix="roost-", dir=_SHORT))
        identity.own(short)
    return Home(folder=home.folder, socket_dir=short)


def _fits(folder: Path) -> bool:
    # libpq takes a comma for the end of one host.
    return len(os.fsencode(folder / SOCKET_NAME)) <= SOCKET_PATH_LIMIT and "," not in str(folder)


def _claim(folder: Path, identity: Identity) -> bool:
    """Make `folder` private to `identity`; False when it is not a folder of this user or of `identity`."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {identity.uid, os.geteuid()}:
        return False
    folder.chmod(0o700)
    identity.own(folder)
    return True
