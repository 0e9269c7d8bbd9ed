"""The headline: the answer for this build, then the range of builds it holds for. One sentence, made of facts."""

import json
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
        return f"blocked on {build} by {', '.join(codes)} ({_why(remedy, findings)})"
    if decision == "warn":
        codes = sorted({finding.code for finding in findings if finding.severity is Severity.WARNING})
        return f"passes on {build} with warnings ({', '.join(codes)})"
    return f"passes on {build}"


def _why(remedy: Remedy, findings: tuple[Finding, ...]) -> str:
    """Say what the remedy means; of a fact that is missing, which one."""
    if remedy is not Remedy.UNKNOWN:
        return _REMEDY_WORDS[remedy]
    missing = sorted({f.unknown for f in findings if f.unknown and f.severity is Severity.ERROR})
    if missing == ["engine build"]:
        return "this build is not listed"
    if any(f.code == "TAP109" for f in findings):
        return "the record of its training cannot be right: amend it"
    return f"{_REMEDY_WORDS[remedy]}: {', '.join(missing)}" if missing else _REMEDY_WORDS[remedy]


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
    config = "as is" if span.as_proposed else f"with {_spelled(span)}"
    return f"{config}, only with {' '.join(span.options)}" if span.options else config


def _spelled(span: Span) -> str:
    """Name the ids, and every other key without which they would not do."""
    ids = "ids [" + ",".join(str(number) for number in span.ids or ()) + "]"
    parts = [ids if span.ids else f"{span.pointer.rpartition('/')[2]} false"]
    parts += [f"{key} {_value(value)}" for key, value in span.settings]
    return " and ".join(parts)


def _value(value: object) -> str:
    """Spell a value as the config holds it; a list of one as that one."""
    single = value[0] if isinstance(value, list) and len(value) == 1 else value
    return single if isinstance(single, str) else json.dumps(single)


def _obstacles(spans: Iterable[Span]) -> str:
    # Semicolons separate the headline's parts, so an obstacle must not bring its own.
    return ", ".join(f"{_versions(span)} ({span.obstacle.replace('; ', ', ')})" for span in spans)
