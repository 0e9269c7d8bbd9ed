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

from collections.abc import Iterator

from registry.domain import dialects
from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.profile import TargetFacts
from registry.rules import evidence
from registry.rules.drafter import build_name, class_name
from registry.rules.rule import Rule
from registry.rules.specimen import METHODS, facts, failure, phases, reading, specimen, target
from registry.rules.wording import number


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the class is unknown, lacks methods, or captures nothing."""
    if case.profile is None or case.target is None:
        return
    facts = case.target_facts
    if case.target.target_class is None:
        message = f"the class of {case.target.label} is not known: its config holds no architectures"
        yield _unknown(message, "target class", at="/target")
    elif facts is None:
        message = f"what {build_name(case)} does with {class_name(case)} is not known: its profile does not list the class"
        yield _unknown(message + _first_served(case), "target class", at="/engine")
    elif facts.needed_methods or (case.reading is not None and case.reading.failure("no_setter")):
        yield _finding(case, _lacks(case, facts))
    elif facts.captures == "nothing":
        yield _finding(case, f"{class_name(case)} captures nothing on {build_name(case)}, whatever the ids")
    elif dialects.UNRESOLVED in (facts.captures, facts.dialect) or _is_default_unresolved(case, facts):
        message = f"what {build_name(case)} captures on {class_name(case)} is not established"
        yield _unknown(f"{message}{': ' if facts.note else ''}{facts.note}", "effective taps", at="/engine")
    elif facts.depth_n == "unresolved" and case.reading is not None and case.target.layers in case.reading.requested:
        message = f"whether {class_name(case)} captures the state after its last layer on {build_name(case)} is not established"
        yield _unknown(message, "effective taps", at="/engine")


def _is_default_unresolved(case: Case, facts: TargetFacts) -> bool:
    """The default matters only where it is what gets captured."""
    read = case.reading
    needed = read is None or read.used is None or read.decode_graphs == "default"
    return facts.default == dialects.UNRESOLVED and needed


def _lacks(case: Case, facts: TargetFacts) -> str:
    missing = facts.missing_methods or facts.needed_methods
    kind = "the wrapper class" if _is_wrapper(case, facts) else "the class"
    needed = len(facts.needed_methods)
    serving = f"{number(needed)} {'is' if needed == 1 else 'are'} needed to serve"
    methods = "method" if len(missing) == 1 else "methods"
    message = (
        f"{build_name(case)} refuses to start: {kind} {class_name(case)} lacks the {number(len(missing))} EAGLE-3 "
        f"{methods} ({serving}): {', '.join(missing)}"
    )
    return message + _first_served(case)


def _first_served(case: Case) -> str:
    supported, in_graphs = case.lineage.first_supported(), case.lineage.first_ids_in_graphs()
    if supported is None:
        return "; no listed release serves it"
    text = f"; first release that has them {supported}" if case.target_facts else f"; first listed release that serves it {supported}"
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
        evidence.of_class(case, "captures", facts.captures),
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
    specimen(target_facts=facts(captures="nothing"), reading=reading(taps=phases(()))),
    specimen(target_facts=facts(captures="unresolved"), reading=reading(taps=None)),
    specimen(target=target(target_class=None), target_facts=None),
    specimen(target=target(target_class="NobodyForCausalLM"), target_facts=None),
    specimen(target_facts=facts(depth_n="unresolved"), reading=reading(taps=None, requested=(3, 31, 61))),
)
