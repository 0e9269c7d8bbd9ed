"""This build does not serve EAGLE-3 on the target's class.

## What it checks
The methods that EAGLE-3 needs on the target's class, one by one; whether the class captures what its setter is told;
and whether its behavior is known at all.

## Why it matters
A missing method is an AttributeError at start. A setter that fills a list which the forward pass does not read starts
and captures nothing.

## Example
`KimiK25ForConditionalGeneration` in SGLang 0.5.9: the wrapper class has none of the three methods
`set_eagle3_layers_to_capture`, `get_embed_and_head`, `set_embed_and_head`; serving calls the first two.

## How to fix
Use a release that has them; the message names the first one. Where only a wrapper lacks methods that delegate to its
language model, a plugin or a small patch can add them.

## Limits
A class that no profile lists is unknown, not unsupported.

## References
The profile cites file and line of each fact.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from registry.domain import dialects
from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.profile import TargetFacts
from registry.rules import evidence
from registry.rules.drafter import build_name, class_name
from registry.rules.rule import Rule
from registry.rules.specimen import METHODS, facts, failure, phases, reading, specimen, target
from registry.rules.wording import number

_CAPTURES: Final[Mapping[str, str | None]] = {
    "listed": None,
    "nothing": "none, whatever the ids",
    "unresolved": "not established",
}
"""What a class captures where that is not simply what it is asked for, in words."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the class is unknown, lacks methods, or captures nothing."""
    if case.profile is None or case.target is None:
        return
    facts = case.target_facts
    if case.target.target_class is None:
        message = f"the class of {case.target.label} is not known: its config holds no architectures"
        yield _unknown(message, "target class", at="/target")
    elif facts is None:
        message = (
            f"what {build_name(case)} does with {class_name(case)} is not known: its profile does not list the class"
        )
        yield _unknown(message + _first_served(case, "serves it"), "target class", at="/engine")
    elif facts.refused:
        message = f"{build_name(case)} refuses EAGLE-3 on {class_name(case)}: {facts.refused}"
        yield _finding(case, message + _first_served(case, "serves it"))
    elif facts.needed_methods or (case.reading is not None and case.reading.failure("no_setter")):
        yield _finding(case, _lacks(case, facts))
    elif facts.captures == "nothing" or (case.reading is not None and case.reading.failure("captures_nothing")):
        message = f"{class_name(case)} captures nothing on {build_name(case)}, whatever the ids"
        yield _finding(case, message + _first_served(case, "does capture"))
    elif _is_unresolved(case, facts):
        message = f"what {build_name(case)} captures on {class_name(case)} is not established"
        yield _unknown(f"{message}{': ' if facts.note else ''}{facts.note}", "effective taps", at="/engine")


def _is_unresolved(case: Case, facts: TargetFacts) -> bool:
    """Tell whether the effective taps are not known because some fact of the class that matters here is not."""
    read, layers = case.reading, case.target.layers if case.target else None
    if read is not None and (read.taps is not None or read.failures):
        return False
    last = facts.depth_n == dialects.UNRESOLVED and read is not None and layers in read.requested
    return last or dialects.UNRESOLVED in (facts.captures, facts.dialect, facts.default)


def _lacks(case: Case, facts: TargetFacts) -> str:
    missing = facts.missing_methods or facts.needed_methods
    if not missing:
        failure = case.reading.failure("no_setter") if case.reading else None
        return f"{build_name(case)} refuses to start: {failure.message if failure else class_name(case)}"
    kind = "the wrapper class" if _is_wrapper(case, facts) else "the class"
    needed = len(facts.needed_methods)
    serving = f"{number(needed)} {'is' if needed == 1 else 'are'} needed to serve"
    methods = "method" if len(missing) == 1 else "methods"
    message = (
        f"{build_name(case)} refuses to start: {kind} {class_name(case)} lacks the {number(len(missing))} EAGLE-3 "
        f"{methods} ({serving}): {', '.join(missing)}"
    )
    return message + _first_served(case, "has them")


def _first_served(case: Case, does: str) -> str:
    supported, in_graphs = case.lineage.first_supported(), case.lineage.first_ids_in_graphs()
    if supported is None:
        return "; no listed release serves it"
    text = f"; first release that {does} {supported}"
    if in_graphs is not None and in_graphs != supported:
        text += f"; first that also keeps ids in decode graphs {in_graphs}"
    return text


def _is_wrapper(case: Case, facts: TargetFacts) -> bool:
    return bool(facts.delegates_to) or any(e.facts is not None and e.facts.delegates_to for e in case.lineage.entries)


def _finding(case: Case, message: str) -> Finding:
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=message,
        at="/engine",
        remedies=(Remedy.ENGINE,),
        evidence=_evidence(case),
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    facts = case.target_facts
    if facts is None:
        return ()
    return (
        evidence.of_class(case, "methods missing", list(facts.missing_methods)),
        evidence.of_class(case, "of them needed to serve", list(facts.needed_methods)),
        evidence.of_class(case, "states captured", _CAPTURES[facts.captures]),
    )


def _unknown(message: str, fact: str, *, at: str) -> Finding:
    return Finding(
        code=RULE.code, severity=Severity.ERROR, message=message, at=at, remedies=(Remedy.UNKNOWN,), unknown=fact
    )


RULE = Rule(
    code="ENG102",
    name="target-class-unsupported",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "target", "profile"}),
    weighs_unknown=Severity.ERROR,
    check=check,
)

PASSES = (specimen(), specimen(target_facts=facts(default="unresolved")))

FAILS = (
    specimen(
        target_facts=facts(missing_methods=METHODS, needed_methods=METHODS[:2]),
        reading=reading(taps=None, failures=failure("no_setter", "no setter")),
    ),
    specimen(target_facts=facts(refused="its model type is not taken for EAGLE-3"), reading=reading(taps=None)),
    specimen(target_facts=facts(captures="nothing"), reading=reading(taps=phases(()))),
    specimen(target_facts=facts(captures="unresolved"), reading=reading(taps=None)),
    specimen(target_facts=facts(default="unresolved"), reading=reading(taps=None, found=())),
    specimen(target=target(target_class=None), target_facts=None),
    specimen(target=target(target_class="NobodyForCausalLM"), target_facts=None),
    specimen(target_facts=facts(depth_n="unresolved"), reading=reading(taps=None, requested=(3, 31, 61))),
)
