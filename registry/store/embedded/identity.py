"""Who runs Postgres. It refuses to run as root, so root needs another identity for it.

The ways:

* `self`: an ordinary user runs it as is.
* `namespace`: in a user namespace where this user appears as an ordinary one. Files keep their owner, no folder is
  opened to anybody. Also for a user id without an entry in the password file, which `initdb` insists on.
* `nobody`: root drops to that user. Its files then belong to `nobody`, so another service running as `nobody` on the
  same machine could read them; and the folders above them must let `nobody` through.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

IdentityName = Literal["self", "namespace", "nobody"]
IdentityChoice = Literal["auto", "self", "namespace", "nobody"]

ROOT = 0
_NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One way to run Postgres's programs."""

    name: IdentityName
    uid: int
    """Owner of the database's files, as seen from outside any namespace."""
    gid: int
    prefix: tuple[str, ...] = ()
    """What stands before each command."""

    def run(
        self, command: Sequence[str | Path], *, cwd: Path, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end under this identity; stdout and stderr come back together.

        The command gets none of the caller's streams, variables, file descriptors or signals of its terminal.
        """
        drop = self.name == "nobody"
        return subprocess.run(  # noqa: S603 - programs of the wheel, with arguments of ours
            [*self.prefix, *map(str, command)],
            check=False,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={"PATH": os.defpath, "LC_ALL": "C"},
            start_new_session=True,
            umask=0o077,
            user=self.uid if drop else None,
            group=self.gid if drop else None,
            extra_groups=[] if drop else None,
            timeout=timeout,
        )

    def own(self, path: Path) -> None:
        """Give `path` and everything below it to this identity, where it belongs to another."""
        if path.lstat().st_uid == self.uid or os.geteuid() != ROOT:
            return
        for folder, _, names in os.walk(path):
            for name in names:
                os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)
            os.chown(folder, self.uid, self.gid)


def candidates(choice: IdentityChoice) -> Iterator[Identity | str]:
    """Yield the identities to try, best first; a string says why one is out of the question here."""
    for name in _order(choice):
        match name:
            case "self":
                yield _itself()
            case "namespace":
                yield _namespace()
            case "nobody":
                yield _nobody()


def _order(choice: IdentityChoice) -> tuple[IdentityName, ...]:
    if choice != "auto":
        return (choice,)
    return ("namespace", "nobody") if os.geteuid() == ROOT else ("self", "namespace")


def _itself() -> Identity | str:
    uid = os.geteuid()
    if uid == ROOT:
        return "self: Postgres refuses to run as root"
    if not _known(uid):
        return f"self: user id {uid} has no entry in the password file, which Postgres needs"
    return Identity(name="self", uid=uid, gid=os.getegid())


def _namespace() -> Identity | str:
    unshare = shutil.which("unshare")
    if unshare is None:
        return "namespace: there is no `unshare` command (package util-linux)"
    # Inside, the user id must be one that the password file knows and must not be 0.
    inside = next((entry.pw_uid for entry in _ordinary_users()), None)
    if inside is None:
        return "namespace: the password file knows no user but root"
    return Identity(
        name="namespace",
        uid=os.geteuid(),
        gid=os.getegid(),
        prefix=(unshare, "--user", f"--map-user={inside}", f"--map-group={inside}"),
    )


def _nobody() -> Identity | str:
    if os.geteuid() != ROOT:
        return "nobody: only root can become another user"
    try:
        entry = pwd.getpwnam(_NOBODY)
    except KeyError:
        return "nobody: there is no such user"
    return Identity(name="nobody", uid=entry.pw_uid, gid=entry.pw_gid)


def _known(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _ordinary_users() -> list[pwd.struct_passwd]:
    others = [entry for entry in pwd.getpwall() if entry.pw_uid != ROOT]
    return sorted(others, key=lambda entry: entry.pw_name != _NOBODY)
