"""The checkpoint holds a tensor that this build's draft class does not know.

## What it checks
Every stored tensor, after this build's renaming: does it land in a parameter? The finding says whether the build
drops it without a word or refuses to start.

## Why it matters
A trained tensor that is passed over was part of the model in training. A norm before `fc` that a build does not have
changes every input of the drafter, with no error.

## Example
`input_norm.weight` (one norm over the concatenated taps) on SGLang 0.5.12: the flag is ignored and the tensor dropped.

## How to fix
Set `bias` to true where the tensor is `fc.bias` and the class can have one. Else use a build that knows the tensor, or
rename it where it only carries an unusual name (`model.` before it). Tensors that training left over can be taken out
of the artifact.

## Limits
`t2d` is needed by no build and never counts; neither does a stored `rotary_emb.inv_freq`.

## References
Loading functions of the draft classes, as the profiles cite them.
"""

from collections.abc import Iterable, Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.profile import DraftFacts
from registry.domain.tensors import bare_name
from registry.rules import evidence
from registry.rules.drafter import LAYER_NAMES, build_name
from registry.rules.rule import Rule
from registry.rules.specimen import inventory, loaded, specimen
from registry.rules.wording import listing, plural

_HARMLESS = ("t2d", "rotary_emb.inv_freq")
_TRAINED = (
    "fc.",
    "fc_norm",
    "norm.",
    "input_norm",
    "aux_norm",
    "hidden_norm",
    "lm_head.",
    "embed_tokens.",
    *LAYER_NAMES,
)
"""How tensors begin that take part in the drafter's computation."""


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding for refused tensors, one for trained ones that are dropped, one for others."""
    draft = case.reading.draft if case.reading else None
    if draft is None or not draft.supported:
        return
    refused = list(draft.load.refused)
    if refused:
        message = f"{build_name(case)} refuses to start on tensors it does not know: {listing(refused)}"
        remedies: tuple[Remedy, ...] = (Remedy.ENGINE,) if _trained(refused) else (Remedy.CONVERT, Remedy.ENGINE)
        yield _finding(case, message, refused, severity=Severity.ERROR, remedies=_or_rename(case, refused, remedies))
    dropped = _of_interest(draft.load.dropped, layers=draft.naming_understood)
    trained, others = _trained(dropped), [name for name in dropped if not _trained([name])]
    how = f"{build_name(case)} drops {{}} {_how(case)}"
    if trained:
        message = f"{how.format(listing(trained))}, although training used {plural(len(trained), 'it', 'them')}"
        remedies = _or_rename(case, trained, (Remedy.ENGINE,))
        if all(name in _optional(case) for name in trained):
            remedies = (Remedy.CONFIG,)
            message += "; set bias to true in the config: the class makes that parameter only then"
        yield _finding(case, message, trained, severity=Severity.ERROR, remedies=remedies)
    if others:
        message = f"{how.format(listing(others))}: its draft class has no such parameter"
        yield _finding(case, message, others, severity=Severity.WARNING, remedies=(Remedy.CONVERT,))


def _of_interest(names: Iterable[str], *, layers: bool) -> list[str]:
    kept = [name for name in names if not name.endswith(_HARMLESS)]
    return kept if layers else [name for name in kept if not bare_name(name).startswith(LAYER_NAMES)]


def _trained(names: Iterable[str]) -> list[str]:
    return [name for name in names if bare_name(name).startswith(_TRAINED)]


def _how(case: Case) -> str:
    facts = _facts(case)
    return "with no more than a warning" if facts is not None and facts.unknown_tensor == "warned" else "without a word"


def _optional(case: Case) -> tuple[str, ...]:
    """Parameters that the class has only where the config says so: `fc.bias` is the one of them."""
    facts = _facts(case)
    return () if facts is None else tuple(name for name in facts.optional if name == "fc.bias")


def _facts(case: Case) -> DraftFacts | None:
    architecture = case.reading.draft.architecture if case.reading and case.reading.draft else None
    return case.profile.draft(architecture) if case.profile and architecture else None


def _or_rename(case: Case, names: Iterable[str], otherwise: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
    """A name that only carries `model.` where the build adds its own is mended by renaming."""
    facts = _facts(case)
    doubled = facts is not None and facts.model_prefix == "doubled"
    if doubled and all(name.startswith("model.") for name in names):
        return (Remedy.CONVERT, Remedy.ENGINE)
    return otherwise


def _finding(
    case: Case, message: str, names: list[str], *, severity: Severity, remedies: tuple[Remedy, ...]
) -> Finding:
    return Finding(
        code=RULE.code,
        severity=severity,
        message=message,
        at="/checkpoint",
        remedies=remedies,
        evidence=(evidence.of_build(case, "tensors that land nowhere", names),),
    )


RULE = Rule(
    code="WGT102",
    name="tensor-unknown",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(), specimen(reading=loaded(dropped=("t2d",))))

FAILS = (
    specimen(inventory=inventory(adding={"input_norm.weight": (192,)}), reading=loaded(dropped=("input_norm.weight",))),
    specimen(reading=loaded(refused=("parallel_draft_heads.0.weight",))),
    specimen(reading=loaded(dropped=("mask_hidden",))),
)
