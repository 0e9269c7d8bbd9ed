"""The engine build is not listed, so nothing is known about how it reads.

## What it checks
Whether a profile of exactly this build exists.

## Why it matters
One release reads the same ids otherwise than the one before it. A neighbor's profile is a guess, and a guess is what
this registry is there to prevent.

## Example
`--engine sglang==0.5.24` where the newest listed release is 0.5.23.

## How to fix
Judge on one of the listed builds that the message names, or add a profile of this one.

## Limits
A fork that calls itself like a release is taken for that release.

## References
`roost engines list` names every listed build.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.drafter import build_name
from registry.rules.rule import Rule
from registry.rules.specimen import specimen
from registry.rules.wording import plural


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the build has no profile."""
    if case.profile is not None or case.proposal is None:
        return
    engine, nearest = case.proposal.build.engine, case.lineage.nearest
    names = " and ".join(f"{engine}=={version}" for version in nearest)
    advice = (
        f"nearest listed {plural(len(nearest), 'build', 'builds')}: {names}" if nearest else f"no build of {engine} is"
    )
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=f"{build_name(case)} is not a listed engine build, so how it reads is not known; {advice}; "
        "`roost engines list` names all of them",
        at="/engine",
        remedies=(Remedy.UNKNOWN,),
        unknown="engine build",
    )


RULE = Rule(
    code="ENG101",
    name="build-unknown",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal"}),
    weighs_unknown=Severity.ERROR,
    check=check,
)

PASSES = (specimen(),)

FAILS = (specimen(profile=None, target_facts=None, reading=None),)
