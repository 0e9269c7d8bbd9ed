"""The target ids of `d2t` do not increase, so the map is no list of kept tokens.

## What it checks
Read as offsets, the target ids strictly increase: kept tokens in order, each once.

## Why it matters
Trainers make the map from sorted kept tokens. A map that goes back, or names a token twice, was made by something
else or got mixed up, and then it does not belong to the head's rows.

## Example
`d2t` of `[0, 0, -1, ...]`: draft ids 1 and 2 both stand for target id 1.

## How to fix
Make the map again from the kept tokens of training (`t2d`, where it is stored, holds them), and store it as a new
version.

## Limits
A map may be increasing and still belong to another run.

## References
SpecForge checks that the true entries of `t2d` are `d2t` plus the draft ids.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import specimen, vocab_map
from registry.rules.vocabulary_map import of_map, reads_as_absolute


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when target ids read as offsets do not increase."""
    stored = case.inventory.vocab_map
    if stored is None or stored.offset_increasing or reads_as_absolute(case, stored):
        return
    message = (
        "the target ids of d2t (draft id plus offset) do not strictly increase; expected kept tokens in order: "
        "make the map again from them"
    )
    yield of_map(case, RULE.code, message, remedies=(Remedy.CONVERT,), severity=Severity.ERROR)


RULE = Rule(code="VOC103", name="d2t-not-increasing", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

PASSES = (specimen(),)

FAILS = (specimen(inventory=vocab_map(offset_increasing=False)),)
