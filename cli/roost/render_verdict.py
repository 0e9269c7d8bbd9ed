"""Verdicts for people: `roost.verdict/1` as a dict in, text out. Pure, and tolerant of members it does not know."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from roost.screen import Paint

_PLAIN: Final = Paint()

_DECISION_STYLES: Final = {"pass": ("green", "bold"), "warn": ("yellow", "bold"), "block": ("red", "bold")}
_SEVERITY_STYLES: Final = {"error": ("red", "bold"), "warning": ("yellow", "bold"), "info": ("cyan",)}

REMEDIES: Final[Mapping[str, str]] = {
    "none": "nothing has to change",
    "config": "change the config or launch options; no retraining",
    "convert": "rewrite the artifact; no retraining",
    "engine": "another engine build, a plugin or a patch; no retraining",
    "other_target": "another target",
    "retrain": "retrain",
    "reject": "do not use this file",
    "unknown": "a fact needed to judge is missing",
}
"""What each remedy asks for."""

OUTCOMES: Final[Mapping[str, str]] = {
    "serves": "serves",
    "crashes": "becomes healthy, then fails on a pass",
    "refuses": "does not become healthy",
    "defaults": "serves with the configured ids ignored",
    "unknown": "not known",
}
"""What each outcome looks like."""

_CONFIGS: Final = ("proposed draft config", "stored config.json")
"""Sources that are whole: a fact that they lack is known to be absent."""

_MOST_NAMES: Final = 3
"""Names that are listed of many."""

_MARGIN: Final = 12
"""Width of the left column of facts."""


def render(verdict: Mapping[str, Any], *, checkpoint: str = "", paint: Paint = _PLAIN, width: int = 100) -> str:
    """Put a verdict into words.

    Args:
        verdict: The `roost.verdict/1` document.
        checkpoint: What was judged, as the caller named it.
        paint: Colors.
        width: Columns that prose may take.
    """
    parts = [_head(verdict, checkpoint=checkpoint, paint=paint), headline(verdict, width=width)]
    parts.append(_facts(verdict, paint=paint, width=width))
    parts += _findings(verdict, paint=paint, width=width)
    last = (_cost(verdict), _unjudged(verdict, paint=paint, width=width), _look_next(verdict, paint=paint, width=width))
    return "\n\n".join([*parts, *(part for part in last if part)])


def headline(verdict: Mapping[str, Any], *, width: int, indent: str = "") -> str:
    """Return the headline, a line per range: it says in turn where the checkpoint works, with what, and where not."""
    first, *ranges = str(verdict["headline"]).split("; ")
    lines = [wrap(first, width=width, indent=indent)]
    return "\n".join(
        [*lines, *(wrap(text, width=width, indent=f"{indent}    ", first=f"{indent}  ") for text in ranges)]
    )


def by_weight(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return findings, errors first; within one severity the order stays."""
    order = ("error", "warning", "info")
    return sorted(findings, key=lambda finding: order.index(finding["severity"]))


def taps_of(verdict: Mapping[str, Any], phase: str) -> Sequence[Mapping[str, Any]] | None:
    """Return the effective taps of a phase; None where nothing can be said."""
    effective = verdict.get("effective_taps")
    return None if effective is None else effective[phase]


def spell(taps: Sequence[Mapping[str, Any]] | None) -> str:
    """Spell taps: their depths, with stream and norm only where they are not the usual ones; `-` where unknown."""
    if taps is None:
        return "-"
    return ", ".join(_spell_one(tap) for tap in taps) or "none"


def _spell_one(tap: Mapping[str, Any]) -> str:
    pairs = ((tap.get("stream", "residual"), "residual"), (tap.get("norm", "none"), "none"))
    unusual = [word for word, usual in pairs if word != usual]
    return f"{tap['depth']} ({', '.join(unusual)})" if unusual else str(tap["depth"])


def decision_label(decision: str, *, paint: Paint = _PLAIN) -> str:
    """Return the decision as the first word of a line."""
    return paint(f"{decision.upper():<5}", *_DECISION_STYLES.get(decision, ("bold",)))


def _head(verdict: Mapping[str, Any], *, checkpoint: str, paint: Paint) -> str:
    runner = f" (runner {verdict['runner']})" if verdict.get("runner") else ""
    subject = f"{checkpoint} on {verdict['engine']}" if checkpoint else str(verdict["engine"])
    return f"{decision_label(verdict['decision'], paint=paint)}  {paint(subject, 'bold')}{runner}"


def _facts(verdict: Mapping[str, Any], *, paint: Paint, width: int) -> str:
    lines = [_fact("remedy", _remedy(verdict), width=width)]
    lines.append(_fact("outcome", _explained(str(verdict["outcome"]), OUTCOMES), width=width))
    trained = verdict.get("trained_taps")
    lines.append(_fact("trained", f"taps {spell(trained)}" if trained is not None else "taps unknown", width=width))
    lines += [_phase(verdict, phase, paint=paint) for phase in ("prefill", "decode")]
    if verdict.get("unknown"):
        lines.append(_fact("unknown", "; ".join(verdict["unknown"]), width=width))
    if verdict.get("profile"):
        lines.append(_fact("profile", str(verdict["profile"]), width=width))
    lines += [_fact("fix", text, width=width) for text in _fixes(verdict)]
    return "\n".join(lines)


