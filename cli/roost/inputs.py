"""Files that a command line names, read with their faults put into words."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from roost.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.domain.artifact_faults import ArtifactFault


def read_config(path: Path, *, failure: type[Failure] = Failure) -> Mapping[str, object]:
    """Return the JSON object in a config file.

    Raises:
        Failure: of the given class; the file is missing, or is not one JSON object with every key once.
    """
    from registry.artifacts.configs import read_config as read  # noqa: PLC0415 - only where a file is named

    try:
        found = read(path)
    except OSError as error:
        raise failure(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if isinstance(found, tuple):
        raise failure(f"{path} cannot be used", details=fault_lines(found))
    return found


def fault_lines(faults: "Iterable[ArtifactFault]") -> list[str]:
    """Put faults of files into a line each."""
    return [
        f"{fault.file}{f' at {fault.where}' if fault.where else ''}: {fault.observed}; expected {fault.expected}"
        for fault in faults
    ]
