"""`fc.weight` has another shape than the config says.

## What it checks
`fc.weight` is a matrix of (hidden size of the drafter) x (number of taps x hidden size of the target). Here: that it
is a matrix, that its rows are `hidden_size`, and that `target_hidden_size`, where the config has it, is the target's.
How many taps its columns make is another rule's business.

## Why it matters
Builds size `fc` from the config. A drafter narrower than its target is legal, and then the columns count the target's
hidden size, not the drafter's.

## Example
A head with hidden size 6144 for a target of hidden size 8192: `fc` takes 3 x 8192 = 24576 columns, not 3 x 6144.

## How to fix
Correct `hidden_size` or `target_hidden_size` where the other tensors show which is right.

## Limits
The bias of `fc` is not judged.

## References
Public reports: vllm #18906, vllm #28549, sglang #4716.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import whole
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import HIDDEN, config, inventory, specimen

_MATRIX = 2
_SIZES = ("hidden_size", "target_hidden_size")


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per way in which fc and the config disagree."""
    fc = case.inventory.find("fc.weight")
    if fc is None:
        return
    hidden, wide = whole(case.config, "hidden_size"), whole(case.config, "target_hidden_size")
    if len(fc.shape) != _MATRIX:
        yield _finding(
            case, f"{fc.name} is {list(fc.shape)}, expected a matrix", at="/checkpoint", remedy=Remedy.CONVERT
        )
    elif hidden is not None and fc.shape[0] != hidden:
        norm = case.inventory.find("norm.weight")
        config_is_wrong = norm is not None and norm.shape == fc.shape[:1]
        message = f"{fc.name} has {fc.shape[0]} rows, and the config's hidden_size is {hidden}"
        remedy = Remedy.CONFIG if config_is_wrong else Remedy.CONVERT
        yield _finding(case, message, at="/draft_config/hidden_size", remedy=remedy)
    target = case.trained_target.hidden_size if case.trained_target else None
    if wide is not None and target is not None and wide != target:
        message = f"the config's target_hidden_size is {wide}, and the target's hidden size is {target}"
        yield _finding(case, message, at="/draft_config/target_hidden_size", remedy=Remedy.CONFIG)


def _finding(case: Case, message: str, *, at: str, remedy: Remedy) -> Finding:
    fc = case.inventory.find("fc.weight")
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=message,
        at=at,
        remedies=(remedy,),
        evidence=(
            *((evidence.shape(fc),) if fc is not None else ()),
            *(evidence.configured(case, f"/{key}", case.config[key]) for key in _SIZES if key in case.config),
        ),
    )


RULE = Rule(code="WGT103", name="fc-shape", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

PASSES = (specimen(), specimen(config=config(target_hidden_size=HIDDEN)))

FAILS = (
    specimen(inventory=inventory(adding={"fc.weight": (HIDDEN,)})),
    specimen(config=config(hidden_size=2 * HIDDEN)),
    specimen(config=config(target_hidden_size=2 * HIDDEN)),
)
