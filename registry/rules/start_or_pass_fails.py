"""This build fails on the proposal in a way that no other rule explains.

## What it checks
Every failure that the reading foresees, at start or on a forward pass, and that no rule of its own covers: values
that are no list of ids, shapes that the build asserts.

## Why it matters
Whatever keeps a server from starting, or crashes it on the first pass, must not be a silent pass here.

## Example
`"eagle_aux_hidden_state_layer_ids": "2,30,58"`, a text where a list is meant.

## How to fix
The message of the failure says what the build trips over.

## Limits
Only failures that follow from config, tensors and class are foreseen: not memory, drivers or other options.

## References
The profile cites the source of each fact.
"""

from collections.abc import Iterator
from typing import Final

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.reading import Failure
from registry.rules import evidence
from registry.rules.drafter import build_name, used_at
from registry.rules.rule import Rule
from registry.rules.specimen import failure, reading, specimen

COVERED: Final = {
    "no_setter": "ENG102",
    "captures_nothing": "ENG102",
    "draft_class": "ENG103",
    "setter_raises": "TAP103",
    "too_few": "TAP103",
    "depth_zero": "TAP102",
    "tensor_refused": "WGT102",
    "layers": "WGT106",
    "launch": "LCH101",
}
"""Failures that another rule always turns into an error."""


_FACT: Final = {"start": "what keeps it from starting", "pass": "what fails on the forward pass"}
"""A foreseen failure as a fact, by when it happens."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per failure that is nobody else's."""
    for fails in case.reading.failures if case.reading else ():
        if fails.code not in COVERED and not _is_shape_rules(fails):
            yield _finding(case, fails)


def _is_shape_rules(fails: Failure) -> bool:
    """The shapes of `fc` and `lm_head` have rules of their own (TAP106, WGT104)."""
    return fails.code == "shape" and fails.message.startswith(("fc.weight ", "lm_head.weight "))


def _finding(case: Case, fails: Failure) -> Finding:
    how = "refuses to start" if fails.when == "start" else "crashes on a forward pass"
    is_value = fails.code == "bad_value"
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=f"{build_name(case)} {how}: {fails.message}",
        at=_place(case, fails),
        remedies=(Remedy.CONFIG,) if is_value else (Remedy.CONFIG, Remedy.CONVERT),
        evidence=(evidence.of_build(case, _FACT[fails.when], fails.message),),
    )


def _place(case: Case, fails: Failure) -> str:
    if fails.pointer:
        return f"/draft_config{fails.pointer}"
    return used_at(case) if fails.code == "bad_value" else "/draft_config"


RULE = Rule(
    code="ENG106",
    name="start-or-pass-fails",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(),)

FAILS = (
    specimen(reading=reading(taps=None, failures=failure("bad_value", "the ids are no list of whole numbers"))),
    specimen(reading=reading(failures=failure("shape", "norm.weight is [96]"))),
)
