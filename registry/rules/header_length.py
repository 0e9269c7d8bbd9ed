"""The header length of a safetensors file is impossible.

## What it checks
The first eight bytes: the length must lie within the file and under the format's limit of 100 MB. It is checked
before anything of that size is read or allocated.

## Why it matters
A naive reader allocates whatever the number says; 2^64-1 takes the process down.

## Example
A length prefix of 18446744073709551615 in a file of 200 bytes.

## How to fix
The file is no safetensors file, or damaged: get it again from where it was made.

## Limits
Nothing behind the header is looked at in such a file.

## References
Public report: openasr #73; the limit of safetensors.
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
    FaultKind.HEADER_LENGTH: "this is no intact safetensors file: get it again",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART103",
    name="header-length",
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
            FaultKind.HEADER_LENGTH, observed="a header of 18446744073709551615 bytes", expected="at most 192 bytes"
        )
    ),
)
