"""`t2d` and `d2t` name different tokens.

## What it checks
The true entries of `t2d` are exactly the target ids of `d2t` read as offsets.

## Why it matters
Builds use `d2t` only, so nothing fails. But both come from the same list of kept tokens: where they disagree, one of
them was picked up from another run, perhaps the one that is used.

## Example
A cached `t2d` of an earlier data set beside a fresh `d2t`.

## How to fix
Find out which one the head was trained on, and store both anew from it.

## Limits
A checkpoint without `t2d` is not judged.

## References
Public report: speculators #1081.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import specimen, vocab_map
from registry.rules.vocabulary_map import of_map, reads_as_absolute


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the two maps disagree."""
    stored = case.inventory.vocab_map
    if stored is None or stored.t2d_agrees is not False or reads_as_absolute(case, stored):
        return
    message = (
        f"t2d keeps {stored.t2d_true} tokens and d2t maps {stored.rows}, and they are not the same tokens: "
        "one of them belongs to another run"
    )
    yield of_map(case, RULE.code, message, remedies=(Remedy.CONVERT,), severity=Severity.WARNING)


RULE = Rule(code="VOC108", name="t2d-disagrees", severity=Severity.WARNING, since="0.1.0", stages=BOTH, check=check)

PASSES = (specimen(), specimen(inventory=vocab_map(t2d_rows=None, t2d_true=None, t2d_agrees=None)))

FAILS = (specimen(inventory=vocab_map(t2d_agrees=False)),)
