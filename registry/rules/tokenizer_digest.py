"""The target's tokenizer or chat template is not the one of training.

## What it checks
The digests of tokenizer and chat template in the training record against those of the target it will run on.

## Why it matters
The drafter was trained on token ids and on the text that the template makes. Another tokenizer makes other tokens of
the same ids; another template shows the drafter text it has not seen.

## Example
A head trained with a patched chat template, served with the stock one.

## How to fix
Serve with the tokenizer and template of training, or train on those that are served.

## Limits
A digest that one side lacks is only mentioned: this rule has nothing to compare.

## References
Public reports: vllm #34722, llama.cpp #3812.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.digests import Digest
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import OTHER_DIGEST, specimen, target


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per digest that differs, and a note per digest that only the record has."""
    served, record = case.target, case.provenance
    if served is None:
        return
    yield from _compare(case, "tokenizer", "/tokenizer_digest", record.tokenizer_digest, served.tokenizer_digest)
    yield from _compare(
        case, "chat template", "/chat_template_digest", record.chat_template_digest, served.chat_template_digest
    )


def _compare(case: Case, what: str, pointer: str, trained: Digest | None, served: Digest | None) -> Iterator[Finding]:
    target = case.target
    if target is None or trained is None or trained == served:
        return
    known = served is not None
    state = "is not the one of training" if known else "is not known here, and the training record names one; "
    advice = "" if known else "`roost target add` with --tokenizer DIR adds it"
    yield Finding(
        code=RULE.code,
        severity=Severity.WARNING if known else Severity.INFO,
        message=f"the {what} of {target.label} {state}{advice}",
        at="/target",
        remedies=(Remedy.OTHER_TARGET, Remedy.RETRAIN) if known else (),
        evidence=(
            evidence.recorded(case, pointer, trained),
            evidence.of_target(target.label, f"{what} digest", served),
        ),
        unknown=None if known else f"{what} digest",
    )


RULE = Rule(
    code="TGT104",
    name="tokenizer-digest",
    severity=Severity.WARNING,
    since="0.1.0",
    parts=frozenset({"proposal", "target"}),
    weighs_unknown=Severity.INFO,
    check=check,
)

PASSES = (specimen(),)

FAILS = (specimen(target=target(tokenizer_digest=OTHER_DIGEST)), specimen(target=target(tokenizer_digest=None)))
