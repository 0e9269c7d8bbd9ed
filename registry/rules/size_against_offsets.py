"""A tensor's offsets cover another number of bytes than its shape and dtype need.

## What it checks
For each tensor: the bytes between its offsets are the product of its shape times the size of its dtype.

## Why it matters
A reader that trusts the shape reads beyond the tensor.

## Example
An F32 tensor of shape [1000, 1000] whose offsets cover 4 bytes.

## How to fix
Write the file again with the safetensors library.

## Limits
Values are not read.

## References
Public report: mlx #3363.
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
    FaultKind.SIZE_MISMATCH: "write the file again with the safetensors library",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART107",
    name="size-against-offsets",
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
            FaultKind.SIZE_MISMATCH, observed="4 bytes", expected="4000000 bytes for F32 [1000, 1000]", where="t"
        )
    ),
)
