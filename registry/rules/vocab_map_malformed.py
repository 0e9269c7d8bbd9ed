"""`d2t` or `t2d` is not a list of whole numbers or truth values.

## What it checks
The dtype and shape of the two tensors whose values are read.

## Why it matters
A map that cannot be read cannot be judged, and a wrong map spoils every proposal of the drafter.

## Example
A `d2t` of dtype F32.

## How to fix
Store `d2t` as whole numbers in one dimension, `t2d` as truth values over the target's vocabulary.

## Limits
What the values say is judged by the rules of family VOC.

## References
SafeAILab EAGLE-3 and SpecForge write both tensors.
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
    FaultKind.VOCAB_MAP_MALFORMED: "store d2t as a list of whole numbers and t2d as a list of truth values",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART115",
    name="vocab-map-malformed",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (
    specimen(faults=fault(FaultKind.VOCAB_MAP_MALFORMED, observed="dtype F32", expected="whole numbers", where="d2t")),
)