def _remedy(verdict: Mapping[str, Any]) -> str:
    """Explain the remedy; a warning asks for nothing, but is there to be read."""
    text = _explained(str(verdict["remedy"]), REMEDIES)
    return f"{text}; read the warnings" if verdict["remedy"] == "none" and verdict["decision"] == "warn" else text


def _fixes(verdict: Mapping[str, Any]) -> list[str]:
    """Return every suggested edit once: often one edit mends several findings."""
    suggested = (finding.get("suggested") for finding in by_weight(verdict["findings"]))
    return list(dict.fromkeys(_suggestion(edit) for edit in suggested if edit))


def _suggestion(suggested: Mapping[str, Any]) -> str:
    result = f" (verdict then: {suggested['decision']})" if suggested.get("decision") else ""
    return str(suggested.get("text") or "; ".join(_edits(suggested))) + result


def _explained(word: str, meanings: Mapping[str, str]) -> str:
    meaning = meanings.get(word, word)
    return word if meaning == word else f"{word}: {meaning}"


def _phase(verdict: Mapping[str, Any], phase: str, *, paint: Paint) -> str:
    taps, trained = taps_of(verdict, phase), verdict.get("trained_taps")
    if taps is None:
        why = "not known" if verdict["outcome"] == "unknown" else "none: it never gets that far"
        return _fact(phase, f"taps {why}")
    differs = trained is not None and list(taps) != list(trained)
    mark = paint("differs from training", "red") if differs else paint("as trained", "green") if trained else ""
    return _fact(phase, f"taps {spell(taps):<12} {mark}".rstrip())


def _fact(name: str, text: str, *, width: int = 0) -> str:
    start = f"  {name:<{_MARGIN - 2}}"
    if not width:
        return start + text
    return textwrap.fill(text, width, initial_indent=start, subsequent_indent=" " * _MARGIN, break_long_words=False)


def _findings(verdict: Mapping[str, Any], *, paint: Paint, width: int) -> Iterator[str]:
    """Yield a paragraph per finding. Evidence that stands above already is not said again."""
    said: set[str] = set()
    citation = str(verdict.get("profile") or "")
    for finding in by_weight(verdict["findings"]):
        severity = str(finding["severity"])
        head = f"{paint(severity, *_SEVERITY_STYLES.get(severity, ()))} {paint(str(finding['code']), 'bold')}"
        place = f"  {paint('at ' + finding['at'], 'dim')}" if finding.get("at") else ""
        evidence = [_evidence(fact, citation=citation) for fact in finding.get("evidence") or ()]
        fresh = [text for text in evidence if text not in said]
        said |= set(fresh)
        lines = [head + place, wrap(str(finding["message"]), width=width, indent="  ")]
        lines += [paint(wrap(text, width=width, indent="    ", first="  - "), "dim") for text in fresh]
        yield "\n".join(lines)


def _evidence(evidence: Mapping[str, Any], *, citation: str) -> str:
    value = evidence.get("value")
    source = str(evidence.get("source") or "")
    lacking = "absent" if source in _CONFIGS else "not known"
    shown = f" = {lacking if value is None else _short(value)}"
    if citation and source.startswith(citation):
        # The citation stands above, once.
        source = f"profile {source.removeprefix(citation).strip()}".strip()
    origin = ", ".join(part for part in (source, str(evidence.get("grade") or "")) if part)
    return f"{evidence.get('fact', '')}{shown}" + (f"  [{origin}]" if origin else "")


def _short(value: object) -> str:
    """Spell a value; of a long list of names the first ones are enough for people, JSON has them all."""
    if isinstance(value, list) and len(value) > _MOST_NAMES and all(isinstance(name, str) for name in value):
        return f"{', '.join(value[:_MOST_NAMES])} and {len(value) - _MOST_NAMES} more"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _edits(suggested: Mapping[str, Any]) -> Iterator[str]:
    for edit in suggested.get("draft_config") or ():
        value = "" if "value" not in edit else f" = {json.dumps(edit['value'], ensure_ascii=False)}"
        yield f"{edit.get('op', 'set')} {edit.get('path', '')}{value}"
    for option in suggested.get("launch") or ():
        yield f"start with {option}"


def _cost(verdict: Mapping[str, Any]) -> str:
    cost = verdict.get("retrain_cost")
    if not cost:
        return ""
    return "\n".join(["if retrained:", *(f"  {name:<10} {_told(value)}" for name, value in cost.items())])


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_told(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unjudged(verdict: Mapping[str, Any], *, paint: Paint, width: int) -> str:
    parts = verdict.get("not_judged") or ()
    return paint(wrap(f"not judged: {', '.join(parts)}", width=width), "dim") if parts else ""


def _look_next(verdict: Mapping[str, Any], *, paint: Paint, width: int) -> str:
    places = verdict.get("look_next") or ()
    if not places or verdict["decision"] == "block":
        # What blocks comes first; JSON holds the list all the same.
        return ""
    rows = [
        wrap(str(text), width=width, indent="     ", first=f"  {number}. ")
        for number, text in enumerate(places, start=1)
    ]
    return "\n".join([paint("if acceptance stays low, look next at:", "bold"), *rows])


def wrap(text: str, *, width: int, indent: str = "", first: str | None = None) -> str:
    """Wrap prose; paths, ids and codes are never cut in two."""
    start = indent if first is None else first
    return textwrap.fill(
        text, width, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
