"""The weights are a pickle, which can run code when it is loaded.

## What it checks
The bytes of each weights file, whatever its suffix: a pickle, or an archive with one inside, is refused where it is
the weights.

## Why it matters
Loading a pickle executes what it says.

## Example
`pytorch_model.bin` as the only weights of a widely used EAGLE-3 head.

## How to fix
Convert it in isolation (a container without network) with weights-only loading, save as safetensors, and register
that.

## Limits
A pickle beside proper weights is ignored, not refused.

## References
Public reports: vllm #12366, vllm #32045, vllm-ascend #2667.
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
    FaultKind.PICKLE: "convert it to safetensors in isolation with weights-only loading, and register the result",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART112",
    name="pickle",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (specimen(faults=fault(FaultKind.PICKLE, observed="a pickle", expected="safetensors")),)
