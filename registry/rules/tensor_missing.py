"""A parameter of this build's draft class is filled by no tensor of the checkpoint.

## What it checks
Every parameter that the draft class needs, after this build's renaming: is it filled from the checkpoint or shared
with the target? `d2t` has a rule of its own.

## Why it matters
No build that was looked at notices a missing tensor: the parameter keeps whatever it was built with, and the drafter
proposes noise at full speed.

## Example
A file list of `embed_tokens`, `layers.0.*` and `norm` only. Without `fc.weight` the taps cannot be fused at all.

## How to fix
Look for the other shard, or export again. Where the tensors fill another draft class of the build, the config names
the wrong one: name the other in `architectures`. A missing `lm_head` with the full vocabulary can be had from the
target: by config where the build shares the target's head when `draft_vocab_size` is null, else by copying the head
into the artifact. A drafter narrower than its target needs an embedding of its own.

## Limits
Names only: a tensor that is there and holds zeros is not found.

## References
Public report: EAGLE #265.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.profile import DraftFacts
from registry.rules import evidence
from registry.rules.drafter import build_name, fitting_class, is_reduced
from registry.rules.rule import Rule
from registry.rules.specimen import inventory, loaded, specimen
from registry.rules.wording import listing, plural

_HEAD = "lm_head.weight"


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding for a missing head, and one for everything else that is missing."""
    draft = case.reading.draft if case.reading else None
    if draft is None or not draft.supported:
        return
    missing = [name for name in draft.load.untouched if not name.endswith(("d2t", "t2d"))]
    if not draft.naming_understood:
        missing = [name for name in missing if not name.startswith("layers.")]
    if _HEAD in missing:
        yield _finding(case, _head_message(case), names=(_HEAD,), remedies=_head_remedies(case))
    others = tuple(name for name in missing if name != _HEAD)
    if others:
        other = _other_class(case)
        remedies = (Remedy.CONFIG,) if other else (Remedy.CONVERT,)
        yield _finding(case, _message(case, others, other), names=others, remedies=remedies)


def _other_class(case: Case) -> str | None:
    """Return another draft class of the build whose parameters the tensors do fill, or None."""
    fitting, facts = fitting_class(case), _facts(case)
    return fitting if facts is not None and fitting not in (None, *facts.architectures) else None


def _message(case: Case, names: tuple[str, ...], other: str | None) -> str:
    if other is not None:
        named = case.reading.draft.architecture if case.reading and case.reading.draft else None
        return (
            f"nothing fills {listing(names)} of {named}, the class that the config names; the tensors have the layout "
            f"of {other}: name that in architectures, the weights stay as they are"
        )
    fusing = " (without fc.weight the taps cannot be fused)" if "fc.weight" in names else ""
    if "embed_tokens.weight" in names:
        fusing += " (the target's embedding has another width, so the drafter needs its own)"
    return (
        f"nothing fills {listing(names)}{fusing}: {_then(case, len(names))}; "
        "look for the other shard, or export the checkpoint again"
    )


def _head_message(case: Case) -> str:
    facts = _facts(case)
    if is_reduced(case):
        advice = (
            "the vocabulary is reduced, so the target's head does not fit: look for the other shard, or export again"
        )
    elif facts is not None and facts.head_shared == "null_draft_vocab":
        advice = "the vocabulary is the target's: with draft_vocab_size null this build takes the target's head"
    else:
        advice = "the vocabulary is the target's: copy the target's head into the artifact"
    takes = facts is not None and facts.head_shared == "absent"
    then = f"{build_name(case)} puts the target's head in its place" if takes else _then(case, 1)
    return f"nothing fills {_HEAD}: {then}; {advice}"


def _then(case: Case, count: int) -> str:
    facts = _facts(case)
    if facts is not None and facts.missing_tensor == "refused":
        return f"{build_name(case)} refuses to start"
    return f"{build_name(case)} leaves {plural(count, 'it', 'them')} as built, without a word"


def _head_remedies(case: Case) -> tuple[Remedy, ...]:
    facts = _facts(case)
    shares = facts is not None and facts.head_shared == "null_draft_vocab"
    return (Remedy.CONFIG, Remedy.CONVERT) if shares and not is_reduced(case) else (Remedy.CONVERT,)


def _facts(case: Case) -> DraftFacts | None:
    architecture = case.reading.draft.architecture if case.reading and case.reading.draft else None
    return case.profile.draft(architecture) if case.profile and architecture else None


def _finding(case: Case, message: str, *, names: tuple[str, ...], remedies: tuple[Remedy, ...]) -> Finding:
    facts = _facts(case)
    fc = case.inventory.find("fc.weight")
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=message,
        at="/checkpoint",
        remedies=remedies,
        evidence=(
            evidence.of_build(case, "parameters left untouched", list(names), at=facts.at if facts else ""),
            evidence.stored("tensors stored", len(case.inventory.tensors)),
            *((evidence.shape(fc),) if fc is not None else ()),
        ),
    )


RULE = Rule(
    code="WGT101",
    name="tensor-missing",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(), specimen(reading=loaded(untouched=("d2t",))))

FAILS = (
    specimen(inventory=inventory(without=("fc.weight",)), reading=loaded(untouched=("fc.weight",))),
    specimen(inventory=inventory(without=(_HEAD, "d2t")), reading=loaded(untouched=(_HEAD,))),
)
