"""A depth is asked for that this build never captures on this target.

## What it checks
Requested depths that do not exist, or exist and are not reached by the class's forward pass: above the layer count,
negative, or the state after the last layer where the class drops it. Also setters that raise, and a number of
captured states that `fc` cannot take.

## Why it matters
Most classes drop such an id without a word. Fewer states are then captured than `fc` takes, which fails on the first
draft pass, or the server does not start.

## Example
A target of 61 layers on a build whose ids are outputs of layers:

    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 30, 60]}

Id 60 is depth 61, the state after the last layer. The class never captures it.

## How to fix
Ask for the trained taps. If depth N itself was trained, use a build whose class captures it.

## Limits
Pipeline parallelism, where a rank owns only some layers, is not judged.

## References
Public report: speculators #705 (a dump of the last state that held one state fewer).
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.taps import depths_of
from registry.rules import evidence
from registry.rules.drafter import build_name, class_name, used_at
from registry.rules.rule import Rule
from registry.rules.specimen import failure, phases, reading, specimen
from registry.rules.tap_remedies import counts_taps, for_taps
from registry.rules.wording import plural


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding for lost depths, a setter that raises, or a count that fc cannot take."""
    read = case.reading
    if read is None:
        return
    if case.target_facts is not None and case.target_facts.captures == "nothing":
        return  # whatever is asked for: target-class-unsupported says so
    raises, few = read.failure("setter_raises"), read.failure("too_few")
    if not read.lost and raises is None and few is None:
        return
    parts = [_lost(case, read.lost)] if read.lost else []
    parts += [failure.message for failure in (raises, few) if failure is not None]
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message="; ".join(parts),
        at=used_at(case),
        remedies=_remedies(case),
        evidence=(
            evidence.trained(case),
            evidence.stored("depths asked for", list(read.requested), source="reading"),
            evidence.stored("of them never captured", list(read.lost), source="reading"),
        ),
    )


def _lost(case: Case, lost: tuple[int, ...]) -> str:
    layers = case.target.layers if case.target else None
    depths = ", ".join(str(depth) for depth in lost)
    limit = f"the target has {layers} layers" if layers else "the target's layer count is not known"
    last = ", and the state after the last one is not captured" if layers in lost else ""
    verb = plural(len(lost), "depth", "depths")
    return f"{build_name(case)} never captures {verb} {depths} on {class_name(case)}: {limit}{last}"


def _remedies(case: Case) -> tuple[Remedy, ...]:
    read, wanted = case.reading, case.trained.taps
    if read is not None and wanted is not None and set(read.lost) & set(depths_of(wanted)):
        return (Remedy.ENGINE,)
    draft = read.draft if read is not None else None
    if wanted and draft is not None and draft.tap_count != len(wanted) and not counts_taps(case):
        return (Remedy.ENGINE,)
    return for_taps(case)


RULE = Rule(
    code="TAP103",
    name="tap-out-of-range",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(),)

FAILS = (
    specimen(reading=reading(taps=phases((3, 31)), requested=(3, 31, 61), lost=(61,))),
    specimen(reading=reading(taps=None, failures=failure("setter_raises", "the setter indexes 61 layers with 61"))),
    specimen(reading=reading(taps=phases((3, 31)), failures=failure("too_few", "2 states are captured", "pass"))),
)
