"""The record of the dump contradicts the standardization step that made training features of it.

## What it checks
A standardization recipe says which dumped states became taps and which one became the verifier's last state.
`standardize_data_v1` concatenates all dumped states but the last. So `layers` with a `verifier_state` makes taps of
all `layers`; without one, `fc` must still take exactly `layers`, and the verifier's state stays unknown. An unknown
recipe makes the taps unknown.

## Why it matters
The list that the dump patch was asked for is often copied into the record with the verifier's state still in it.
Whoever then writes a config from it asks for one state too many, or for the wrong ones.

## Example
A dump of 3, 31, 59, 61 by `standardize_data_v1` and an `fc` over three states:

    "capture": {"counting": "before_layer", "layers": [3, 31, 59, 61]}

The last dumped state went to the verifier, so training saw three taps, not four.

## How to fix
List the states meant as features in `layers`, and name the last one as `verifier_state`. If all of them were meant as
features, `fc` must take them all.

## Limits
Whether the record tells the truth about the dump cannot be seen here: numbers can show it.

## References
speculators 0.3.0 to 0.9.0, its readers of dumped data. Public reports: speculators #705, Model-Optimizer #2201.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.standardization import RECIPES, Recipe
from registry.rules import evidence
from registry.rules.drafter import fc_states
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import HIDDEN, capture, inventory, specimen
from registry.rules.wording import counted, id_list, number


def check(case: Case) -> Iterator[Finding]:
    """Yield what the record and the recipe cannot both be right about."""
    recipe = RECIPES.get(case.provenance.standardization.name)
    if recipe is None:
        yield _unknown_recipe(case)
        return
    state = case.provenance.capture.verifier_state
    if recipe.verifier == "last" and state == "separate":
        message = f"verifier_state is 'separate', but {recipe.summary}: name the layer of the last dumped state"
        yield _finding(case, message, at="/provenance/capture/verifier_state")
    states = fc_states(case)
    if recipe.verifier == "last" and state != "separate" and states is not None:
        yield from _against_width(case, recipe, states)


def _against_width(case: Case, recipe: Recipe, states: int) -> Iterator[Finding]:
    capture = case.provenance.capture
    named, layers = capture.verifier_state, capture.layers
    # One state is what fc takes when there are no taps at all.
    if states == max(len(layers), 1):
        if named is None:
            yield _verifier_unknown(case, recipe)
        return
    at = "/provenance/capture/layers"
    if named is None:
        yield _finding(case, f"{_keeps_last(recipe)}: {_both_ways(len(layers), states)}", at=at)
    else:
        message = (
            f"with a verifier_state all of layers {id_list(layers)} are taps, so fc must have "
            f"{counted(len(layers), 'tap')}, but it has {number(states)}"
        )
        advice = _listed_twice(case, states) or _one_short(layers, states)
        yield _finding(case, message + advice, at=at)


def _keeps_last(recipe: Recipe) -> str:
    short = recipe.name.removeprefix("standardize_data_")
    return f"{short} keeps the last dumped state for the verifier"


def _both_ways(listed: int, states: int) -> str:
    return (
        f"either name it as verifier_state or fc must have {counted(listed, 'tap')}; "
        f"layers lists {number(listed)} and fc takes {number(states)}"
    )


def _listed_twice(case: Case, states: int) -> str:
    capture = case.provenance.capture
    state = capture.verifier_state
    if state is None or state == "separate" or capture.layers[-1:] != (state.layer,):
        return ""
    if states != len(capture.layers) - 1:
        return ""
    return f": layer {state.layer} is the verifier's state, leave it out of layers"


def _one_short(layers: tuple[int, ...], states: int) -> str:
    """A dump that delivered one state fewer than it was asked for gives the verifier a feature instead."""
    if states != len(layers) - 1:
        return ""
    return f": if the dump delivered one state fewer than it was asked for, the verifier's state was layer {layers[-1]}"


def _verifier_unknown(case: Case, recipe: Recipe) -> Finding:
    return Finding(
        code=RULE.code,
        # It matters to training only: what is served does not depend on it.
        severity=Severity.INFO,
        message=f"{_keeps_last(recipe)}, and the record names no verifier_state: which state that was is not known",
        at="/provenance/capture/verifier_state",
        evidence=_evidence(case),
        unknown="verifier's last state",
    )


def _unknown_recipe(case: Case) -> Finding:
    name = case.provenance.standardization.name
    known = ", ".join(sorted(RECIPES))
    return Finding(
        code=RULE.code,
        severity=Severity.WARNING,
        message=f"the standardization {name!r} is not known here (known: {known}), so the trained taps are not known",
        at="/provenance/standardization/name",
        remedies=(Remedy.UNKNOWN,),
        evidence=(evidence.recorded(case, "/standardization/name", name),),
        unknown="trained taps",
    )


def _finding(case: Case, message: str, *, at: str) -> Finding:
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=message,
        at=at,
        remedies=(Remedy.UNKNOWN,),
        evidence=_evidence(case),
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    fc, record = case.inventory.find("fc.weight"), case.provenance
    shapes = () if fc is None else (evidence.shape(fc),)
    return (
        evidence.recorded(case, "/capture/layers", list(record.capture.layers)),
        evidence.recorded(case, "/standardization/name", record.standardization.name),
        *shapes,
    )


RULE = Rule(
    code="TAP107",
    name="record-against-standardization",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    weighs_unknown=Severity.WARNING,
    refuses_registration=True,
    check=check,
)

PASSES = (
    specimen(),
    specimen(provenance=capture(3, 31, 59, recipe="standardize_data_v0", verifier_state="separate")),
)

FAILS = (
    specimen(provenance=capture(3, 31, 59, 61, verifier_state=None)),
    specimen(provenance=capture(3, 31, 59, 61)),
    specimen(provenance=capture(3, 31, 59, verifier_state=None)),
    specimen(provenance=capture(3, 31, 59, verifier_state="separate")),
    specimen(provenance=capture(3, 31, 59, recipe="mine")),
    specimen(inventory=inventory(adding={"fc.weight": (HIDDEN, 2 * HIDDEN)})),
)
