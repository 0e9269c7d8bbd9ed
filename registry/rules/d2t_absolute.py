"""`d2t` holds target ids themselves where every build expects offsets.

## What it checks
Whether the values of `d2t` make sense only as target ids: they strictly increase and fit the vocabulary, and read as
offsets they do not fit, or contradict `t2d`.

## Why it matters
Builds add the draft id to the value. An absolute table read as offsets proposes wrong tokens from the second entry on,
with no error as long as the sums stay in range.

## Example
`d2t` of `[5, 9, 12]` for kept tokens 5, 9, 12. As offsets it must be `[5, 8, 10]`.

## How to fix
Subtract the draft id from every value, and store the result as a new version.

## Limits
A table whose sums happen to stay in range, without a `t2d` to compare with, can be read both ways and is not
reported.

## References
`d2t` holds offsets in SafeAILab EAGLE-3, SpecForge, SGLang and vLLM.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import VOCAB, specimen, vocab_map
from registry.rules.vocabulary_map import of_map, reads_as_absolute


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the map can only be a table of target ids."""
    stored = case.inventory.vocab_map
    if stored is None or not reads_as_absolute(case, stored):
        return
    message = (
        f"d2t holds target ids ({stored.absolute_min} to {stored.absolute_max}, increasing), expected offsets: read as "
        f"builds read it, it leads to {stored.offset_min} to {stored.offset_max}; "
        "subtract the draft id from every value"
    )
    yield of_map(case, RULE.code, message, remedies=(Remedy.CONVERT,), severity=Severity.ERROR)


RULE = Rule(code="VOC104", name="d2t-absolute", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

PASSES = (specimen(), specimen(inventory=vocab_map(absolute_increasing=True)))

FAILS = (
    specimen(
        inventory=vocab_map(
            absolute_increasing=True, absolute_max=VOCAB - 1, offset_max=VOCAB + 94, t2d_rows=None, t2d_agrees=None
        )
    ),
    specimen(inventory=vocab_map(absolute_increasing=True, absolute_max=190, t2d_agrees=False)),
)
