"""Before a launch, on a node with no network: the emitted files against their lock, and the proposal judged again.

The lock says what was judged; the files say what is there. Nothing else is needed, and nothing else is believed.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from registry.artifacts.directory import inspect
from registry.artifacts.hashing import digest_files
from registry.documents import lock as locks
from registry.documents.fields import FileEntry
from registry.documents.lock import Lock
from registry.documents.validation import validated
from registry.domain.artifact_faults import ArtifactFault
from registry.domain.errors import NotFound
from registry.domain.proposal import Build, Proposal, RunnerName
from registry.domain.taps import spell
from registry.domain.tensors import Inventory
from registry.domain.verdict import Verdict
from registry.engines.launch import parse_launch
from registry.services.cases import Subject
from registry.services.emission import DUMP_PROFILE_NAME, PROFILE_NAME
from registry.services.judging import judge
from registry.services.profile_layers import CarriedProfile, LayeredProfiles
from registry.services.profiles import Profiles

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
    lock = locks.parse_bytes(_lock_bytes(directory))
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


def preflight(
    directory: Path,
    build: Build,
    launch_text: str | None,
    *,
    profiles: Profiles,
    runner: RunnerName | None = None,
) -> PreflightResult:
    """Verify an emitted directory and judge it again for `build`.

    Args:
        directory: What `roost emit` wrote.
        build: The engine build that is about to be launched.
        launch_text: Its launch options, or the whole line with its variables; None judges those that the lock holds.
        profiles: The profiles to judge with, under those that were emitted along.
        runner: The runner that will run, where the line does not tell; None leaves it to line, lock and build.

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
    # A line of the caller's stands for itself: what runs is what it says, whatever runner the lock was made for.
    text = locks.launch_line(lock.launch, lock.environment) if launch_text is None else launch_text
    locked = lock.proposal.runner if launch_text is None and build == lock.build else None
    proposal = Proposal(
        checkpoint=str(lock.checkpoint),
        build=build,
        target=lock.target.target.name,
        runner=runner or locked,
        draft_config=inspection.inventory.config,
        launch=parse_launch(text, build.engine),
    )
    known = LayeredProfiles(profiles, _carried_profiles(directory, lock))
    verdict = judge(_subject(lock, inspection.inventory), proposal, profiles=known, target=lock.target.target)
    if verdict.trained_taps != lock.trained_taps:
        return PreflightResult(
            verification=replace(verification, problems=(_forged_taps(lock, verdict),)), verdict=None
        )
    return PreflightResult(verification=verification, verdict=verdict)


def _carried_profiles(directory: Path, lock: Lock) -> Iterator[CarriedProfile]:
    """Yield the profiles that came along because not every installation has them; their bytes were verified."""
    digests = {entry.name: entry.sha256 for entry in lock.files}
    for name in (PROFILE_NAME, DUMP_PROFILE_NAME):
        if name in digests:
            document = validated("engine-profile", (directory / name).read_bytes())
            engine, version = str(document["engine"]), str(document["version"])
            yield CarriedProfile(engine=engine, version=version, digest=digests[name], document=document)


def _forged_taps(lock: Lock, verdict: Verdict) -> Problem:
    known = "unknown taps" if verdict.trained_taps is None else f"taps {spell(verdict.trained_taps)}"
    expected, observed = f"{known}, by the provenance in it", f"taps {spell(lock.trained_taps)}"
    return Problem(file=locks.FILE_NAME, kind="differs", expected=expected, observed=observed)


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
        # A FIFO must not make this wait for a writer.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if stat.S_ISREG(found.st_mode) and found.st_size <= MOST_LOCK_BYTES:
                return file.read(MOST_LOCK_BYTES)
            why = f"it has {found.st_size} bytes" if stat.S_ISREG(found.st_mode) else "it is no plain file"
            cause = None
    except OSError as error:
        why, cause = error.strerror or type(error).__name__, error
    raise NotFound(f"{path} cannot be read: {why}.", hint="Name a directory that `roost emit --out` wrote.") from cause


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
