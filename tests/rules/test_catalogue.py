"""The catalogue: what it refuses, what it runs, and what it does when a rule crashes."""

import importlib
import pkgutil
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import registry.rules
from registry.domain.findings import Remedy, Severity
from registry.domain.proposal import Launch
from registry.domain.verdict import decide, overall_remedy
from registry.rules import catalogue
from registry.rules.collection import Catalogue
from registry.rules.manual import HEADINGS, manual_of, parse_manual, record, render_manual
from registry.rules.rule import FAMILIES
from registry.rules.specimen import SPECIMEN, inventory, specimen
from registry.rules.tap_mismatch import RULE

SUPPORT = {
    "collection", "drafter", "evidence", "file_faults", "manual", "rule", "specimen", "tap_remedies", "vocabulary_map",
    "wording",
}  # fmt: skip
EXAMPLES = [case for rule in catalogue().rules for case in (*rule.passes, *rule.fails)]
OPTIONAL = ("trained_target", "target", "proposal", "profile", "target_facts", "reading", "weights_digest")


def proposing(text, **options):
    return specimen(proposal=replace(SPECIMEN.proposal, launch=Launch(text=text, **options)))


def crash(case):
    msg = f"no idea about {case.ref}"
    raise ZeroDivisionError(msg)
    yield


crash.__module__ = "registry.rules.target_digest"  # a rule's page is the docstring of its check's module


def missing_manual(case):
    yield from ()


missing_manual.__module__ = "registry.rules.evidence"


def with_crashing(code):
    return Catalogue(rules=tuple(replace(r, check=crash) if r.code == code else r for r in catalogue().rules))


def test_every_module_of_the_package_is_a_rule_or_known_support():
    names = {module.name for module in pkgutil.iter_modules(registry.rules.__path__)}
    without = {name for name in names if not hasattr(importlib.import_module(f"registry.rules.{name}"), "RULE")}
    assert without == SUPPORT


def test_every_rule_file_is_named_after_its_rule():
    for rule in catalogue().rules:
        assert rule.module.__name__.rpartition(".")[2] == rule.name.replace("-", "_")


def test_rules_are_sorted_and_of_a_known_family():
    codes = [rule.code for rule in catalogue().rules]
    assert codes == sorted(codes)
    assert {code[:3] for code in codes} <= set(FAMILIES)


def test_two_rules_with_one_code_are_refused():
    with pytest.raises(ValueError, match="two rules have the code 'TAP101'"):
        Catalogue(rules=(RULE, replace(RULE, name="another")))


def test_two_rules_with_one_name_are_refused():
    with pytest.raises(ValueError, match="two rules have the name 'tap-mismatch'"):
        Catalogue(rules=(RULE, replace(RULE, code="TAP199")))


@pytest.mark.parametrize("code", ["TAP1", "tap101", "TAPP101", "XYZ101", "TAP101\n"])
def test_a_malformed_code_is_refused(code):
    with pytest.raises(ValueError, match="is not a rule code"):
        Catalogue(rules=(replace(RULE, code=code),))


@pytest.mark.parametrize("name", ["Tap-Mismatch", "tap_mismatch", "", "-tap"])
def test_a_name_that_is_not_kebab_case_is_refused(name):
    with pytest.raises(ValueError, match="is not a rule name"):
        Catalogue(rules=(replace(RULE, name=name),))


def test_a_rule_without_its_headings_is_refused():
    with pytest.raises(ValueError, match="TAP101: the manual page is incomplete: the headings are none"):
        Catalogue(rules=(replace(RULE, check=missing_manual),))


@pytest.mark.parametrize("heading", HEADINGS)
def test_each_heading_must_be_there_and_say_something(heading):
    page = RULE.module.__doc__
    with pytest.raises(ValueError, match="the headings are"):
        parse_manual(page.replace(f"## {heading}\n", ""))
    whole = parse_manual(page).sections[heading]
    with pytest.raises(ValueError, match=f"nothing is said under {heading}"):
        parse_manual(page.replace(whole, ""))


def test_a_rule_is_found_by_code_in_any_case_and_by_name():
    assert catalogue().get("tap101") is catalogue().get("TAP101") is catalogue().get("tap-mismatch") is RULE
    assert catalogue().get("TAP999") is None


@pytest.mark.parametrize(
    ("typed", "meant"), [("TAP10", "TAP101"), ("TPA101", "TAP101"), ("tap-mismach", "TAP101"), ("AR112", "ART112")]
)
def test_a_mistyped_code_finds_its_neighbors(typed, meant):
    assert meant in catalogue().nearest(typed)


def test_nothing_is_near_nonsense():
    assert catalogue().nearest("!!!") == ()


def test_a_crashing_rule_blocks_and_is_named():
    findings = with_crashing("TGT101").judge(SPECIMEN, "check")
    assert [finding.code for finding in findings] == ["TGT101"]
    assert "the rule TGT101 (target-digest) failed" in findings[0].message
    assert "ZeroDivisionError: no idea about kimi-k25-eagle3@1" in findings[0].message
    assert findings[0].unknown == "result of rule TGT101"
    assert decide(findings) == "block"
    assert overall_remedy(findings) is Remedy.UNKNOWN


