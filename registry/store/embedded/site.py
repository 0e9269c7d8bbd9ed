"""Settle who runs the server, with which programs, in which folder. Each choice is tried before it is taken."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.store.embedded import identity as identities
from registry.store.embedded.binaries import Binaries
from registry.store.embedded.failure import EmbeddedPostgresError
from registry.store.embedded.identity import Identity, IdentityChoice
from registry.store.embedded.layout import DataFolder, Home

_TRIAL_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Everything that is settled before a server starts."""

    identity: Identity
    binaries: Binaries
    home: Home
    note: str
    """What the user should be told; empty where there is nothing unusual."""


def settle(
    folder: DataFolder, binaries: Binaries, *, choice: IdentityChoice = "auto", shelters: Sequence[Path] = ()
) -> Site:
    """Choose identity, programs and home for the database of `folder`.

    Args:
        folder: the data folder; its lock is held and no server runs on it.
        binaries: the programs as installed.
        choice: one identity only, or `auto`.
        shelters: where the home may go when the identity may not enter the data folder.

    Raises:
        EmbeddedPostgresError: no identity works here; the message has the reason of each.
    """
    reasons = []
    for candidate in identities.candidates(choice):
        if isinstance(candidate, str):
            reasons.append(candidate)
            continue
        site = _try(candidate, folder, binaries, shelters)
        if isinstance(site, Site):
            return site
        reasons.append(f"{candidate.name}: {site}")
    raise EmbeddedPostgresError(
        f"No user can run Postgres on {folder.path}: {'; '.join(reasons)}.",
        hint="Run `roost up` as an ordinary user, or set ROOST_DATABASE_URL and ROOST_OWNER_DATABASE_URL to a "
        "Postgres server of yours.",
    )


def _try(identity: Identity, folder: DataFolder, binaries: Binaries, shelters: Sequence[Path]) -> Site | str:
    """Settle for one identity, or return why it cannot be used."""
    if reason := _trial(identity, ["/bin/sh", "-c", ":"]):
        return reason
    home = _reachable_home(identity, folder, shelters)
    if isinstance(home, str):
        return home
    identity.own(home.folder)
    programs = _runnable(identity, binaries, home)
    if isinstance(programs, str):
        return programs
    return Site(identity=identity, binaries=programs, home=home, note=_note(identity, folder, home))


def _reachable_home(identity: Identity, folder: DataFolder, shelters: Sequence[Path]) -> Home | str:
    home = folder.home()
    reason = _entry_refused(identity, home.folder.parent)
    if not reason:
        home.folder.mkdir(mode=0o700, exist_ok=True)
        return home
    if home.exists:
        return f"may not enter {home.folder.parent}, where the database is ({reason}); move the data folder"
    for shelter in shelters:
        made = _make_shelter(shelter)
        if made and not _entry_refused(identity, shelter):
            moved = Path(tempfile.mkdtemp(prefix=f"{folder.path.name or 'data'}-", dir=shelter))
            return Home(folder=moved, socket_dir=moved / "run")
    return f"may not enter {home.folder.parent} ({reason})"


def _make_shelter(shelter: Path) -> bool:
    if not shelter.exists():
        try:
            shelter.mkdir(parents=True)
            # Others pass through without seeing what is inside.
            shelter.chmod(0o711)
        except OSError:
            return False
    return os.access(shelter, os.W_OK)


def _runnable(identity: Identity, binaries: Binaries, home: Home) -> Binaries | str:
    """Return programs that `identity` can run: the installed ones, or for root's substitutes a copy in the home."""
    reason = _programs_fail(identity, binaries)
    if not reason:
        return binaries
    if os.geteuid() != identities.ROOT:
        return reason
    copied = binaries.copy_to(home.folder)
    return copied if not _programs_fail(identity, copied) else reason


def _programs_fail(identity: Identity, binaries: Binaries) -> str:
    # initdb needs the libraries beside the package, postgres does not: both must start.
    commands = [[binaries.program(name), "--version"] for name in ("initdb", "postgres")]
    return next((reason for command in commands if (reason := _trial(identity, command))), "")


def _entry_refused(identity: Identity, path: Path) -> str:
    # Entered by the identity itself: the caller's own rights say nothing about it.
    return _trial(identity, ["/bin/sh", "-c", 'cd "$1"', "sh", path])


def _trial(identity: Identity, command: Sequence[str | Path]) -> str:
    """Run a command under `identity`; return why it failed, or nothing."""
    try:
        done = identity.run(command, cwd=Path("/"), timeout=_TRIAL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if done.returncode == 0 else " ".join(done.stdout.split()) or f"exit status {done.returncode}"


def _note(identity: Identity, folder: DataFolder, home: Home) -> str:
    notes = []
    if identity.name == "nobody":
        notes.append("Root without user namespaces: Postgres runs as user nobody.")
    if home.folder != folder.own_home:
        notes.append(f"The database of {folder.path} is kept in {home.folder}, because its user may not enter there.")
    return " ".join(notes)
