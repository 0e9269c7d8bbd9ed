"""`roost.verdict/1`: the answer to one proposal. Its bytes are the same wherever it is given."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from registry.documents import fields
from registry.documents.canonical import canonical_bytes, plain
from registry.documents.fields import Fields
from registry.documents.validation import validated
from registry.domain.findings import Evidence, Finding, Remedy, Severity, Suggestion
from registry.domain.reading import Outcome
from registry.domain.verdict import Decision, Verdict

SCHEMA: Final = "roost.verdict/1"


def parse(data: bytes | Mapping[str, object]) -> Verdict:
    """Return the verdict in `data`; which fact a single finding lacked is not in it (`unknown` lists them).

    Raises:
        DocumentError: with every fault.
    """
    return from_fields(validated("verdict", data))


def render(verdict: Verdict) -> dict[str, object]:
    """Return the document of `verdict`: every key is always there.

    Raises:
        DocumentError: evidence holds a value that JSON cannot carry.
    """
    return {
        "schema": SCHEMA,
        "decision": verdict.decision,
        "remedy": verdict.remedy.value,
        "outcome": verdict.outcome.value,
        "headline": verdict.headline,
        "engine": verdict.engine,
        "runner": verdict.runner,
        "unknown": list(verdict.unknown),
        "trained_taps": fields.render_taps(verdict.trained_taps),
        "effective_taps": fields.render_phases(verdict.effective_taps),
        "findings": render_findings(verdict.findings),
        "not_judged": list(verdict.not_judged),
        "look_next": list(verdict.look_next),
        "retrain_cost": plain(verdict.retrain_cost),
        "profile": verdict.profile,
        "rules": verdict.rules,
    }


def verdict_bytes(verdict: Verdict) -> bytes:
    """Return the canonical bytes of `verdict`, as the CLI and the service both give them."""
    return canonical_bytes(render(verdict))


def render_findings(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Return findings as documents list them, in the order given."""
    return [_render_finding(finding) for finding in findings]


def from_fields(document: Fields) -> Verdict:
    """Return the record of a document that is already checked."""
    return Verdict(
        decision=cast("Decision", fields.text(document, "decision")),
        remedy=Remedy(fields.text(document, "remedy")),
        outcome=Outcome(fields.text(document, "outcome")),
        headline=fields.text(document, "headline"),
        engine=fields.text(document, "engine"),
        runner=fields.maybe_text(document, "runner"),
        unknown=fields.texts(document, "unknown"),
        trained_taps=fields.maybe_taps(document, "trained_taps"),
        effective_taps=fields.maybe_phases(document, "effective_taps"),
        findings=findings_at(document, "findings"),
        not_judged=fields.texts(document, "not_judged"),
        look_next=fields.texts(document, "look_next"),
        retrain_cost=fields.maybe_part(document, "retrain_cost"),
        profile=fields.maybe_text(document, "profile"),
        rules=fields.text(document, "rules"),
    )


def findings_at(document: Fields, key: str) -> tuple[Finding, ...]:
    """Return the findings listed at `key` of a checked document."""
    return tuple(map(_finding, fields.parts(document, key)))


def _render_finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "remedies": [remedy.value for remedy in finding.remedies],
        "message": finding.message,
        "at": finding.at,
        "evidence": [_render_evidence(evidence) for evidence in finding.evidence],
        "suggested": None if finding.suggested is None else _render_suggestion(finding.suggested),
    }


def _finding(finding: Fields) -> Finding:
    suggested = fields.maybe_part(finding, "suggested")
    return Finding(
        code=fields.text(finding, "code"),
        severity=Severity(fields.text(finding, "severity")),
        remedies=tuple(map(Remedy, fields.texts(finding, "remedies"))),
        message=fields.text(finding, "message"),
        at=fields.text(finding, "at"),
        evidence=tuple(map(_evidence, fields.parts(finding, "evidence"))),
        suggested=None if suggested is None else _suggestion(suggested),
    )


def _render_evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "fact": evidence.fact,
        "value": plain(evidence.value),
        "source": evidence.source,
        "grade": str(evidence.grade),
    }


def _evidence(evidence: Fields) -> Evidence:
    return Evidence(
        fact=fields.text(evidence, "fact"),
        value=evidence["value"],
        source=fields.text(evidence, "source"),
        grade=fields.text(evidence, "grade"),
    )


def _render_suggestion(suggestion: Suggestion) -> dict[str, object]:
    return {
        "draft_config": [plain(edit) for edit in suggestion.draft_config],
        "launch": list(suggestion.launch),
        "decision": suggestion.decision,
        "text": suggestion.text,
    }


def _suggestion(suggestion: Fields) -> Suggestion:
    return Suggestion(
        draft_config=tuple(fields.parts(suggestion, "draft_config")),
        launch=fields.texts(suggestion, "launch"),
        decision=fields.text(suggestion, "decision"),
        text=fields.text(suggestion, "text"),
    )
