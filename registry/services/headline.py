"""The headline: the answer for this build, then the range of builds it holds for. One sentence, made of facts."""

from collections.abc import Iterable, Sequence

from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.proposal import Build
from registry.domain.verdict import Decision
from registry.services.ranges import Span

_REMEDY_WORDS = {
    Remedy.CONFIG: "config only, no retraining",
    Remedy.CONVERT: "convert the artifact, no retraining",
    Remedy.ENGINE: "the engine is in the way, not the checkpoint",
    Remedy.OTHER_TARGET: "another target",
    Remedy.RETRAIN: "retrain",
    Remedy.REJECT: "the files must not be used",
    Remedy.UNKNOWN: "a fact needed to judge it is missing",
}


def headline(
    build: Build, decision: Decision, remedy: Remedy, findings: Iterable[Finding], spans: Sequence[Span], *, ahead: str
) -> str:
    """Return the headline of a verdict."""
    parts = [_here(build, decision, remedy, tuple(findings))]
    if spans:
        parts.append(_range(build.engine, spans))
    if ahead:
        parts.append(f"ahead: {ahead}")
    return "; ".join(parts)


def _here(build: Build, decision: Decision, remedy: Remedy, findings: tuple[Finding, ...]) -> str:
    if decision == "block":
        codes = sorted({finding.code for finding in findings if finding.severity is Severity.ERROR})
        return f"blocked on {build} by {', '.join(codes)} ({_REMEDY_WORDS[remedy]})"
    if decision == "warn":
        codes = sorted({finding.code for finding in findings if finding.severity is Severity.WARNING})
        return f"passes on {build} with warnings ({', '.join(codes)})"
    return f"passes on {build}"


def _range(engine: str, spans: Sequence[Span]) -> str:
    """Say where it works, what each stretch needs, and where nothing helps."""
    serving = [span for span in spans if span.serves]
    if not serving:
        return f"works on no listed build of {engine} ({_obstacles(spans)})"
    # What needs least comes first: as proposed, then other ids, then options.
    serving.sort(key=lambda span: (bool(span.options), not span.as_proposed))
    works = "; ".join(f"{_versions(span)} {_needs(span)}" for span in serving)
    barred = [span for span in spans if not span.serves]
    unmodified = "works unmodified on" if not serving[0].options else "works on"
    rest = f"; not on {_obstacles(barred)}" if barred else ""
    return f"{unmodified} {engine} {works}{rest}"


def _versions(span: Span) -> str:
    return span.first if span.first == span.last else f"{span.first} to {span.last}"


def _needs(span: Span) -> str:
    ids = "[" + ",".join(str(number) for number in span.ids or ()) + "]"
    config = "as is" if span.as_proposed else f"with ids {ids}"
    return f"{config}, only with {' '.join(span.options)}" if span.options else config


def _obstacles(spans: Iterable[Span]) -> str:
    # Semicolons separate the headline's parts, so an obstacle must not bring its own.
    return ", ".join(f"{_versions(span)} ({span.obstacle.replace('; ', ', ')})" for span in spans)
