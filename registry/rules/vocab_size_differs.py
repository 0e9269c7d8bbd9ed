"""The config's `vocab_size` is not the target's.

## What it checks
`vocab_size` of the draft config against the vocabulary of the target it will run on.

## Why it matters
Builds size the shared embedding and, without `draft_vocab_size`, the head by it. Within one model family the numbers
often differ by padding only; across families they mean other tokens.

## Example
A draft config with 152064 for a target of 151936 tokens.

## How to fix
Where the tokenizer is the same, set `vocab_size` to the target's number, or pad the artifact.

## Limits
It compares sizes, not tokens; the tokenizer's digest does that.

## References
Public reports: vllm #34722, vllm #10913.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import whole
from registry.rules.rule import Rule
from registry.rules.specimen import VOCAB, config, specimen


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the sizes differ."""
    own = whole(case.config, "vocab_size")
    target = case.target
    if target is None or target.vocab_size is None or own is None or own == target.vocab_size:
        return
    yield Finding(
        code=RULE.code,
        severity=Severity.WARNING,
        message=f"the draft config's vocab_size is {own}, and the target's vocabulary is {target.vocab_size}",
        at="/draft_config/vocab_size",
        remedies=(Remedy.CONFIG, Remedy.CONVERT),
        evidence=(
            evidence.configured(case, "/vocab_size", own),
            evidence.of_target(target.name, "vocabulary", target.vocab_size),
        ),
    )


RULE = Rule(
    code="VOC106",
    name="vocab-size-differs",
    severity=Severity.WARNING,
    since="0.1.0",
    parts=frozenset({"proposal", "target"}),
    check=check,
)

PASSES = (specimen(),)

FAILS = (specimen(config=config(vocab_size=VOCAB + 64)),)
