"""The target has another hidden size than the one the drafter was trained for.

## What it checks
The hidden size of the target it was trained for against that of the target it will run on.

## Why it matters
`fc` takes a fixed number of columns per captured state. On another width nothing fits, whatever the config says.

## Example
A head for the 70B model of a family in front of its 8B model.

## How to fix
Run on a target of the trained width, or train a head for this one.

## Limits
Equal widths do not make two targets the same.

## References
Public report: sglang #4716 (the same question for the drafter's own, legal, width).
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import HIDDEN, specimen, target


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the widths differ or the target's is not known."""
    target, trained = case.target, case.trained_target
    if target is None:
        return
    if target.hidden_size is None:
        message = f"the hidden size of {target.label} is not known: its config holds none"
        yield Finding(
            code=RULE.code,
            severity=Severity.WARNING,
            message=message,
            at="/target",
            remedies=(Remedy.UNKNOWN,),
            unknown="target hidden size",
        )
    elif trained is not None and trained.hidden_size not in (None, target.hidden_size):
        yield Finding(
            code=RULE.code,
            severity=Severity.ERROR,
            message=f"trained for hidden size {trained.hidden_size}, and {target.label} has {target.hidden_size}",
            at="/target",
            remedies=(Remedy.OTHER_TARGET, Remedy.RETRAIN),
            evidence=(
                evidence.of_target(trained.label, "hidden size", trained.hidden_size),
                evidence.of_target(target.label, "hidden size", target.hidden_size),
            ),
        )


RULE = Rule(
    code="TGT102",
    name="hidden-size-differs",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "target"}),
    weighs_unknown=Severity.WARNING,
    check=check,
)

PASSES = (specimen(), specimen(trained_target=None))

FAILS = (specimen(target=target(hidden_size=2 * HIDDEN)), specimen(target=target(hidden_size=None)))
