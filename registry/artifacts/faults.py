"""How this package carries a fault out of the depth of a read: as an exception that holds the value."""

from registry.domain.artifact_faults import ArtifactFault, FaultKind

MOST_FAULTS = 32
"""Faults listed per file; a hostile file could have millions."""


class FaultError(Exception):
    """A file is not what it claims. Public functions of this package return `fault`, they do not raise this."""

    def __init__(self, fault: ArtifactFault) -> None:
        super().__init__(f"{fault.file}: {fault.observed}; expected {fault.expected}")
        self.fault = fault


def faulty(kind: FaultKind, file: str, *, observed: str, expected: str, where: str = "") -> FaultError:
    """Return the exception for one fault, to be raised by the caller."""
    return FaultError(ArtifactFault(kind=kind, file=file, where=where, observed=observed, expected=expected))
