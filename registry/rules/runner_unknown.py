"""This build has no such model runner, or which one it picks is not known.

## What it checks
Whether the runner that was asked for exists in this build, and whether the build's own choice can be told.

## Why it matters
Runners of one build read ids from different keys. Without the runner nothing can be said about taps.

## Example
`--runner v2` on vLLM 0.11.2, which has only one runner.

## How to fix
Ask for a runner that the build has, or leave the choice to the build.

## Limits
A choice made by an option that is not read here is not seen.

## References
The profile cites where each runner is chosen.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import build_name
from registry.rules.rule import Rule
from registry.rules.specimen import profile, reading, specimen


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the runner is not one of the build's."""
    read, known = case.reading, case.profile
    if read is None or known is None or any(runner.name == read.runner for runner in known.runners):
        return
    names = [runner.name for runner in known.runners if runner.name]
    why = f": {read.runner_why}" if read.runner_why else ""
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=(
            f"which model runner of {build_name(case)} would serve this is not known{why}; "
            f"it has {', '.join(names) or 'a single runner without a name'}"
        ),
        at="/runner",
        remedies=(Remedy.CONFIG,) if read.runner else (Remedy.UNKNOWN,),
        evidence=(evidence.of_build(case, "runners", names),),
        unknown="model runner",
    )


RULE = Rule(
    code="ENG107",
    name="runner-unknown",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "profile", "reading"}),
    weighs_unknown=Severity.ERROR,
    check=check,
)

PASSES = (specimen(),)

FAILS = (
    specimen(reading=reading(runner="v2", runner_why="sglang==0.5.12.post1 has no runner v2", taps=None)),
    specimen(profile=profile(runners=()), reading=reading(taps=None)),
)
