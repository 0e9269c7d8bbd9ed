"""A local patch of this engine build has no effect with these ids.

## What it checks
Capture patches of a fork: does the proposal ask for any of the depths whose capture the patch adds?

## Why it matters
In the founding case the engine was patched to capture the embedding output, for ids that turned out wrong. The patch
stayed in the engine. Whoever upgrades wants to know that it can be dropped.

## Example
A fork with an embedding-capture patch (depth 0), and ids that read as 3, 31, 59.

## How to fix
Nothing has to be done. The patch can be dropped with the next engine build.

## Limits
Only what a patch adds to capturing is judged; wrapper and debug patches are listed in the profile.

## References
`roost engines show` lists a fork's patches.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Severity
from registry.domain.profile import Patch
from registry.domain.taps import depths_of
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import phases, profile, reading, specimen


def check(case: Case) -> Iterator[Finding]:
    """Yield one note per capture patch that none of the depths needs."""
    read = case.reading
    if case.profile is None or read is None or read.taps is None:
        return
    asked = {*read.requested, *depths_of(read.taps.prefill), *depths_of(read.taps.decode)}
    for patch in case.profile.patches:
        if patch.purpose == "capture" and patch.active_depths and not asked & set(patch.active_depths):
            yield Finding(
                code=RULE.code,
                severity=Severity.INFO,
                message=_message(patch),
                at="/engine",
                evidence=(
                    evidence.of_build(case, "depths the patch acts on", list(patch.active_depths)),
                    evidence.stored("depths asked for", sorted(asked), source="reading"),
                ),
            )


def _message(patch: Patch) -> str:
    depths = ", ".join(str(depth) for depth in patch.active_depths)
    upstream = f"; upstream has the same since {patch.upstream_since}" if patch.upstream_since else ""
    name = patch.name.removesuffix(" patch")
    return f"the {name} patch is dormant with these ids: it acts on depth {depths} only, and can be dropped{upstream}"


RULE = Rule(
    code="ENG104",
    name="dormant-patch",
    severity=Severity.INFO,
    since="0.1.0",
    parts=frozenset({"proposal", "profile", "reading"}),
    check=check,
)

_FORK = profile(
    version="0.5.9+founding",
    patches=(Patch(name="embedding-capture", purpose="capture", summary="captures depth 0", active_depths=(0,)),),
)

PASSES = (
    specimen(),
    specimen(profile=_FORK, reading=reading(taps=phases((0, 3, 31)), requested=(0, 3, 31))),
)

FAILS = (specimen(profile=_FORK),)
