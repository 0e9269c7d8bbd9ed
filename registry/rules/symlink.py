"""A file is a symbolic link.

## What it checks
Whether the files that are taken are files, not links.

## Why it matters
A link can lead anywhere on the machine that registers, and what it leads to can change between two reads.

## Example
A `model.safetensors` that points into a hub cache.

## How to fix
Copy the file to where the link stands (`cp -L`).

## Limits
Files that are not taken may be links; they are ignored.

## References
Common weakness CWE-59.
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
    FaultKind.SYMLINK: "copy the file itself there, such as with `cp -L`",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART111",
    name="symlink",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.PICKLE, observed="something else", expected="a file")))

FAILS = (specimen(faults=fault(FaultKind.SYMLINK, observed="a symbolic link", expected="a file")),)
