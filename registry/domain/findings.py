"""Findings: one rule's result, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Severity(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Remedy(StrEnum):
    """What it takes to mend a fault."""

    NONE = "none"
    CONFIG = "config"
    CONVERT = "convert"
    """Rewrite the artifact, no training."""
    ENGINE = "engine"
    """Upgrade, plugin or patch."""
    OTHER_TARGET = "other_target"
    RETRAIN = "retrain"
    REJECT = "reject"
    """The file must not be used."""
    UNKNOWN = "unknown"
    """A fact needed to judge is missing."""


class Cost(IntEnum):
    """The order of remedies, cheap to dear. `reject` and `unknown` stand outside it."""

    NONE = 0
    CONFIG = 1
    CONVERT = 2
    ENGINE = 3
    OTHER_TARGET = 4
    RETRAIN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One fact behind a finding: what it is, where it came from and how well it is established."""

    fact: str
    value: object
    """Anything JSON can hold."""
    source: str
    grade: str
    """A provenance grade, or how a profile established the fact, or `measured` for what was read from the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An edit of the proposal that was applied and judged again before it is shown."""

    draft_config: tuple[Mapping[str, object], ...] = ()
    """RFC 6902 operations on the draft config."""
    launch: tuple[str, ...] = ()
    """Launch options to add."""
    decision: str
    """The decision of the proposal after the edit."""
    text: str
    """The edit in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's result about one place."""

    code: str
    severity: Severity
    message: str
    """Observed and expected, in a sentence or two."""
    at: str
    """JSON Pointer into the proposal."""
    remedies: tuple[Remedy, ...] = ()
    """Alternatives, any one of which mends it."""
    evidence: tuple[Evidence, ...] = ()
    suggested: Suggestion | None = None
    unknown: str | None = None
    """The missing fact, where the finding is that something is unknown."""
