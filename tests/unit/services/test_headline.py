"""The first words of a verdict: what is in the way, and of a missing fact which one."""

import pytest

from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.proposal import parse_build
from registry.services.headline import headline

BUILD = parse_build("sglang==9.9")


def missing(*facts, severity=Severity.ERROR):
    return [
        Finding(
            code=f"X{place}", severity=severity, message="m", at="/engine", remedies=(Remedy.UNKNOWN,), unknown=fact
        )
        for place, fact in enumerate(facts)
    ]


@pytest.mark.parametrize(
    ("findings", "why"),
    [
        (missing("engine build"), "this build is not listed"),
        (missing("trained taps", "layer count"), "a fact needed to judge it is missing: layer count, trained taps"),
        (missing(None), "a fact needed to judge it is missing"),
    ],
)
def test_a_fact_that_is_missing_is_named(findings, why):
    others = missing("target digest", severity=Severity.WARNING)
    text = headline(BUILD, "block", Remedy.UNKNOWN, [*findings, *others], [], ahead="")
    assert text.endswith(f"({why})")


def test_a_remedy_that_is_known_keeps_its_words():
    text = headline(BUILD, "block", Remedy.CONFIG, missing("engine build"), [], ahead="")
    assert text == "blocked on sglang==9.9 by X0 (config only, no retraining)"
