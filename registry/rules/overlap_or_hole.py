"""Tensors of a safetensors file overlap, or leave bytes that belong to none.

## What it checks
Whether the offsets of all tensors cover the data exactly: no byte twice, none left out.

## Why it matters
Overlapping tensors alias each other; a hole can carry anything past a scanner.

## Example
Two tensors that both begin at offset 0.

## How to fix
Write the file again with the safetensors library, which lays tensors out end to end.

## Limits
Values are not read.

## References
The safetensors format description.
"""

from collections.abc import Iterator
from typing import Final

from registry.domain.artifact_faults import FaultKind
from registry.domain.case import Case
from registry.domain.findings import Finding, Severity
from registry.rules.file_faults import findings_of
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import fault, specimen

ADVICE: Final = {
    FaultKind.OVERLAP_OR_HOLE: "write the file again with the safetensors library",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART105",
    name="overlap-or-hole",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (
    specimen(
        faults=fault(
            FaultKind.OVERLAP_OR_HOLE,
            observed="bytes 0 to 128 belong to two tensors",
            expected="each byte in one tensor",
            where="fc.weight",
        )
    ),
)
