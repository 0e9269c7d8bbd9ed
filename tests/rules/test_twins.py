"""The same weights under two names: what two records say of them, and what of that is worth a warning."""

from dataclasses import replace

import pytest

from registry.domain.case import Twin
from registry.domain.findings import Severity
from registry.domain.provenance import TrainedTaps
from registry.domain.taps import Tap, at_depths
from registry.rules import catalogue
from registry.rules.specimen import PROVENANCE, specimen, trained

OURS = {
    "target": {"name": "org/target", "digest": "sha256:" + "1" * 64},
    "capture": {"counting": "before_layer", "layers": [3, 31, 59], "verifier_state": {"layer": 61, "norm": "none"}},
    "standardization": {"name": "standardize_data_v1", "version": "0.4.0"},
    "training": {"steps": 21000},
    "data": {"cost_usd": 86.0},
}
SAME = trained(3, 31, 59)


def found(theirs, *, taps=SAME, provenance=PROVENANCE):
    twin = Twin.compared("stranger@1", OURS, {**OURS, **theirs}, provenance=provenance)
    case = specimen(twins=(replace(twin, trained=taps),))
    return [finding for finding in catalogue().judge(case, "check") if finding.code == "TRN101"]


def test_equal_records_say_nothing():
    assert found({}) == []


def test_the_same_states_counted_otherwise_say_nothing():
    theirs = {"counting": "after_layer", "layers": [2, 30, 58], "verifier_state": {"layer": 60, "norm": "none"}}
    assert found({"capture": theirs}) == []


@pytest.mark.parametrize("theirs", [{"data": None}, {"training": {}}, {"data": {"cost_usd": 1.0}},
                                    {"standardization": {"name": "standardize_data_v1", "version": "9"}}])  # fmt: skip
def test_facts_that_nobody_rests_on_or_that_one_leaves_out_are_a_note(theirs):
    (finding,) = found(theirs)
    assert finding.severity is Severity.INFO
    assert "stranger@1 has the same weights as kimi-k25-eagle3@1" in finding.message


def test_a_record_without_a_fact_is_told_apart_from_one_that_differs():
    (finding,) = found({"data": None, "training": {"steps": 1}})
    assert "other facts at /training/steps, which no verdict rests on" in finding.message
    assert "only one of the two records states /data" in finding.message


def test_taps_that_are_not_known_are_a_note_that_says_why():
    unknown = TrainedTaps(taps=None, why_unknown="the counting 'sglang==9.9.9' is not known here")
    (finding,) = found({"capture": {"counting": "sglang==9.9.9", "layers": [3, 31, 59]}}, taps=unknown)
    assert finding.severity is Severity.INFO
    assert "its trained taps are not known: the counting 'sglang==9.9.9' is not known here" in finding.message


@pytest.mark.parametrize(
    ("theirs", "taps", "says"),
    [
        ({"capture": {**OURS["capture"], "layers": [2, 30, 58]}}, trained(2, 30, 58), "taps 2, 30, 58, not 3, 31, 59"),
        (
            {"capture": {**OURS["capture"], "stream": "branch"}},
            replace(SAME, taps=at_depths((3, 31, 59), stream="branch")),
            "taps 3 (branch)",
        ),
        (
            {"capture": {**OURS["capture"], "verifier_state": {"layer": 61, "norm": "final"}}},
            replace(SAME, verifier=Tap(depth=61, norm="final")),
            "with norm final, not depth 61 of residual with norm none",
        ),
        ({"target": {"name": "org/other"}}, SAME, "they differ in /target/name"),
        ({"standardization": {"name": "standardize_data_v0"}}, SAME, "they differ in /standardization/name"),
    ],
)
def test_a_contradiction_in_what_verdicts_rest_on_is_a_warning_that_names_both_and_the_way_out(theirs, taps, says):
    (finding,) = found(theirs, taps=taps)
    assert finding.severity is Severity.WARNING
    assert says in finding.message
    assert "stranger@1 has the same weights as kimi-k25-eagle3@1" in finding.message
    assert "find out which record is right, and correct the other with `roost provenance amend`" in finding.message


@pytest.mark.parametrize(("digest", "severity"), [("sha256:" + "2" * 64, Severity.WARNING),
                                                  ("blake3:" + "2" * 64, Severity.INFO)])  # fmt: skip
def test_two_kinds_of_digest_contradict_nothing(digest, severity):
    theirs = replace(PROVENANCE, target=replace(PROVENANCE.target, digest=digest))
    (finding,) = found({"target": {"name": "org/target", "digest": digest}}, provenance=theirs)
    assert finding.severity is severity
