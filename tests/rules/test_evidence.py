"""What stands behind a finding is a fact in words that people know, and never an empty one."""

import re

import pytest

from registry.domain.taps import at_depths
from registry.rules import catalogue, evidence
from registry.rules.specimen import SPECIMEN, config, failure, phases, reading, specimen, trained

FAILS = [
    pytest.param(rule, case, id=f"{rule.code}-{number}")
    for rule in catalogue().rules
    for number, case in enumerate(rule.fails)
]
INTERNAL = re.compile(r"bad_value|setter_raises|no_setter|too_few|captures_nothing|depth_zero|tensor_refused|None")


@pytest.mark.parametrize(("rule", "case"), FAILS)
def test_no_fact_behind_a_finding_is_empty_or_named_in_code(rule, case):
    stages = [stage for stage in ("registration", "check") if rule.applies(case, stage)]
    for stage in stages:
        for finding in catalogue().judge(case, stage):
            for fact in finding.evidence:
                assert fact.value not in (None, "", [], ()), (finding.code, fact)
                assert not INTERNAL.search(f"{fact.fact} {fact.value}"), (finding.code, fact)


def test_a_raising_setter_has_nothing_to_say_of_depths_that_are_never_captured():
    read = reading(taps=None, requested=(), failures=failure("setter_raises", "the setter indexes 61 layers with 61"))
    facts = [fact.fact for f in catalogue().judge(specimen(reading=read), "check") for fact in f.evidence]
    assert "trained taps" in facts
    assert not any("never" in fact or "asked" in fact for fact in facts)


def test_no_taps_are_none_in_words():
    assert evidence.trained(specimen(trained=trained())).value == "none"
    assert evidence.effective(SPECIMEN, "decode", ()).value == "none"
    assert evidence.effective(SPECIMEN, "decode", at_depths((3,))).value == [3]


def test_a_value_that_the_config_holds_as_null_is_said_to_be_null():
    case = specimen(config={**config(), "draft_vocab_size": None})
    assert evidence.configured(case, "/draft_vocab_size", None).value == "null"
    assert evidence.configured(case, "/target_hidden_size", None).value is None


def test_a_foreseen_failure_is_told_by_when_it_happens():
    read = reading(taps=phases((3, 31, 59)), failures=failure("shape", "norm.weight is [96]", "pass"))
    finding = next(f for f in catalogue().judge(specimen(reading=read), "check") if f.code == "ENG106")
    assert [fact.fact for fact in finding.evidence] == ["what fails on the forward pass"]
