"""A file name leads out of the drafter's directory.

## What it checks
Names in the index, and names of files themselves: relative, without `..`, inside the directory.

## Why it matters
A name like `../x` makes whoever unpacks the checkpoint read or write somewhere else.

## Example
An index that names `../../etc/model.safetensors`.

## How to fix
Put every file into the drafter's directory and name it from there.

## Limits
Whether a name inside the directory is a link is another rule's business.

## References
Common weakness CWE-22.
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
    FaultKind.PATH_ESCAPE: "put every file into the drafter's directory",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART110",
    name="path-outside",
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
            FaultKind.PATH_ESCAPE,
            observed="'../x.safetensors'",
            expected="a name inside the directory",
            where="/weight_map/fc.weight",
        )
    ),
)
