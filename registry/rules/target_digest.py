"""The target's weights are not, or not known to be, those the drafter was trained for.

## What it checks
The digest of the target in the training record against that of the target it will run on. Two kinds of digest (over
tensors, over a list of shards) are never compared with each other.

## Why it matters
A drafter learns the habits of one set of weights. On a fine-tune of the same shape every static check passes and
acceptance is far lower.

## Example
A head for stock Llama-3-70B in front of a fine-tuned Llama-3-70B.

## How to fix
Run on the target it was trained for, or train again on this one. Where a digest is missing, add it:
`roost target add` with `--digests`, or `roost provenance amend`.

## Limits
A difference is a warning: it runs, and the record does not cover how well. Requantized weights differ too.

## References
Public reports: EAGLE #98, EAGLE #184.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.digests import comparable, kind_of
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import DIGEST, OTHER_DIGEST, specimen, target


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the digests differ or cannot be compared."""
    target, trained = case.target, case.provenance.target
    if target is None:
        return
    if comparable(trained.digest, target.digest):
        if trained.digest != target.digest:
            message = (
                f"the weights of {target.label} are not those it was trained for: it runs, but the record does not "
                "cover how well; training again is recommended"
            )
            yield _finding(case, message, remedies=(Remedy.OTHER_TARGET, Remedy.RETRAIN))
        return
    message = f"whether {target.label} has the weights it was trained for is not known: {_why(case)}; {_advice(case)}"
    yield _finding(case, message, unknown="target digest")


def _why(case: Case) -> str:
    trained, target = case.provenance.target.digest, case.target.digest if case.target else None
    if trained is not None and target is not None:
        return f"the record has a digest over {kind_of(trained)}, the registered target one over {kind_of(target)}"
    missing = [
        name for name, digest in (("the training record", trained), ("the registered target", target)) if digest is None
    ]
    return f"{' and '.join(missing)} {'has' if len(missing) == 1 else 'have'} no digest"


def _advice(case: Case) -> str:
    """Say which command adds what is missing."""
    target = case.target
    if target is not None and target.digest is None:
        revision = f" --revision {target.revision}" if target.revision else ""
        return f"`roost target add {target.name} --config config.json{revision} --digests SHA256SUMS` adds it"
    return "`roost provenance amend` puts one of the same kind into the record"


def _finding(case: Case, message: str, *, remedies: tuple[Remedy, ...] = (), unknown: str | None = None) -> Finding:
    return Finding(
        code=RULE.code,
        severity=Severity.WARNING,
        message=message,
        at="/target",
        remedies=remedies or (Remedy.UNKNOWN,),
        evidence=_evidence(case),
        unknown=unknown,
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    trained, target = case.provenance.target, case.target
    named = evidence.recorded(case, "/target/digest", trained.digest)
    return (named,) if target is None else (named, evidence.of_target(target.label, "digest", target.digest))


RULE = Rule(
    code="TGT101",
    name="target-digest",
    severity=Severity.WARNING,
    since="0.1.0",
    parts=frozenset({"proposal", "target"}),
    weighs_unknown=Severity.WARNING,
    check=check,
)

PASSES = (specimen(), specimen(target=target(name="a-copy", digest=DIGEST)))

FAILS = (
    specimen(target=target(digest=OTHER_DIGEST)),
    specimen(target=target(digest=None)),
    specimen(target=target(digest="blake3:" + "1" * 64)),
)
