"""The record names a hidden state that the target does not have.

## What it checks
Every number of `capture.layers` and of `capture.verifier_state`, turned into a depth by the record's own `counting`:
it must lie between 0, the embedding output, and N, the output of the last of the target's N layers.

## Why it matters
No engine can capture such a state, so no build and no config would ever pass, and the fault would seem to be theirs.
The drafter was trained on something else, and nobody knows on what until the record is corrected.

## Example
A target of 61 layers, and 99 where 59 was meant:

    "capture": {"counting": "before_layer", "layers": [3, 31, 99]}

## How to fix
Look up what the dump patch was asked for and correct the record. `before_layer` counts states entering layers (k is
depth k), `after_layer` outputs of layers (k is depth k + 1): numbers that are off by one at an end often have the
other counting. At registration correct provenance.json; later use `roost provenance amend`.

## Limits
Where the target's layer count is not known, only depths below 0 are seen. A wrong number within the range looks like
any other; only numbers measured while serving can show it.

## References
Depths and countings: `docs/concepts.md`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.provenance import VerifierState, plain_counting
from registry.domain.taps import Tap
from registry.rules import evidence
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import capture, specimen, trained
from registry.rules.wording import listing


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding for impossible features and one for an impossible verifier's state."""
    record, impossible = case.provenance.capture, case.trained.impossible
    if not impossible:
        return
    features = [
        (number, depth)
        for number, depth in zip(record.layers, case.trained.features, strict=False)
        if depth in impossible
    ]
    if features:
        yield _finding(case, "layers", features, list(record.layers))
    state, verifier = record.verifier_state, case.trained.verifier
    if isinstance(state, VerifierState) and isinstance(verifier, Tap) and verifier.depth in impossible:
        yield _finding(case, "verifier_state", [(state.layer, verifier.depth)], state.layer)


def _finding(case: Case, member: str, wrong: Sequence[tuple[int, int]], written: object) -> Finding:
    counting, target = case.provenance.capture.counting, case.trained_target
    layers = target.layers if target is not None else None
    numbers = listing(f"{number} (depth {depth})" for number, depth in wrong)
    limit = f"{target.label} has the depths 0 to {layers}" if target and layers else "no target has depths below 0"
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=(
            f"capture.{member} of the record names {numbers}, counted as {counting}, and {limit}: {_way_out(case)}"
        ),
        at=f"/provenance/capture/{member}",
        remedies=(Remedy.UNKNOWN,),
        evidence=(
            evidence.recorded(case, f"/capture/{member}", written),
            evidence.recorded(case, "/capture/counting", counting),
            *_layers_of_target(case),
        ),
        unknown="trained taps" if member == "layers" else "verifier's last state",
    )


def _layers_of_target(case: Case) -> tuple[Evidence, ...]:
    target = case.trained_target
    return (
        () if target is None or target.layers is None else (evidence.of_target(target.label, "layers", target.layers),)
    )


def _way_out(case: Case) -> str:
    """Say how to correct it; one layer too far in one direction is most often the other counting."""
    where = f"amend it with `roost provenance amend {case.ref}`" if case.proposal else "correct it in provenance.json"
    shift = plain_counting(case.provenance.capture.counting)
    layers = case.trained_target.layers if case.trained_target else None
    off_by_one = {1: (layers or 0) + 1, 0: -1}.get(shift if shift is not None else 2)
    if case.trained.impossible != (off_by_one,):
        return where
    other = "before_layer" if shift else "after_layer"
    return f"{where} (perhaps the numbers are counted as {other})"


RULE = Rule(
    code="TAP109",
    name="record-beyond-target",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    weighs_unknown=Severity.ERROR,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(trained_target=None))

FAILS = (
    specimen(
        provenance=capture(3, 31, 99), trained=replace(trained(3, 31, 99), taps=None, impossible=(99,)), reading=None
    ),
    specimen(
        provenance=capture(3, 31, 59, verifier_state=VerifierState(layer=62)),
        trained=replace(trained(3, 31, 59, verifier=62), impossible=(62,)),
        proposal=None,
    ),
    specimen(
        provenance=capture(3, 31, 61, counting="after_layer"),
        trained=replace(trained(4, 32, 62), taps=None, impossible=(62,)),
    ),
    specimen(
        trained_target=None,
        provenance=capture(-1, 31, 59),
        trained=replace(trained(-1, 31, 59), taps=None, impossible=(-1,)),
    ),
)
