"""The embedding output is tapped, and training never captured it.

## What it checks
Whether the ids ask for depth 0, the embedding output, although the training dump never held it; and whether the build
fails when it captures depth 0 on the target's class.

## Why it matters
The founding mistake: an analysis found the embedding "missing", the config went from `[2, 30, 58]` to `[-1, 2, 30]`,
and the engine was patched to capture the embedding. The dump had held depths 3, 31, 59 all along.

## Example
On a build whose ids are outputs of layers, the id -1 is the embedding:

    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [-1, 2, 30]}

## How to fix
Ask for the trained taps. Where training did use the embedding and the build fails on it, another build is needed:
before layer 0 there is no residual, and a class that adds it unguarded raises.

## Limits
Whether the dump held depth 0 is taken from the record. A dump patch that captured more than it was asked for needs
a corrected record.

## References
SGLang and vLLM classes that fail on depth 0 are facts of their profiles.
"""

from collections.abc import Iterator
from typing import Final

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.taps import depths_of
from registry.rules import evidence
from registry.rules.drafter import used_at
from registry.rules.rule import Rule
from registry.rules.specimen import failure, phases, reading, specimen, trained
from registry.rules.tap_remedies import for_taps

_ZERO: Final = {
    "captured": "is captured",
    "raises": "fails on the forward pass",
    "unresolved": "what happens to it is not established",
}
"""What a class does with depth 0, in words."""

_CRASH = "this build fails when it captures depth 0 on this class"


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when depth 0 is asked for in vain or fails."""
    read = case.reading
    if read is None:
        return
    fails = read.failure("depth_zero")
    stranger = _is_tapped(case) and not _was_captured(case)
    if not stranger and fails is None:
        return
    parts = ["depth 0 is the embedding output and was never captured in training"] if stranger else []
    if fails is not None:
        parts.append(f"{'also: ' if stranger else ''}{_CRASH} ({fails.message})")
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message="; ".join(parts),
        at=used_at(case),
        remedies=for_taps(case) if stranger else (Remedy.ENGINE,),
        evidence=(
            evidence.trained(case),
            evidence.stored("depths asked for", list(read.requested), source="reading"),
            *((evidence.of_class(case, "depth 0", _ZERO[case.target_facts.depth_zero]),) if case.target_facts else ()),
        ),
    )


def _is_tapped(case: Case) -> bool:
    read = case.reading
    if read is None:
        return False
    effective = (*read.taps.prefill, *read.taps.decode) if read.taps else ()
    return 0 in (*read.requested, *depths_of(effective))


def _was_captured(case: Case) -> bool:
    """Tell whether the dump held depth 0; a dump nobody knows is another rule's finding."""
    held = case.trained.captured
    if held is not None:
        return 0 in held
    return case.trained.taps is None or 0 in depths_of(case.trained.taps)


RULE = Rule(
    code="TAP102",
    name="embedding-tapped",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (
    specimen(),
    specimen(trained=trained(0, 3, 31), reading=reading(taps=phases((0, 3, 31)), requested=(0, 3, 31))),
)

FAILS = (
    specimen(reading=reading(taps=phases((0, 3, 31)), requested=(0, 3, 31))),
    specimen(
        reading=reading(
            taps=phases((0, 3, 31)),
            requested=(0, 3, 31),
            failures=failure("depth_zero", "there is no residual before layer 0"),
        )
    ),
)
