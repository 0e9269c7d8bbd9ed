"""No list of ids makes this build read the trained taps.

## What it checks
The dialect of this build, runner and target class is inverted: is there any id list whose reading is exactly the
trained taps, in every phase, with a launch option or without?

## Why it matters
A dialect is a function with holes. Builds concatenate captured states in ascending depth, each once; some rules look
at the first or the largest id; some classes never capture the last depth.

## Example
Taps trained in the order 59, 31, 3. Every build concatenates 3, 31, 59, whatever the order of the ids.

## How to fix
For taps in another order, or listed twice, permute or add the column blocks of `fc`, exactly: the artifact changes,
nothing is trained. For depths that the class never delivers, use another build.

## Limits
Only the shipped facts about the class are used; a class that is not understood gives an unknown, not this.

## References
Dialects: `docs/concepts.md`.
"""

from collections.abc import Iterator

from registry.domain import dialects
from registry.domain.case import Case
from registry.domain.findings import Finding, Severity
from registry.domain.taps import depths_of, spell
from registry.rules import evidence
from registry.rules.drafter import build_name, class_name, used_at
from registry.rules.rule import Rule
from registry.rules.specimen import reading, specimen, trained
from registry.rules.tap_remedies import for_inexpressible, is_inexpressible


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the trained taps have no spelling here."""
    wanted, facts = case.trained.taps, case.target_facts
    if wanted is None or facts is None or not is_inexpressible(case):
        return
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=f"no id list on {build_name(case)} {_verb(case)} {spell(wanted)} on {class_name(case)}: {_why(case)}",
        at=used_at(case),
        remedies=for_inexpressible(case),
        evidence=(evidence.trained(case), evidence.of_class(case, "counting of ids", dialects.MEANING[facts.dialect])),
    )


def _fails_on_zero(case: Case) -> bool:
    facts, depths = case.target_facts, depths_of(case.trained.taps or ())
    return facts is not None and facts.depth_zero == "raises" and 0 in depths


def _verb(case: Case) -> str:
    return "serves" if _fails_on_zero(case) else "reads as"


def _why(case: Case) -> str:
    facts, depths = case.target_facts, depths_of(case.trained.taps or ())
    if _fails_on_zero(case):
        return "the class fails when it captures depth 0"
    if depths != tuple(sorted(set(depths))):
        return "taps are concatenated in ascending depth, each once"
    if facts is not None and any(tap.stream != facts.stream for tap in case.trained.taps or () if tap.depth):
        return f"the class captures the {facts.stream} stream"
    return dialects.MEANING[facts.dialect] if facts else "the class is not known"


RULE = Rule(
    code="TAP108",
    name="taps-not-expressible",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(), specimen(reading=reading(expressible=None)))

FAILS = (
    specimen(trained=trained(59, 31, 3), reading=reading(expressible=False)),
    specimen(trained=trained(3, 31, 61), reading=reading(expressible=False)),
)
