"""The config names no taps, so the build takes its own default.

## What it checks
Whether any list of layer ids is in the draft config at all. Without one, every build captures its default, which is
depths 2, N//2 and N-3 nearly everywhere.

## Why it matters
The server is healthy and the text is right, since the target verifies every token; only acceptance falls. One public
head lost all but 1.2 % of its acceptance this way.

## Example
An EAGLE-3 head for an 80-layer target whose config has no `eagle_aux_hidden_state_layer_ids`: vLLM captures depths
2, 40, 77 without saying so.

## How to fix
Write the ids that this build reads as the trained taps. `roost emit` does it.

## Limits
Where the default happens to equal the trained taps this is a warning: the next build may have another default.

## References
Public report: vllm #50170.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.taps import spell
from registry.rules import evidence
from registry.rules.drafter import build_name
from registry.rules.rule import Rule
from registry.rules.specimen import phases, reading, specimen
from registry.rules.tap_remedies import for_taps


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when no ids are given."""
    read, wanted = case.reading, case.trained.taps
    if read is None or read.found or not read.captures or read.taps is None:
        return
    agrees = wanted is not None and read.taps.prefill == read.taps.decode == wanted
    start = f"the draft config declares no taps, and {build_name(case)} captures its default {spell(read.taps.prefill)}"
    yield Finding(
        code=RULE.code,
        severity=Severity.WARNING if agrees else Severity.ERROR,
        message=f"{start}; {_compared(case, agrees=agrees)}",
        at="/draft_config",
        remedies=(Remedy.CONFIG,) if agrees else for_taps(case),
        evidence=(evidence.trained(case), evidence.effective(case, "prefill", read.taps.prefill)),
        unknown="trained taps" if wanted is None else None,
    )


def _compared(case: Case, *, agrees: bool) -> str:
    if agrees:
        return "that is what it was trained on, by luck of this default: declare them"
    if case.trained.taps is None:
        return f"whether that is right is not known: {case.trained.why_unknown}"
    return f"training had {spell(case.trained.taps)}"


RULE = Rule(
    code="TAP104",
    name="taps-undeclared",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    weighs_unknown=Severity.ERROR,
    check=check,
)

PASSES = (specimen(), specimen(reading=reading(found=(), captures=False, taps=phases(()))))

FAILS = (
    specimen(reading=reading(found=(), requested=(), taps=phases((2, 30, 58)))),
    specimen(reading=reading(found=(), requested=())),
)
