"""The same weights are registered under another drafter with other facts.

## What it checks
Checkpoints of other drafters that have the same weights digest: do their records say the same?

## Why it matters
One set of weights has one training. Two records that differ cannot both be right, and whoever finds the wrong one
first serves the wrong taps.

## Example
A head registered as `kimi-head@1` with taps 3, 31, 59 and as `team/kimi@4` with 2, 30, 58.

## How to fix
Find out which record is right, and correct the other with `roost provenance amend`.

## Limits
Only other drafters are compared; within one drafter different facts are a conflict.

## References
Identity of checkpoints: `docs/format.md`.
"""

from collections.abc import Iterator

from registry.domain.case import Case, Twin
from registry.domain.findings import Finding, Severity
from registry.rules import evidence
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import specimen
from registry.rules.wording import listing


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per twin whose record differs."""
    for twin in sorted(case.twins, key=lambda twin: twin.ref):
        if twin.facts_differ:
            yield Finding(
                code=RULE.code,
                severity=Severity.WARNING,
                message=(
                    f"{twin.ref} has the same weights and another record; they differ at {listing(twin.facts_differ)}: "
                    "one of them needs `roost provenance amend`"
                ),
                at="/checkpoint",
                evidence=(
                    evidence.stored("same weights", twin.ref, source="registry"),
                    evidence.recorded(case, "differs at", list(twin.facts_differ)),
                ),
            )


RULE = Rule(
    code="TRN101",
    name="same-weights-other-facts",
    severity=Severity.WARNING,
    since="0.1.0",
    stages=BOTH,
    check=check,
)

PASSES = (specimen(), specimen(twins=(Twin(ref="copy@1"),)))

FAILS = (specimen(twins=(Twin(ref="copy@1", facts_differ=("/capture/layers",)),)),)
