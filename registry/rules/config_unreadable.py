"""There is no `config.json`, or it is no JSON object.

## What it checks
Whether the drafter's directory has a `config.json` that is one JSON object.

## Why it matters
Every engine build reads the config before anything else.

## Example
A directory with weights only.

## How to fix
Add the `config.json` that the trainer wrote.

## Limits
What stands in the config is judged later, against a build.

## References
RFC 8259.
"""

from collections.abc import Iterator
from typing import Final

from registry.domain.artifact_faults import FaultKind
from registry.domain.case import Case
from registry.domain.findings import Finding, Severity
from registry.rules.file_faults import findings_of
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import fault, specimen

ADVICE: Final = {
    FaultKind.CONFIG_MISSING: "add the config.json that the trainer wrote",
    FaultKind.CONFIG_MALFORMED: "mend the JSON",
}
"""What to do about each kind of fault."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per such fault."""
    yield from findings_of(case, RULE.code, ADVICE)


RULE = Rule(
    code="ART113",
    name="config-unreadable",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(), specimen(faults=fault(FaultKind.SYMLINK, observed="something else", expected="a file")))

FAILS = (
    specimen(faults=fault(FaultKind.CONFIG_MISSING, observed="no config.json", expected="a config.json")),
    specimen(faults=fault(FaultKind.CONFIG_MALFORMED, observed="a list", expected="a JSON object")),
)
