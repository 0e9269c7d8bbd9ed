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
A key that nearly is one that this build reads is named; a name of somebody's own is not recognized. Where the default
happens to equal the trained taps this is a warning: the next build may have another default.

## References
Public report: vllm #50170.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.taps import spell
from registry.rules import evidence
from registry.rules.drafter import build_name
from registry.rules.rule import Rule
from registry.rules.specimen import config, phases, reading, specimen
from registry.rules.tap_remedies import for_taps

_NEAR: Final = 0.5
_VERY_NEAR: Final = 0.8
"""How alike two keys must be (1 is equal) where the value is a list of numbers, and where it is something else."""

_MOST_HINTS: Final = 2


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when no ids are given."""
    read, wanted = case.reading, case.trained.taps
    if read is None or read.found or not read.captures or read.taps is None:
        return
    agrees = wanted is not None and read.taps.prefill == read.taps.decode == wanted
    start = f"the draft config declares no taps, and {build_name(case)} captures its default {spell(read.taps.prefill)}"
    meant = misspelled(case)
    yield Finding(
        code=RULE.code,
        severity=Severity.WARNING if agrees else Severity.ERROR,
        message=f"{start}; {_compared(case, agrees=agrees)}{''.join(f'; {hint}' for hint in meant)}",
        at="/draft_config",
        remedies=(Remedy.CONFIG,) if agrees else for_taps(case),
        evidence=(evidence.trained(case), evidence.effective(case, "prefill", read.taps.prefill)),
        unknown="trained taps" if wanted is None else None,
    )


def misspelled(case: Case) -> tuple[str, ...]:
    """Say which keys of the draft config look like one that this build reads ids from, and which one that is."""
    runner = next((r for r in case.profile.runners if r.name == _runner(case)), None) if case.profile else None
    known = {key.pointer.rpartition("/")[2]: key.pointer for key in reversed(runner.keys)} if runner else {}
    if not known:
        return ()
    hints = []
    for pointer, value in _members(case.config):
        near = _nearest(pointer.rpartition("/")[2], tuple(known), value)
        if near is not None and pointer not in known.values():
            hints.append(f"{pointer} is no key that it reads: did you mean {known[near]}?")
    return tuple(hints[:_MOST_HINTS])


def _runner(case: Case) -> str | None:
    return case.reading.runner if case.reading else None


def _members(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield (pointer, value) of each member that is no object, at the top level and one below."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from ((f"/{key}/{inner}", below) for inner, below in value.items() if not isinstance(below, Mapping))
        else:
            yield f"/{key}", value


def _nearest(name: str, known: tuple[str, ...], value: object) -> str | None:
    """Return the known key that `name` is nearest to: a list of numbers may be called a lot, another value must be."""
    from difflib import get_close_matches  # noqa: PLC0415  # only a config without ids needs it

    ids = isinstance(value, list | tuple) and bool(value) and all(type(item) is int for item in value)
    if not ids and not isinstance(value, str | list | tuple):
        return None
    near = get_close_matches(name, known, n=1, cutoff=_NEAR if ids else _VERY_NEAR)
    return near[0] if near else None


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
    specimen(
        config=config(eagle_config={"aux_layer_ids": [2, 30, 58]}),
        reading=reading(found=(), requested=(), taps=phases((2, 30, 58))),
    ),
)
