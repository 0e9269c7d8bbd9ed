"""The index names a shard that is not there.

## What it checks
Every file named in the index is in the drafter's directory.

## Why it matters
The checkpoint is incomplete, and that is noticed on the node that loads it, perhaps much later.

## Example
An index that names `model-00002-of-00002.safetensors` after an upload that stopped.

## How to fix
Upload or download the missing shard, from the same revision as the others.

## Limits
Subdirectories inside the drafter's directory are allowed.

## References
Public reports: localvoxtral #140, modelexpress #598.
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
    FaultKind.MISSING_SHARD: "the checkpoint is incomplete: add the missing shard, from the same revision",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART108",
    name="missing-shard",
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
            FaultKind.MISSING_SHARD,
            observed="no file 'model-00002-of-00002.safetensors'",
            expected="every shard of the index",
            where="/weight_map/fc.weight",
        )
    ),
)
