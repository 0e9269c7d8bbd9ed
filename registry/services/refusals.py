"""Refusals of use cases that carry more than a sentence: the findings or the verdict behind them."""

from registry.domain.errors import Refused
from registry.domain.findings import Finding
from registry.domain.verdict import Verdict


class RegistrationRefused(Refused):
    """The rules refuse this registration.

    Attributes:
        findings: every finding, errors and others.
    """

    def __init__(self, detail: str, *, findings: tuple[Finding, ...], hint: str = "") -> None:
        super().__init__(detail, hint=hint)
        self.findings = findings


class EmissionRefused(Refused):
    """Nothing can be emitted for this build.

    Attributes:
        verdict: why not, and what would help.
    """

    def __init__(self, detail: str, *, verdict: Verdict, hint: str = "") -> None:
        super().__init__(detail, hint=hint)
        self.verdict = verdict
