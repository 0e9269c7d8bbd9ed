"""Manual pages: a rule's module docstring, taken apart by heading and put together for every surface.

The command, the REST service, the web pages and `docs/rules/` all show what `render_manual` returns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from registry.rules.rule import Rule

HEADINGS: Final = ("What it checks", "Why it matters", "Example", "How to fix", "Limits", "References")
"""Every page has exactly these, in this order."""

_MARK: Final = "## "


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual:
    """A parsed manual page."""

    summary: str
    """The first line: the fault in a sentence."""
    sections: Mapping[str, str]
    """Heading -> Markdown, in the order of `HEADINGS`."""


def parse_manual(docstring: str) -> Manual:
    """Take a rule's module docstring apart.

    Raises:
        ValueError: a heading is missing, unknown, empty or out of order.
    """
    summary, *parts = docstring.split(f"\n{_MARK}")
    pairs = [(heading.strip(), text.strip()) for heading, _, text in (part.partition("\n") for part in parts)]
    found = tuple(heading for heading, _ in pairs)
    if found != HEADINGS:
        msg = f"the headings are {', '.join(found) or 'none'}; expected {', '.join(HEADINGS)}"
        raise ValueError(msg)
    empty = [heading for heading, text in pairs if not text]
    if empty or not summary.strip():
        msg = f"nothing is said under {', '.join(empty) or 'the title'}"
        raise ValueError(msg)
    return Manual(summary=summary.strip(), sections=dict(pairs))


def manual_of(rule: Rule) -> Manual:
    """Return the manual page of `rule`, parsed.

    Raises:
        ValueError: the rule's module docstring is not a manual page.
    """
    return parse_manual(rule.module.__doc__ or "")


def render_manual(rule: Rule) -> str:
    """Return the manual page of `rule` as Markdown."""
    manual = manual_of(rule)
    lines = [f"# {rule.code} {rule.name}", "", manual.summary, "", _facts(rule), ""]
    for heading, text in manual.sections.items():
        lines += [f"{_MARK}{heading}", "", text, ""]
    return "\n".join(lines)


def _facts(rule: Rule) -> str:
    unknown = f"; what it needs and nobody knows is {_article(rule.weighs_unknown)}" if rule.weighs_unknown else ""
    retired = f" Removed in {rule.removed_in}; see {rule.replaced_by or 'no other rule'}." if rule.removed_in else ""
    stages = " and ".join(sorted(rule.stages, reverse=True))
    refuses = " An error refuses the registration." if rule.refuses_registration else ""
    usual = f"Family: {rule.family}. Usually {_article(rule.severity)}{unknown}. Runs at {stages}.{refuses}"
    return f"*{usual} Since {rule.since}.{retired}*"


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aei" else f"a {word}"


def record(rule: Rule) -> dict[str, object]:
    """Return the record of `rule` as `schemas/rules.json` and the REST service give it."""
    manual = manual_of(rule)
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "summary": manual.summary,
        "severity": str(rule.severity),
        "since": rule.since,
        "stages": sorted(rule.stages),
        "parts": sorted(rule.parts),
        "weighs_unknown": str(rule.weighs_unknown) if rule.weighs_unknown else None,
        "refuses_registration": rule.refuses_registration,
        "removed_in": rule.removed_in,
        "replaced_by": rule.replaced_by,
        "manual": dict(manual.sections),
    }
