"""The header of a safetensors file is not what the format says.

## What it checks
Whether the header is a JSON object of tensors, each with a known dtype, a shape of whole numbers and two offsets.

## Why it matters
Parsers differ in what they forgive, so two tools would see two different checkpoints.

## Example
A header that names the dtype `F12`, or a shape with a negative number.

## How to fix
Write the file again with the safetensors library.

## Limits
Metadata is not judged.

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
    FaultKind.HEADER_MALFORMED: "write the file again with the safetensors library",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART104",
    name="header-malformed",
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
            FaultKind.HEADER_MALFORMED, observed="the dtype 'F12'", expected="a safetensors dtype", where="fc.weight"
        )
    ),
)
