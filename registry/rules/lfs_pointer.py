"""A file is a Git LFS pointer, not the file itself.

## What it checks
Whether a weights or index file is the small text that Git LFS leaves in place of a large file.

## Why it matters
Loaders report such a file as a header of absurd length, which nobody understands.

## Example
A `model.safetensors` of 130 bytes that begins with `version https://git-lfs.github.com/spec/v1`.

## How to fix
Fetch the real file with `git lfs pull`, or download it from the hub.

## Limits
Only the published form of the pointer is recognized.

## References
Public reports: ComfyUI_YuE #28, CogVideoXWrapper #239.
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
    FaultKind.LFS_POINTER: "fetch the file itself with `git lfs pull`",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART101",
    name="lfs-pointer",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (
    specimen(faults=fault(FaultKind.LFS_POINTER, observed="a Git LFS pointer of 130 bytes", expected="safetensors")),
)
