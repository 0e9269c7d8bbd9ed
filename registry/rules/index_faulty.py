"""The index of a sharded checkpoint is malformed, or disagrees with the shards.

## What it checks
Whether the index maps tensor names to file names, and each tensor is where the index says and nowhere else.

## Why it matters
Loaders that follow the index and loaders that read every shard would load different tensors.

## Example
An index that places `fc.weight` in the first shard while the second one holds it.

## How to fix
Make the index anew from the shards.

## Limits
The total size that an index may state is not judged.

## References
The index format of Hugging Face checkpoints.
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
    FaultKind.INDEX_MALFORMED: "make the index anew from the shards",
    FaultKind.INDEX_DISAGREES: "make the index anew from the shards",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART109",
    name="index-faulty",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (
    specimen(faults=fault(FaultKind.INDEX_MALFORMED, observed="a list", expected="an object with weight_map")),
    specimen(
        faults=fault(
            FaultKind.INDEX_DISAGREES,
            observed="fc.weight is in another shard",
            expected="the shard that the index names",
            where="fc.weight",
        )
    ),
)
