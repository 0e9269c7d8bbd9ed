"""Before a launch, on a node with no network: the emitted files against their lock, and the proposal judged again.

The lock says what was judged; the files say what is there. Nothing else is needed, and nothing else is believed.
"""

import os
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.artifacts.directory import inspect
from registry.artifacts.hashing import digest_files
from registry.documents import lock as locks
from registry.documents.fields import FileEntry
from registry.documents.lock import Lock
from registry.domain.artifact_faults import ArtifactFault
from registry.domain.errors import NotFound
from registry.domain.proposal import Build, Proposal
from registry.domain.tensors import Inventory
from registry.domain.verdict import Verdict
from registry.engines.launch import parse_launch
from registry.services.cases import Subject
from registry.services.judging import judge
from registry.services.profiles import ShippedProfiles

MOST_LOCK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One file that is not as the lock says."""

    file: str
    kind: Literal["differs", "missing", "extra", "unreadable"]
    expected: str
    observed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """An emitted directory held against its lock."""

    lock: Lock
    problems: tuple[Problem, ...]

    @property
    def intact(self) -> bool:
        """Every file is there, as it was emitted, and no other."""
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightResult:
    """What is known before a launch."""

    verification: Verification
    verdict: Verdict | None
    """None where the files are not what the lock says: nothing is judged then."""
    faults: tuple[ArtifactFault, ...] = ()
    """What is wrong with files that do match the lock."""

    @property
    def may_launch(self) -> bool:
        """Whether nothing speaks against the launch."""
        return self.verdict is not None and self.verdict.decision != "block"


def verify_directory(directory: Path) -> Verification:
    """Hold every file of an emitted directory against its lock.

    Raises:
        NotFound: there is no lock in `directory`.
        DocumentError: the lock is not a lock.
    """
    lock = locks.parse(_lock_bytes(directory))
    listed = {entry.name: entry for entry in lock.files}
    present = set(_files_below(directory)) - {locks.FILE_NAME}
    problems = [
        Problem(file=name, kind="missing", expected=listed[name].sha256, observed="no such file")
        for name in sorted(listed.keys() - present)
    ]
    problems += [
        Problem(file=name, kind="extra", expected="no such file in the lock", observed="a file")
        for name in sorted(present - listed.keys())
    ]
    problems += _differing(directory, [listed[name] for name in sorted(listed.keys() & present)])
    return Verification(lock=lock, problems=tuple(sorted(problems, key=lambda problem: problem.file)))


def preflight(directory: Path, build: Build, launch_text: str | None, *, profiles: ShippedProfiles) -> PreflightResult:
    """Verify an emitted directory and judge it again for `build`.

    Args:
        directory: What `roost emit` wrote.
        build: The engine build that is about to be launched.
        launch_text: Its launch options; None judges those that the lock holds.
        profiles: The shipped profiles.

    Raises:
        NotFound, DocumentError: as for `verify_directory`.
        Invalid: the launch text cannot be read.
    """
    verification = verify_directory(directory)
    if not verification.intact:
        return PreflightResult(verification=verification, verdict=None)
    inspection = inspect(directory, hash_contents=False)
    if inspection.inventory is None:
        return PreflightResult(verification=verification, verdict=None, faults=inspection.faults)
    lock = verification.lock
    text = shlex.join(lock.launch) if launch_text is None else launch_text
    proposal = Proposal(
        checkpoint=str(lock.checkpoint),
        build=build,
        target=lock.target.target.name,
        runner=lock.proposal.runner if build == lock.build else None,
        draft_config=inspection.inventory.config,
        launch=parse_launch(text, build.engine),
    )
    verdict = judge(_subject(lock, inspection.inventory), proposal, profiles=profiles, target=lock.target.target)
    return PreflightResult(verification=verification, verdict=verdict)


def _subject(lock: Lock, inventory: Inventory) -> Subject:
    """The files were held against the lock, so the lock's weights digest is theirs."""
    return Subject(
        ref=str(lock.checkpoint),
        inventory=inventory,
        provenance=lock.provenance,
        trained_target=(lock.trained_target or lock.target).target,
        weights_digest=lock.weights_digest,
        provenance_revision=lock.provenance_revision,
    )


def _lock_bytes(directory: Path) -> bytes:
    path = directory / locks.FILE_NAME
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            return file.read(MOST_LOCK_BYTES + 1)[:MOST_LOCK_BYTES]
    except OSError as error:
        raise NotFound(
            f"{path} cannot be read: {error.strerror}.",
            hint="Name a directory that `roost emit --out` wrote.",
        ) from error


def _files_below(directory: Path) -> Iterator[str]:
    """Yield the names of everything below `directory` that is not a plain folder, links included."""
    for folder, folders, files in os.walk(directory, followlinks=False):
        here = Path(folder)
        linked = [name for name in folders if (here / name).is_symlink()]
        for name in (*files, *linked):
            yield (here / name).relative_to(directory).as_posix()


def _differing(directory: Path, entries: list[FileEntry]) -> Iterator[Problem]:
    readable = {}
    for entry in entries:
        mode = (directory / entry.name).lstat().st_mode
        if stat.S_ISREG(mode):
            readable[entry.name] = directory / entry.name
        else:
            yield Problem(
                file=entry.name, kind="unreadable", expected="a plain file", observed="a link or special file"
            )
    digests = digest_files(readable)
    for entry in entries:
        found = digests.get(entry.name)
        if found is not None and found != (entry.sha256, entry.size):
            yield Problem(file=entry.name, kind="differs", expected=entry.sha256, observed=found[0])
