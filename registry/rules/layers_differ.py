"""The target has another number of layers than the one the drafter was trained for.

## What it checks
The layer count of the target it was trained for against that of the target it will run on.

## Why it matters
Depths are counted from the bottom, and defaults from both ends. On another layer count the same depth is another
state, and a default moves.

## Example
A head for a model of 61 layers in front of a pruned one of 48.

## How to fix
Run on a target of the trained depth, or train a head for this one.

## Limits
A layer count that is not known blocks: what the build captures cannot be told without it.

## References
Defaults of the engines: depths 2, N//2 and N-3.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.target import Target
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import LAYERS, specimen, target


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the layer counts differ or one of them is not known."""
    target, trained = case.target, case.trained_target
    if target is None:
        return
    nameless = next((one for one in (target, trained) if one is not None and one.layers is None), None)
    if nameless is not None:
        yield _unknown(nameless)
    elif trained is not None and trained.layers != target.layers:
        yield Finding(
            code=RULE.code,
            severity=Severity.ERROR,
            message=f"trained for a target of {trained.layers} layers, and {target.label} has {target.layers}",
            at="/target",
            remedies=(Remedy.OTHER_TARGET, Remedy.RETRAIN),
            evidence=(
                evidence.of_target(trained.label, "layers", trained.layers),
                evidence.of_target(target.label, "layers", target.layers),
            ),
        )


def _unknown(target: Target) -> Finding:
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=f"the layer count of {target.label} is not known: its config holds no num_hidden_layers",
        at="/target",
        remedies=(Remedy.UNKNOWN,),
        unknown="layer count",
    )


RULE = Rule(
    code="TGT103",
    name="layers-differ",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "target"}),
    weighs_unknown=Severity.ERROR,
    check=check,
)

PASSES = (specimen(), specimen(trained_target=None))

FAILS = (specimen(target=target(layers=LAYERS + 1)), specimen(target=target(layers=None)))
