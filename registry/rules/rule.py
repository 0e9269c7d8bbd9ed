"""A rule: its record, its manual page and its check. The record says everything that any surface shows of it."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Final, Literal

from registry.domain.case import Case
from registry.domain.findings import Finding, Severity

Stage = Literal["registration", "check"]

Part = Literal["proposal", "target", "profile", "reading", "launch"]
"""A part of a case that can be absent. Provenance, tensors and the draft config are always there."""

HAS: Final[dict[Part, Callable[[Case], bool]]] = {
    "proposal": lambda case: case.proposal is not None,
    "target": lambda case: case.target is not None,
    "profile": lambda case: case.profile is not None,
    "reading": lambda case: case.reading is not None,
    "launch": lambda case: case.proposal is not None and case.proposal.launch is not None,
}
"""Whether a case has a part."""

REGISTRATION: Final[frozenset[Stage]] = frozenset({"registration"})
CHECK: Final[frozenset[Stage]] = frozenset({"check"})
BOTH: Final[frozenset[Stage]] = frozenset({"registration", "check"})

FAMILIES: Final[dict[str, str]] = {
    "TAP": "taps",
    "SEM": "draft semantics",
    "WGT": "weights",
    "VOC": "vocabulary and tokenizer",
    "TGT": "target identity",
    "ROP": "rope and context",
    "ENG": "engine support",
    "LCH": "launch options",
    "ART": "files and safety",
    "TRN": "training data and tool chain",
    "PRF": "performance",
}
"""The first three letters of a code."""

Check = Callable[[Case], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. The code is never reused; the name reads as what one would allow: "allow *tap-out-of-range*"."""

    code: str
    name: str
    severity: Severity
    """The usual one; single findings may weigh less."""
    since: str
    """The release of Roost that first had it."""
    check: Check
    stages: frozenset[Stage] = CHECK
    parts: frozenset[Part] = frozenset()
    """Parts of the case without which the rule does not run."""
    weighs_unknown: Severity | None = None
    """What it weighs when a fact it needs is missing; None where it needs none that can be."""
    refuses_registration: bool = False
    """Whether its errors refuse a registration. Other rules only warn there."""
    removed_in: str | None = None
    """For a retired rule: the release without it. Its record stays."""
    replaced_by: str | None = None

    @property
    def module(self) -> ModuleType:
        """The rule's file: its docstring is the manual page, its PASSES and FAILS are runnable examples."""
        return sys.modules[self.check.__module__]

    @property
    def passes(self) -> tuple[Case, ...]:
        """Cases in which the rule finds nothing."""
        return _examples(self.module, "PASSES")

    @property
    def fails(self) -> tuple[Case, ...]:
        """Cases in which it finds something."""
        return _examples(self.module, "FAILS")

    @property
    def family(self) -> str:
        """What the first three letters of the code stand for."""
        return FAMILIES[self.code[:3]]

    def applies(self, case: Case, stage: Stage) -> bool:
        """Tell whether the rule runs: absent is not unknown."""
        return self.removed_in is None and stage in self.stages and all(HAS[part](case) for part in self.parts)


def _examples(module: ModuleType, name: str) -> tuple[Case, ...]:
    return tuple(getattr(module, name, ()))
