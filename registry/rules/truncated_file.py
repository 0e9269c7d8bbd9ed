"""A file is shorter than its own header says.

## What it checks
Whether the file holds all bytes that its header and tensor offsets announce.

## Why it matters
An interrupted download looks complete to everything that does not read to the end.

## Example
A shard of 4.9 GB whose header announces tensors up to 5.0 GB.

## How to fix
Download the file again, and compare its size with the source.

## Limits
A file that was cut and padded to its old size is found by its digest only.

## References
Public reports: MFTCoder #20, exllama #242.
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
    FaultKind.TRUNCATED: "the file is cut off: download it again",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART102",
    name="truncated-file",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (specimen(faults=fault(FaultKind.TRUNCATED, observed="1000 of 4096 bytes", expected="4096 bytes")),)
