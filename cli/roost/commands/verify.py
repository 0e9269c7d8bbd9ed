"""`roost verify`: an emitted directory against its lock, with no network."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roost.failures import PASSED, REFUSED, Failure, Refused
from roost.inputs import document_fault_lines
from roost.screen import Paint, Screen, takes_format

if TYPE_CHECKING:
    from registry.services.preflight import Problem, Verification


@click.command(name="verify")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@takes_format
def command(directory: Path, *, screen: Screen) -> int:
    """Check an emitted directory against its lock, offline.

    Exit 1 when a file differs, is missing, or is not part of the emission.
    """
    from registry.services.preflight import verify_directory  # noqa: PLC0415 - not for --help

    with lock_faults_worded(directory):
        found = verify_directory(directory)
    screen.result(document(found), render(found, directory, paint=screen.paint))
    return PASSED if found.intact else REFUSED


@contextmanager
def lock_faults_worded(directory: Path) -> Iterator[None]:
    """Put what is wrong with a directory's lock into words.

    Raises:
        Failure: there is no such directory, or no lock in it that can be read.
        Refused: what lies there is not a lock.
    """
    from registry.documents.faults import DocumentError  # noqa: PLC0415 - not for --help
    from registry.domain.errors import NotFound  # noqa: PLC0415 - as above

    if not directory.is_dir():
        raise Failure(f"{directory} is not a directory", hint="name one that `roost emit --out` wrote.")
    try:
        yield
    except NotFound as error:
        raise Failure(error.detail.rstrip("."), hint=error.hint) from None
    except DocumentError as error:
        details = document_fault_lines(error.faults)
        raise Refused(f"the lock in {directory} is not as it was emitted", details=details) from None


def document(found: "Verification") -> dict[str, object]:
    """Return a verification as JSON."""
    problems = [
        {"file": problem.file, "kind": problem.kind, "expected": problem.expected, "observed": problem.observed}
        for problem in found.problems
    ]
    lock = found.lock
    return {
        "intact": found.intact,
        "checkpoint": str(lock.checkpoint),
        "engine": str(lock.build),
        "files": len(lock.files),
        "problems": problems,
    }


def render(found: "Verification", directory: Path, *, paint: Paint) -> str:
    """Put a verification into words. Pure."""
    lock = found.lock
    subject = f"{directory} ({lock.checkpoint} for {lock.build})"
    if found.intact:
        return (
            f"{paint('intact', 'green', 'bold')}: {subject}: {len(lock.files)} files and the lock, as they were emitted"
        )
    count = len(found.problems)
    head = f"{paint('not intact', 'red', 'bold')}: {subject}: {count} {'difference' if count == 1 else 'differences'}"
    return "\n".join([head, *problem_lines(found.problems)])


def problem_lines(problems: "Iterable[Problem]") -> list[str]:
    """Return what is wrong with each file, with both digests where contents differ."""
    return [
        f"  {problem.file}: {problem.kind}\n    expected {problem.expected}\n    found    {problem.observed}"
        for problem in problems
    ]
