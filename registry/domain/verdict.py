"""Verdicts: findings, the overall decision and remedy, and what was not judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.domain.findings import Cost, Finding, Remedy, Severity
from registry.domain.reading import Outcome, PhaseTaps
from registry.domain.taps import Taps

Decision = Literal["pass", "warn", "block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to one proposal. It holds no time, id, host or path, so it can be replayed byte for byte."""

    decision: Decision
    remedy: Remedy
    outcome: Outcome
    headline: str
    engine: str
    runner: str | None
    unknown: tuple[str, ...]
    trained_taps: Taps | None
    effective_taps: PhaseTaps | None
    findings: tuple[Finding, ...]
    not_judged: tuple[str, ...]
    look_next: tuple[str, ...]
    retrain_cost: Mapping[str, object] | None
    profile: str | None
    rules: str


def decide(findings: Iterable[Finding]) -> Decision:
    """Return `block` if any error remains, else `warn` if any warning, else `pass`."""
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities:
        return "block"
    return "warn" if Severity.WARNING in severities else "pass"


def overall_remedy(findings: Iterable[Finding]) -> Remedy:
    """Combine the remedies of error findings.

    `reject` if any error says so, else the dearest of each error's cheapest alternative. `unknown` decides only
    where a blocking fact is unknown: an error that has no other remedy. Warnings keep their remedies to themselves.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if any(Remedy.REJECT in finding.remedies for finding in errors):
        return Remedy.REJECT
    cheapest = [_cheapest(finding.remedies) for finding in errors]
    if Remedy.UNKNOWN in cheapest:
        return Remedy.UNKNOWN
    return max(cheapest, key=cost_of, default=Remedy.NONE)


def _cheapest(remedies: Sequence[Remedy]) -> Remedy:
    known = [remedy for remedy in remedies if remedy is not Remedy.UNKNOWN]
    return min(known, key=cost_of, default=Remedy.UNKNOWN)


def cost_of(remedy: Remedy) -> Cost:
    """Return where an ordered remedy stands, cheap to dear.

    Raises:
        KeyError: `remedy` is `reject` or `unknown`, which have no place in the order.
    """
    return Cost[remedy.name]


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings ordered by code and place, then by message."""
    return tuple(sorted(findings, key=lambda finding: (finding.code, finding.at, finding.message)))
