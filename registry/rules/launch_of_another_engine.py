"""The launch line starts another engine than the one that is judged.

## What it checks
Where the launch text is a whole command line, which engine's server it starts: `python -m sglang.launch_server`,
`sglang serve`, `vllm serve`, `python -m vllm.entrypoints.openai.api_server`.

## Why it matters
Each engine has options of its own, so nothing of the line would be read, and a verdict on one engine would be taken
for the other's. The same config may be right on the one and wrong on the other.

## Example
`--engine sglang==0.5.23 --launch 'vllm serve moonshotai/Kimi-K2.5 --enforce-eager'`

## How to fix
Name the engine build that the line starts, or give the line that starts this one.

## Limits
A launcher that is not known, such as a script of one's own, is taken for bare options.

## References
Launchers as the documentation of SGLang and vLLM names them.
"""

from collections.abc import Iterator
from dataclasses import replace

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.proposal import Launch
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import SPECIMEN, specimen


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the line starts another engine."""
    proposal = case.proposal
    launch = proposal.launch if proposal else None
    if proposal is None or launch is None or launch.starts in (None, proposal.build.engine):
        return
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=(
            f"the launch line starts {launch.starts}, and the build to judge is {proposal.build}: none of its options "
            f"was read; name a build of {launch.starts}, or give the line that starts {proposal.build.engine}"
        ),
        at="/launch",
        remedies=(Remedy.CONFIG,),
        evidence=(evidence.launched("server that it starts", launch.starts),),
    )


RULE = Rule(
    code="LCH102",
    name="launch-of-another-engine",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "launch"}),
    check=check,
)


def _starting(engine: str | None) -> Case:
    launch = Launch(text="a line", starts=engine)
    return specimen(proposal=replace(SPECIMEN.proposal, launch=launch))  # type: ignore[type-var]  # it has one


PASSES = (specimen(), _starting(None), _starting("sglang"))

FAILS = (_starting("vllm"),)
