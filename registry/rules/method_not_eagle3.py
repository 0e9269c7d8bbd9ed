"""The launch options select another method than EAGLE-3, or cannot be read.

## What it checks
The option that selects the method of speculative decoding, where the launch line has one: SGLang's
`--speculative-algorithm` (in any case), the `method` of vLLM's `--speculative-config`, and whether that is JSON.

## Why it matters
Only EAGLE-3 captures states on the way through the target. `EAGLE` (`NEXTN` is its other name in SGLang) takes the same
files, but hands the drafter one hidden state where `fc` takes three. SGLang then skips `fc` without a word: the server
is healthy and the accept length is exactly 1.00. Other methods make no use of an EAGLE-3 drafter at all.

## Example
A head of class `LlamaForCausalLMEagle3` with

    --speculative-algorithm EAGLE

## How to fix
`--speculative-algorithm EAGLE3`, or `"method": "eagle3"` in `--speculative-config`. `roost emit` writes it.

## Limits
Without a method vLLM guesses one from the name of the draft's path; that is a warning. Options that a file or a
variable brings are not seen.

## References
Public report: sglang #21272.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.proposal import Launch, Speculation
from registry.rules import evidence
from registry.rules.drafter import build_name, fc_states
from registry.rules.rule import Rule
from registry.rules.specimen import SPECIMEN, drafted, specimen
from registry.rules.wording import counted

_ONE_STATE: Final = frozenset({"EAGLE", "NEXTN"})
"""Methods that take the files of an EAGLE-3 drafter and hand it the target's last state alone."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the method is another one, none, or unreadable."""
    launch, profile = case.proposal.launch if case.proposal else None, case.profile
    asked = launch.speculation if launch is not None else None
    if launch is None or profile is None or asked is None or launch.starts not in (None, profile.engine):
        return
    wanted = profile.launch.algorithm
    if asked.broken:
        yield _finding(
            case, asked, f"{build_name(case)} refuses to start: {asked.option} cannot be read, {asked.broken}"
        )
    elif asked.method is None:
        message = (
            f"{asked.option} names no method, so {build_name(case)} guesses it from the draft's path; say {wanted}"
        )
        yield replace(_finding(case, asked, message), severity=Severity.WARNING)
    elif asked.method != wanted:
        message = (
            f"{asked.option} selects {asked.method}, and the drafter needs {wanted}: {_effect(case, asked.method)}"
        )
        yield _finding(case, asked, message)


def _effect(case: Case, method: str) -> str:
    if method.upper() not in _ONE_STATE:
        return f"{method} makes no use of an EAGLE-3 drafter, so it is not used at all"
    states, draft = fc_states(case), case.reading.draft if case.reading else None
    takes = counted(states, "state") if states else "several states"
    given = f"one hidden state is given where fc takes {takes}"
    if draft is not None and draft.fc_bypassed:
        return f"{given}, and fc is skipped without a word: the accept length is exactly 1.00"
    return given


def _finding(case: Case, asked: Speculation, message: str) -> Finding:
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=message,
        at="/launch",
        remedies=(Remedy.CONFIG,),
        evidence=(
            evidence.launched(asked.option, asked.method),
            evidence.of_build(
                case, "method that captures states", case.profile.launch.algorithm if case.profile else ""
            ),
        ),
    )


RULE = Rule(
    code="LCH101",
    name="method-not-eagle3",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "profile", "launch"}),
    check=check,
)


def _asking(method: str | None, broken: str = "", starts: str | None = None, reading: object = None) -> Case:
    asked = Speculation(option="--speculative-algorithm", method=method, broken=broken)
    launch = Launch(text="--speculative-algorithm", speculation=asked, starts=starts)
    case = specimen(proposal=replace(SPECIMEN.proposal, launch=launch))  # type: ignore[type-var]  # it has one
    return replace(case, reading=drafted(fc_bypassed=True)) if reading else case


PASSES = (specimen(), _asking("EAGLE3"), _asking("EAGLE", starts="vllm"))

FAILS = (
    _asking("EAGLE"),
    _asking("NEXTN", reading=True),
    _asking("NGRAM"),
    _asking(None),
    _asking(None, broken="its value is no JSON object"),
)