def test_a_crashing_rule_refuses_a_registration_whatever_the_rule():
    assert decide(with_crashing("VOC101").judge(SPECIMEN, "registration")) == "block"


def test_at_registration_only_rules_that_refuse_one_give_errors():
    case = specimen(inventory=inventory(without=("d2t",), vocab_map=None), proposal=None, reading=None)
    at_registration = {f.code: f.severity for f in catalogue().judge(case, "registration")}
    assert at_registration == {"VOC101": Severity.WARNING}
    at_check = {f.code: f.severity for f in catalogue().judge(replace(case, proposal=SPECIMEN.proposal), "check")}
    assert at_check == {"VOC101": Severity.ERROR}


def test_without_launch_options_the_launch_is_not_judged():
    assert catalogue().not_judged(SPECIMEN) == ("launch",)


def test_known_options_alone_leave_nothing_unjudged():
    assert catalogue().not_judged(proposing("--disable-cuda-graph", options={"--disable-cuda-graph": None})) == ()


def test_other_options_of_a_launch_line_are_not_judged_and_their_values_not_shown():
    case = proposing(
        "FOO=1 VLLM_USE_V2_MODEL_RUNNER=1 python -m sglang.launch_server --model-path /secret/place --tp=8 --x -1 "
        "--disable-cuda-graph",
        options={"--disable-cuda-graph": None},
        environment={"VLLM_USE_V2_MODEL_RUNNER": "1"},
    )
    assert catalogue().not_judged(case) == ("launch FOO", "launch --model-path", "launch --tp", "launch --x")


def test_a_part_that_could_not_be_read_is_not_judged():
    case = specimen(profile=None, reading=None, target_facts=None)
    assert catalogue().not_judged(case) == ("launch", "reading")
    assert catalogue().not_judged(specimen(target=None)) == ("launch", "target")


def test_a_registration_has_nothing_unjudged():
    assert catalogue().not_judged(specimen(proposal=None)) == ()


def test_an_absent_part_is_not_judged_by_its_rules():
    case = specimen(target=None, trained_target=None, reading=None, profile=SPECIMEN.profile)
    assert not any(finding.code.startswith("TGT") for finding in catalogue().judge(case, "check"))


def test_findings_are_ordered_and_the_same_each_time():
    case = specimen(config={}, target=replace(SPECIMEN.target, digest=None, layers=None), trained_target=None)
    once, again = catalogue().judge(case, "check"), catalogue().judge(case, "check")
    assert once == again
    assert [(f.code, f.at, f.message) for f in once] == sorted((f.code, f.at, f.message) for f in once)


def test_the_version_is_the_same_in_another_process():
    code = "from registry.rules import catalogue; print(catalogue().version)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == catalogue().version
    assert catalogue().version.startswith(f"1.{len(catalogue().rules)}.")


def test_importing_the_package_loads_no_rule():
    code = "import sys, registry.rules; print([m for m in sys.modules if m.startswith('registry.rules.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_function_is_not_hidden_by_a_module_of_its_name():
    code = "from registry.rules import catalogue; catalogue(); from registry.rules import catalogue; catalogue()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_record_holds_the_whole_page():
    page, entry = render_manual(RULE), record(RULE)
    assert page.startswith("# TAP101 tap-mismatch\n")
    assert list(entry["manual"]) == list(HEADINGS)
    for heading, text in manual_of(RULE).sections.items():
        assert f"## {heading}\n\n{text}\n" in page
    assert entry["code"] == "TAP101"
    assert entry["weighs_unknown"] == "error"


@given(case=st.sampled_from(EXAMPLES), absent=st.sets(st.sampled_from(OPTIONAL)), empty=st.booleans())
def test_no_rule_crashes_whatever_part_is_missing(case, absent, empty):
    case = replace(case, **dict.fromkeys(absent), **({"config": {}} if empty else {}))
    for stage in ("registration", "check"):
        for finding in catalogue().judge(case, stage):
            assert "failed, so this is not judged" not in finding.message


@given(
    config=st.dictionaries(
        st.sampled_from(
            ["hidden_size", "vocab_size", "draft_vocab_size", "num_hidden_layers", "architectures", "auto_map",
             "target_hidden_size", "tie_word_embeddings", "eagle_config"]
        ),
        st.none() | st.booleans() | st.integers(-2, 300) | st.text(max_size=3)
        | st.lists(st.integers(-1, 3), max_size=2)
        | st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2),
    ),
    case=st.sampled_from(EXAMPLES),
)  # fmt: skip
def test_no_rule_crashes_whatever_the_config_holds(config, case):
    for finding in catalogue().judge(replace(case, config=config), "check"):
        assert "failed, so this is not judged" not in finding.message
