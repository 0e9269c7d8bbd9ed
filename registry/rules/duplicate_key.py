"""A name occurs twice in a header, an index or a config.

## What it checks
Whether every JSON object read from the files has each key once.

## Why it matters
Most parsers keep the last one, some the first: two tools would see two different tensors under one name.

## Example
A header with two entries `fc.weight`.

## How to fix
Write the file again from the tensors that are meant.

## Limits
Keys that differ only in spelling are different keys.

## References
Public report: safetensors #401.
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
    FaultKind.DUPLICATE_KEY: "write the file again with each name once",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART106",
    name="duplicate-key",
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
            FaultKind.DUPLICATE_KEY, observed="the key 'fc.weight' twice", expected="each key once", where="fc.weight"
        )
    ),
)
