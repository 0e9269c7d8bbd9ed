"""The drafter's directory holds no weights.

## What it checks
Whether there is at least one safetensors file.

## Why it matters
A version without weights would be accepted today and fail when somebody fetches it.

## Example
A directory in which only the config was downloaded.

## How to fix
Point `roost register` at the directory that holds the safetensors files.

## Limits
Other formats are not taken.

## References
Public report: mlflow #4630.
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
    FaultKind.WEIGHTS_MISSING: "point at the directory that holds the safetensors files",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART114",
    name="weights-missing",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (specimen(faults=fault(FaultKind.WEIGHTS_MISSING, observed="no safetensors file", expected="at least one")),)
