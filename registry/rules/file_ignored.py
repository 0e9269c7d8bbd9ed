"""Files of the directory are not taken into the registry.

## What it checks
Which files are left out: only config, safetensors weights, their index, tokenizer and template files are taken.

## Why it matters
Whoever registers should know what is not kept: a training log, an optimizer state, a README.

## Example
A directory with `optimizer.pt` beside `model.safetensors`.

## How to fix
Nothing has to be done.

## Limits
Ignored files are not opened.

## References
`docs/format.md`.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Severity
from registry.rules import evidence
from registry.rules.rule import REGISTRATION, Rule
from registry.rules.specimen import inventory, specimen
from registry.rules.wording import listing


def check(case: Case) -> Iterator[Finding]:
    """Yield one note that lists what is left out."""
    ignored = sorted(case.inventory.ignored)
    if ignored:
        yield Finding(
            code=RULE.code,
            severity=Severity.INFO,
            message=f"not taken: {listing(ignored)}; only config, weights, index, tokenizer and template files are",
            at="/files",
            evidence=(evidence.stored("ignored files", ignored, source="directory"),),
        )


RULE = Rule(code="ART118", name="file-ignored", severity=Severity.INFO, since="0.1.0", stages=REGISTRATION, check=check)

PASSES = (specimen(),)

FAILS = (specimen(inventory=inventory(ignored=("README.md", "optimizer.pt"))),)
