"""Files that a command line names, read with their faults put into words."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from roost.failures import Failure, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.documents.faults import Fault
    from registry.domain.artifact_faults import ArtifactFault


def read_config(path: Path) -> Mapping[str, object]:
    """Return the JSON object in a config file.

    Raises:
        Failure: the file cannot be read.
        Refused: it is not one JSON object with every key once.
    """
    from registry.artifacts.configs import read_config as read  # noqa: PLC0415 - only where a file is named

    try:
        found = read(path)
    except OSError as error:
        raise unreadable(path, error) from None
    if isinstance(found, tuple):
        raise Refused(f"{path} cannot be used", details=fault_lines(found))
    return found


def unreadable(path: Path, error: OSError) -> Failure:
    """Say that what lies at `path`, if anything does, cannot be read: the command could not run."""
    return Failure(f"{path}: {(error.strerror or str(error)).lower()}")


def document_fault_lines(faults: "Sequence[Fault]") -> list[str]:
    """Put faults of a document into a line each; of one that does not say that it is of its kind, only that."""
    lines = [str(fault) for fault in faults if fault.pointer == "/schema"]
    return lines or [str(fault) for fault in faults]


def fault_lines(faults: "Iterable[ArtifactFault]") -> list[str]:
    """Put faults of files into a line each."""
    return [f"{_place(fault)}{fault.observed}; expected {fault.expected}" for fault in faults]


def _place(fault: "ArtifactFault") -> str:
    """Return where a fault is, with a colon; nothing where the fault is of the directory as a whole."""
    where = f" at {fault.where}" if fault.where else ""
    return f"{fault.file}{where}: " if fault.file else ""
