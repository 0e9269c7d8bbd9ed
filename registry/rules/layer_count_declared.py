"""The config declares another number of decoder layers than the file holds.

## What it checks
`num_hidden_layers` against the decoder layers that the tensors make up, and whether the build's draft class takes
that many.

## Why it matters
A draft config is often made from the target's. Builds that take exactly one layer refuse to start; builds that take
many make the missing ones with whatever they are built with.

## Example
A public EAGLE-3 head for Vicuna-13B declares `num_hidden_layers: 40` and stores a single `midlayer`.

## How to fix
Set `num_hidden_layers` to what is stored. The weights stay as they are.

## Limits
A config without the key is not judged.

## References
Public reports: sglang #33966, SpecForge #129.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import whole
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import config, failure, inventory, reading, specimen
from registry.rules.wording import plural


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when declared and stored layers differ, or the build refuses their number."""
    declared, stored = whole(case.config, "num_hidden_layers"), case.inventory.stored_layers
    refused = case.reading.failure("layers") if case.reading else None
    differs = declared is not None and stored > 0 and declared != stored
    if not differs and refused is None:
        return
    parts = []
    if differs:
        are = plural(stored, "layer is", "layers are")
        parts.append(f"num_hidden_layers is {declared}, but {stored} {are} stored: set it to {stored}")
    if refused is not None:
        parts.append(refused.message)
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message="; ".join(parts),
        at="/draft_config/num_hidden_layers",
        remedies=(Remedy.CONFIG,) if differs else (Remedy.ENGINE,),
        evidence=(
            evidence.configured(case, "/num_hidden_layers", declared),
            evidence.stored("decoder layers stored", stored),
        ),
    )


RULE = Rule(
    code="WGT106", name="layer-count-declared", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check
)

_TWO = inventory(renaming=("midlayer.", "layers.0."), adding={"layers.1.self_attn.q_proj.weight": (64, 64)})

PASSES = (specimen(), specimen(inventory=_TWO, config=config(num_hidden_layers=2)))

FAILS = (
    specimen(config=config(num_hidden_layers=40)),
    specimen(
        inventory=_TWO, config=config(num_hidden_layers=2), reading=reading(failures=failure("layers", "one only"))
    ),
)
