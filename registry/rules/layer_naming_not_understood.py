"""This build does not know how the checkpoint names its decoder layer.

## What it checks
The one decoder layer of an EAGLE-3 head is called `midlayer.*` by SafeAILab and SpecForge and `layers.0.*` by
speculators and Model-Optimizer. Which of the two loads depends on the build. A name that still loads but is no
longer the build's own is mentioned as information.

## Why it matters
SGLang up to 0.5.11 knows `midlayer` only and drops `layers.0.*` without a word: the whole layer stays untrained.

## Example
A head exported by speculators 0.4.0 (`layers.0.self_attn.q_proj.weight`, ...) on SGLang 0.5.11.

## How to fix
Rename the tensors; the bytes of their values stay. Or use a build that knows both names.

## Limits
Names only. That a legacy name will stop loading is a forecast, not a finding of this build.

## References
Loading functions of the draft classes, as the profiles cite them.
"""

from collections.abc import Iterator
from typing import Final

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import build_name
from registry.rules.rule import Rule
from registry.rules.specimen import drafted, loaded, specimen

_NAMES: Final = ("midlayer.", "layers.0.")


def check(case: Case) -> Iterator[Finding]:
    """Yield an error when the layer does not load, or information when it loads under a legacy name."""
    draft = case.reading.draft if case.reading else None
    if draft is None or not draft.supported:
        return
    used = sorted({prefix for prefix in _NAMES for t in case.inventory.tensors if t.bare_name.startswith(prefix)})
    names = ", ".join(f"`{prefix}*`" for prefix in used)
    if not draft.naming_understood:
        effect = "refuses them" if draft.load.refused else "drops them without a word, so the layer stays untrained"
        message = f"{build_name(case)} does not know the tensor naming {names} and {effect}: rename the tensors"
        yield _finding(case, message, used, severity=Severity.ERROR, remedies=(Remedy.CONVERT, Remedy.ENGINE))
    elif draft.load.legacy:
        message = f"ahead: the tensor naming {names} is a legacy name in {build_name(case)}; it still loads"
        yield _finding(case, message, used, severity=Severity.INFO)


def _finding(
    case: Case, message: str, prefixes: list[str], *, severity: Severity, remedies: tuple[Remedy, ...] = ()
) -> Finding:
    draft = case.reading.draft if case.reading else None
    facts = case.profile.draft(draft.architecture) if case.profile and draft and draft.architecture else None
    known = list(facts.layer_prefixes) if facts else []
    return Finding(
        code=RULE.code,
        severity=severity,
        message=message,
        at="/checkpoint",
        remedies=remedies,
        evidence=(
            evidence.stored("layer names stored", prefixes),
            evidence.of_build(case, "layer names that load", known, at=facts.at if facts else ""),
        ),
    )


RULE = Rule(
    code="WGT105",
    name="layer-naming-not-understood",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(),)

FAILS = (
    specimen(reading=drafted(naming_understood=False)),
    specimen(reading=loaded(legacy=("midlayer.self_attn.q_proj.weight",))),
)
