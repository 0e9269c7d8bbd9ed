"""Every rule's own examples, run."""

import pytest

from registry.domain.findings import Remedy, Severity
from registry.rules import catalogue
from registry.rules.specimen import SPECIMEN, specimen

RULES = catalogue().rules
PASSES = [pytest.param(rule, case, id=f"{rule.code}-{n}") for rule in RULES for n, case in enumerate(rule.passes)]
FAILS = [pytest.param(rule, case, id=f"{rule.code}-{n}") for rule in RULES for n, case in enumerate(rule.fails)]
BARE = specimen(
    trained_target=None, target=None, proposal=None, config={}, profile=None, target_facts=None, reading=None
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_passing_and_failing_examples(rule):
    assert rule.passes
    assert rule.fails


@pytest.mark.parametrize(("rule", "case"), PASSES)
def test_a_passing_example_gives_no_finding(rule, case):
    assert list(rule.check(case)) == []


@pytest.mark.parametrize(("rule", "case"), FAILS)
def test_a_failing_example_gives_findings_of_its_rule(rule, case):
    findings = list(rule.check(case))
    assert findings
    for finding in findings:
        assert finding.code == rule.code
        assert finding.message
        assert finding.at == "" or finding.at.startswith("/")
        assert finding.severity in (rule.severity, Severity.WARNING, Severity.INFO)


@pytest.mark.parametrize(("rule", "case"), FAILS)
def test_a_failing_example_is_one_that_the_rule_would_be_run_on(rule, case):
    stages = ["registration", "check"]
    assert any(rule.applies(case, stage) for stage in stages)


@pytest.mark.parametrize(("rule", "case"), FAILS)
def test_an_error_says_what_mends_it(rule, case):
    for finding in rule.check(case):
        if finding.severity is Severity.ERROR:
            assert finding.remedies
            assert Remedy.NONE not in finding.remedies


@pytest.mark.parametrize(("rule", "case"), FAILS)
def test_unknown_weighs_what_the_rule_says_or_less(rule, case):
    weight = {None: 0, Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}
    for finding in rule.check(case):
        if finding.unknown is not None:
            assert rule.weighs_unknown is not None
            assert weight[finding.severity] <= weight[rule.weighs_unknown]


@pytest.mark.parametrize("stage", ["registration", "check"])
def test_the_specimen_itself_has_no_fault(stage):
    assert catalogue().judge(SPECIMEN, stage) == ()


def test_examples_are_pure():
    for rule in RULES:
        for case in rule.fails:
            assert list(rule.check(case)) == list(rule.check(case))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_survives_a_case_without_any_optional_part(rule):
    for finding in rule.check(BARE):
        assert finding.code == rule.code
