"""`fc` takes another number of states than the record, the config or the build says.

## What it checks
`fc.weight` takes (number of taps) x (hidden size of the target) columns. That number against the trained taps (at
registration too), against the ids in the config, and against the count for which this build sizes `fc`. Also whether
the build skips `fc` altogether because what is captured is as wide as the embedding.

## Why it matters
It is the one trace that taps leave in the weights. A wrong number fails at load or on the first draft pass; a record
that disagrees with the weights describes some other checkpoint.

## Example
A drafter of four taps on a build that always assumes three: `fc` is 4096 x 16384, the build makes 4096 x 12288.

## How to fix
State the count where the build reads one (`num_aux_hidden_states`, or the ids it counts); else use a build that
reads it. If the record is wrong, correct it. A head of zero taps (`use_aux_hidden_state: false`) has an `fc` over one
hidden state.

## Limits
The number says nothing about which states they were: one layer off has the same shape.

## References
Public reports: vllm #54526, vllm #40656, EAGLE #294.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.standardization import RECIPES
from registry.rules import evidence
from registry.rules.drafter import build_name, fc_states, target_hidden, used_at
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import HIDDEN, capture, drafted, failure, ids, inventory, reading, specimen, trained
from registry.rules.tap_remedies import counts_taps
from registry.rules.wording import counted


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per count that disagrees with the width of fc."""
    fc, hidden, states = case.inventory.find("fc.weight"), target_hidden(case), fc_states(case)
    if fc is not None and hidden and states is None:
        message = f"{fc.name} is {list(fc.shape)}: its columns are no whole number of the target's states of {hidden}"
        yield _finding(case, message, at="/checkpoint", remedies=(Remedy.UNKNOWN,))
    if states is not None:
        yield from _against_record(case, states)
    if case.reading is not None:
        yield from _against_build(case, states)


def _against_record(case: Case, states: int) -> Iterator[Finding]:
    wanted = case.trained.taps
    recipe = RECIPES.get(case.provenance.standardization.name)
    # A recipe that keeps the last state explains its own count: that is record-against-standardization.
    if wanted is None or (recipe is not None and recipe.verifier == "last"):
        return
    expected = max(len(wanted), 1)
    if states != expected:
        message = (
            f"fc takes {counted(states, 'state')} and the record says {counted(len(wanted), 'tap')}: "
            "one of them belongs to another checkpoint"
        )
        yield _finding(case, message, at="/provenance/capture/layers", remedies=(Remedy.UNKNOWN,))


def _against_build(case: Case, states: int | None) -> Iterator[Finding]:
    read = case.reading
    if read is None or read.draft is None:
        return
    draft, failure = read.draft, read.failure("shape")
    wants_taps = case.trained.taps != ()
    if draft.fc_bypassed and wants_taps:
        message = f"{build_name(case)} skips fc without a word, since what it captures is as wide as the embedding"
        yield _finding(case, message, at=used_at(case), remedies=(Remedy.CONFIG,))
    if states is not None and draft.tap_count is not None and draft.tap_count != states and wants_taps:
        message = (
            f"fc takes {counted(states, 'state')}, and {build_name(case)} sizes it for {draft.tap_count} "
            f"({draft.tap_count_from}); {_way_out(case, states)}"
        )
        yield _finding(case, message, at=_count_at(case), remedies=_count_remedies(case))
    elif failure is not None and failure.message.startswith("fc."):
        yield _finding(case, failure.message, at="/draft_config", remedies=_shape_remedies(case))
    count = len(read.used.ids) if read.used and read.used.ids is not None else None
    if states is not None and count is not None and count not in (states, draft.tap_count):
        message = f"fc takes {counted(states, 'state')}, and the config names {counted(count, 'id')}"
        yield _finding(case, message, at=used_at(case), remedies=(Remedy.CONFIG,))


def _shape_remedies(case: Case) -> tuple[Remedy, ...]:
    """A head of no taps has an `fc` over one state, which only a build that reads a count can be told."""
    can_be_told = case.trained.taps != () or counts_taps(case)
    return (Remedy.CONFIG, Remedy.ENGINE) if can_be_told else (Remedy.ENGINE,)


def _way_out(case: Case, states: int) -> str:
    if counts_taps(case):
        return f"set num_aux_hidden_states to {states}"
    return "it reads no count, so another build is needed"


def _count_at(case: Case) -> str:
    source = case.reading.draft.tap_count_from if case.reading and case.reading.draft else ""
    return f"/draft_config{source}" if source.startswith("/") else "/draft_config"


def _count_remedies(case: Case) -> tuple[Remedy, ...]:
    """A build that reads a count can be told; one that always assumes three cannot."""
    return (Remedy.CONFIG,) if counts_taps(case) else (Remedy.ENGINE,)


def _finding(case: Case, message: str, *, at: str, remedies: tuple[Remedy, ...]) -> Finding:
    return Finding(
        code=RULE.code, severity=Severity.ERROR, message=message, at=at, remedies=remedies, evidence=_evidence(case)
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    fc, hidden = case.inventory.find("fc.weight"), target_hidden(case)
    shapes = () if fc is None else (evidence.shape(fc),)
    return (*shapes, evidence.of_target(case.provenance.target.name, "hidden size", hidden), evidence.trained(case))


RULE = Rule(
    code="TAP106",
    name="tap-count-against-fc-width",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

_FOUR = inventory(adding={"fc.weight": (HIDDEN, 4 * HIDDEN)})
_ONE = inventory(adding={"fc.weight": (HIDDEN, HIDDEN)})

PASSES = (
    specimen(),
    specimen(inventory=_ONE, trained=trained(), provenance=capture(recipe="standardize_data_v0"), reading=None),
)

FAILS = (
    specimen(inventory=_FOUR),
    specimen(inventory=_FOUR, provenance=capture(3, 31, 59, recipe="standardize_data_v0"), reading=None),
    specimen(inventory=inventory(adding={"fc.weight": (HIDDEN, 200)}), reading=None),
    specimen(reading=reading(found=(ids(2, 30),))),
    specimen(reading=drafted(fc_bypassed=True)),
    specimen(reading=reading(failures=failure("shape", "fc.weight is [64, 192], but this build makes it [64, 128]"))),
)
