"""The same weights are registered under another drafter with other facts.

## What it checks
Checkpoints of other drafters that have the same weights digest: do their records say the same? Taps are compared as
depths, so one state counted in two ways is one state. Facts that verdicts rest on, said by both records and
different, are a warning: trained taps with their stream, the verifier's last state with its norm, the target, the
standardization, draft semantics, tokenizer and template. Facts that only one record states, and facts that no verdict
rests on (steps, cost, tools), are a note.

## Why it matters
One set of weights has one training. Two records that contradict each other cannot both be right, and whoever finds
the wrong one first serves the wrong taps.

## Example
A head registered as `kimi-head@1` with taps 3, 31, 59 and as `team/kimi@4` with 2, 30, 58.

## How to fix
Find out which record is right, and correct the other with `roost provenance amend`.

## Limits
Only other drafters are compared; within one drafter different facts are a conflict. Taps that follow from neither
record cannot be compared.

## References
Identity of checkpoints: `docs/format.md`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from registry.domain.case import Case, Twin
from registry.domain.digests import comparable
from registry.domain.findings import Finding, Severity
from registry.domain.provenance import TrainedTaps
from registry.domain.taps import Tap, spell
from registry.rules import evidence
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import PROVENANCE, specimen, trained
from registry.rules.wording import listing

_COUNTED: Final = ("/capture/layers", "/capture/counting", "/capture/stream")
"""What taps follow from, together: no one of them means anything alone."""

_STATE: Final = "/capture/verifier_state"
_JUDGED: Final = ("/target", "/standardization/name", "/semantics/", "/tokenizer_digest", "/chat_template_digest")
"""Where the other facts begin that verdicts rest on."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per twin whose record says otherwise, or says more or less."""
    for twin in sorted(case.twins, key=lambda twin: twin.ref):
        pointers = tuple(_differing(case, twin))
        if pointers:
            yield _finding(case, twin, pointers)


def _differing(case: Case, twin: Twin) -> Iterator[str]:
    """Yield the pointers where the records differ in meaning, and not only in how a state is counted."""
    same_taps = _known(case.trained, twin) and case.trained.taps == _taps(twin).taps
    same_state = _known(case.trained, twin) and case.trained.verifier == _taps(twin).verifier
    for pointer in twin.facts_differ:
        counted_otherwise = pointer in _COUNTED and same_taps
        if not counted_otherwise and not (pointer.startswith(_STATE) and same_state):
            yield pointer


def _known(ours: TrainedTaps, twin: Twin) -> bool:
    return ours.taps is not None and _taps(twin).taps is not None


def _taps(twin: Twin) -> TrainedTaps:
    return twin.trained or TrainedTaps(taps=None)


def _finding(case: Case, twin: Twin, pointers: tuple[str, ...]) -> Finding:
    contradictions = tuple(_contradictions(case, twin, pointers))
    said = f"another record: {'; '.join(contradictions)}" if contradictions else _beside(twin, pointers)
    way = "find out which record is right, and correct the other with `roost provenance amend`"
    return Finding(
        code=RULE.code,
        severity=Severity.WARNING if contradictions else Severity.INFO,
        message=f"{twin.ref} has the same weights as {case.ref} and {said}" + (f": {way}" if contradictions else ""),
        at="/checkpoint",
        evidence=(
            evidence.stored("same weights", twin.ref, source="registry"),
            evidence.recorded(case, "records differ at", list(pointers)),
            evidence.trained(case),
            evidence.stored(f"trained taps of {twin.ref}", _written(twin), source="registry"),
        ),
    )


def _written(twin: Twin) -> list[object]:
    return evidence.written(_taps(twin).taps or ())


def _contradictions(case: Case, twin: Twin, pointers: tuple[str, ...]) -> Iterator[str]:
    """Yield, in words, each fact that verdicts rest on, that both records state, and that differs."""
    ours, theirs = case.trained, _taps(twin)
    if any(pointer in _COUNTED for pointer in pointers):
        if ours.taps is not None and theirs.taps is not None:
            yield f"trained on taps {spell(theirs.taps)}, not {spell(ours.taps)}"
        elif twin.trained is None:
            yield "they differ in what was captured"
    one, other = ours.verifier, theirs.verifier
    if one is not None and other is not None and one != other:
        yield f"the verifier's last state is {_state(other)}, not {_state(one)}"
    both = [
        p for p in pointers if p not in twin.left_out and p.startswith(_JUDGED) and not _incomparable(case, twin, p)
    ]
    if both:
        yield f"they differ in {listing(both)}"


def _state(state: Tap | str) -> str:
    return f"depth {state.depth} of {state.stream} with norm {state.norm}" if isinstance(state, Tap) else state


def _incomparable(case: Case, twin: Twin, pointer: str) -> bool:
    """Two kinds of digest say nothing about each other."""
    theirs = twin.provenance.target.digest if twin.provenance else None
    return pointer == "/target/digest" and not comparable(case.provenance.target.digest, theirs)


def _beside(twin: Twin, pointers: tuple[str, ...]) -> str:
    """Say how the records differ where they do not contradict each other in anything that is judged."""
    both = [pointer for pointer in pointers if pointer not in twin.left_out]
    parts = [f"other facts at {listing(both)}, which no verdict rests on"] if both else []
    if any(pointer in twin.left_out for pointer in pointers):
        lacking = listing(pointer for pointer in pointers if pointer in twin.left_out)
        parts.append(f"only one of the two records states {lacking}")
    if twin.trained is not None and twin.trained.taps is None:
        parts = [f"its trained taps are not known: {twin.trained.why_unknown}"]
    return "; ".join(parts)


RULE = Rule(
    code="TRN101",
    name="same-weights-other-facts",
    severity=Severity.WARNING,
    since="0.1.0",
    stages=BOTH,
    check=check,
)

_SHIFTED: Final = Twin(
    ref="copy@1",
    facts_differ=("/capture/counting", "/capture/layers", "/capture/verifier_state/layer"),
    provenance=PROVENANCE,
    trained=trained(3, 31, 59),
)
"""The same states, counted after the layer instead of before it."""

PASSES = (specimen(), specimen(twins=(Twin(ref="copy@1"),)), specimen(twins=(_SHIFTED,)))

FAILS = (
    specimen(twins=(Twin(ref="copy@1", facts_differ=("/capture/layers",)),)),
    specimen(twins=(replace(_SHIFTED, trained=trained(2, 30, 58)),)),
    specimen(twins=(replace(_SHIFTED, trained=trained(3, 31, 59, verifier=60)),)),
    specimen(twins=(replace(_SHIFTED, trained=TrainedTaps(taps=None, why_unknown="the counting is not known")),)),
    specimen(twins=(Twin(ref="copy@1", facts_differ=("/standardization/name",)),)),
    specimen(twins=(Twin(ref="copy@1", facts_differ=("/data", "/training/steps"), left_out=("/data",)),)),
)
