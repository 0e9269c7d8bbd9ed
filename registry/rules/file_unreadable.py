"""A file cannot be read.

## What it checks
Whether every file that is taken can be opened and read to its end.

## Why it matters
What cannot be read cannot be vouched for.

## Example
A file without read permission, or a directory where a file is expected.

## How to fix
Mend permissions or storage, and register again.

## Limits
A file that changes while it is read is found by its digest.

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
    FaultKind.UNREADABLE: "mend permissions or storage, and register again",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART116",
    name="file-unreadable",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (specimen(faults=fault(FaultKind.UNREADABLE, observed="permission denied", expected="a readable file")),)
