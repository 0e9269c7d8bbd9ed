"""The launch line starts the server without the drafter.

## What it checks
Where the launch text is a whole command line of this engine: does any option ask for speculative decoding
(`--speculative-algorithm` in SGLang, `--speculative-config` in vLLM)?

## Why it matters
The server starts, the text is right and nothing is drafted. Whoever measures it afterwards measures the target alone.

## Example
    python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8

## How to fix
Add the options that `roost emit` writes into `launch.args`.

## Limits
A line that takes options from a file (`--config`) or from a variable of the shell is not judged, nor are bare options.

## References
It is told and does not weigh: taps, weights and options that are there can still be right, and many people ask with
the rest of their line before they add the drafter. Options as the documentation of SGLang and vLLM names them.
"""

from collections.abc import Iterator
from dataclasses import replace

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.proposal import Launch, Speculation
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import SPECIMEN, specimen


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when a whole line asks for no speculative decoding."""
    proposal = case.proposal
    launch = proposal.launch if proposal else None
    if proposal is None or launch is None or launch.starts != proposal.build.engine:
        return
    if launch.speculation is None and not launch.elsewhere:
        yield Finding(
            code=RULE.code,
            severity=Severity.INFO,
            message=(
                f"this line starts the server of {launch.starts} without the drafter: no option asks for speculative "
                "decoding; add those that `roost emit` writes into launch.args"
            ),
            at="/launch",
            remedies=(Remedy.CONFIG,),
            evidence=(evidence.launched("server that it starts", launch.starts),),
        )


RULE = Rule(
    code="LCH103",
    name="speculation-not-asked-for",
    severity=Severity.INFO,
    since="0.1.0",
    parts=frozenset({"proposal", "launch"}),
    check=check,
)


def _line(**changes: object) -> Case:
    launch = replace(Launch(text="a line", starts="sglang"), **changes)  # type: ignore[arg-type]  # fields of Launch
    return specimen(proposal=replace(SPECIMEN.proposal, launch=launch))  # type: ignore[type-var]  # it has one


PASSES = (
    specimen(),
    _line(starts=None),
    _line(starts="vllm"),
    _line(elsewhere=True),
    _line(speculation=Speculation(option="--speculative-algorithm", method="EAGLE3")),
)

FAILS = (_line(),)
