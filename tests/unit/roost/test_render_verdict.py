"""A verdict in words: everything that matters is there, and nothing is said twice."""

import copy
from typing import Any

import pytest

from roost.render_verdict import by_weight, headline, render, spell
from roost.screen import Paint


def taps(*depths: int) -> list[dict[str, object]]:
    return [{"depth": depth, "stream": "residual", "norm": "none"} for depth in depths]


EDIT = {
    "draft_config": [{"op": "replace", "path": "/ids", "value": [3, 31, 59]}],
    "launch": [],
    "decision": "pass",
    "text": "set /ids to [3, 31, 59]",
}

EVIDENCE = {
    "fact": "effective taps",
    "value": [2, 30, 58],
    "source": "sglang==0.5.23 rev 1 sha256:abc models/kimi_k25.py:928",
    "grade": "evaluated",
}

BLOCKED: dict[str, Any] = {
    "decision": "block", "remedy": "config", "outcome": "serves", "engine": "sglang==0.5.23", "runner": None,
    "headline": "blocked (config only); works unmodified on 0.5.11; from 0.5.13 with ids [3,31,59]",
    "unknown": [], "trained_taps": taps(3, 31, 59),
    "effective_taps": {"prefill": taps(3, 31, 59), "decode": taps(2, 30, 58)},
    "findings": [
        {"code": "ENG104", "severity": "info", "remedies": [], "message": "a patch is dormant", "at": "/engine",
         "evidence": [], "suggested": None},
        {"code": "TAP101", "severity": "error", "remedies": ["config"], "message": "decode reads others",
         "at": "/draft_config/ids", "evidence": [EVIDENCE], "suggested": EDIT},
        {"code": "TAP105", "severity": "error", "remedies": ["config"], "message": "the key is ignored",
         "at": "/draft_config/ids", "evidence": [EVIDENCE], "suggested": EDIT},
    ],
    "not_judged": ["launch"], "look_next": ["chat template"],
    "retrain_cost": None, "profile": "sglang==0.5.23 rev 1 sha256:abc", "rules": "1",
}  # fmt: skip


def changed(**members: object) -> dict[str, Any]:
    return {**copy.deepcopy(BLOCKED), **members}


TEXT = """\
BLOCK  kimi@1 on sglang==0.5.23

blocked (config only)
  works unmodified on 0.5.11
  from 0.5.13 with ids [3,31,59]

  remedy    config: change the config or launch options; no retraining
  outcome   serves
  trained   taps 3, 31, 59
  prefill   taps 3, 31, 59    as trained
  decode    taps 2, 30, 58    differs from training
  profile   sglang==0.5.23 rev 1 sha256:abc
  fix       set /ids to [3, 31, 59] (verdict then: pass)

error TAP101  at /draft_config/ids
  decode reads others
  - effective taps = [2, 30, 58]  [profile models/kimi_k25.py:928, evaluated]

error TAP105  at /draft_config/ids
  the key is ignored

info ENG104  at /engine
  a patch is dormant

not judged: launch"""


def test_a_blocked_verdict_as_people_see_it() -> None:
    assert render(BLOCKED, checkpoint="kimi@1") == TEXT


def test_what_a_pass_does_not_explain_comes_last() -> None:
    text = render(changed(decision="pass", remedy="none", findings=[]))
    assert text.startswith("PASS   sglang==0.5.23\n")
    assert text.endswith("if acceptance stays low, look next at:\n  1. chat template")


@pytest.mark.parametrize(
    ("outcome", "words"), [("unknown", "taps not known"), ("refuses", "taps none: it never gets that far")]
)
def test_taps_that_nobody_can_tell_are_not_drawn_as_taps(outcome: str, words: str) -> None:
    text = render(changed(effective_taps=None, outcome=outcome))
    assert text.count(words) == 2


def test_unknown_facts_and_unknown_training_are_said() -> None:
    text = render(changed(unknown=["target class"], trained_taps=None))
    assert "unknown   target class" in text
    assert "trained   taps unknown" in text


def test_the_cost_of_retraining_is_split() -> None:
    text = render(changed(retrain_cost={"reused": {"samples": 100000, "cost_usd": 86.0}, "redone": ["dump"]}))
    assert "if retrained:\n  reused     samples 100000, cost_usd 86.0\n  redone     dump" in text


def test_a_suggestion_without_words_is_spelled_from_its_edits() -> None:
    verdict = changed()
    verdict["findings"][1]["suggested"] = {**EDIT, "text": "", "launch": ["--x"]}
    assert "replace /ids = [3, 31, 59]; start with --x (verdict then: pass)" in render(verdict)


def test_a_long_list_of_names_is_cut_for_people() -> None:
    verdict = changed()
    verdict["findings"][1]["evidence"] = [
        {"fact": "dropped", "value": list("abcde"), "source": "weights", "grade": "read"}
    ]
    assert "dropped = a, b, c and 2 more  [weights, read]" in render(verdict)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_prose_keeps_to_the_width(width: int) -> None:
    verdict = changed(headline="word " * 60, look_next=["word " * 40], decision="warn")
    verdict["findings"][0]["message"] = "word " * 50
    long = [line for line in render(verdict, width=width).splitlines() if len(line) > width]
    assert all("at /" in line or "[" in line or "differs" in line for line in long)


def test_colors_change_no_words() -> None:
    painted = render(BLOCKED, checkpoint="kimi@1", paint=Paint(on=True))
    assert "\x1b[31;1mBLOCK" in painted
    import re  # noqa: PLC0415 - only here

    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render(BLOCKED, checkpoint="kimi@1")


def test_errors_come_first_and_the_order_within_a_weight_stays() -> None:
    assert [finding["code"] for finding in by_weight(BLOCKED["findings"])] == ["TAP101", "TAP105", "ENG104"]


def test_taps_are_spelled_with_what_is_unusual() -> None:
    unusual = {"depth": 3, "stream": "branch", "norm": "final"}
    assert spell([unusual, *taps(5)]) == "3 (branch, final), 5"
    assert spell(None) == "-"
    assert spell([]) == "none"


def test_a_headline_is_a_line_per_range() -> None:
    assert headline({"headline": "a; b; c"}, width=80) == "a\n  b\n  c"


@pytest.mark.parametrize(
    ("source", "words"), [("target org/Model", "digest = not known"), ("stored config.json", "digest = absent")]
)
def test_a_fact_without_a_value_is_said_to_be_lacking(source: str, words: str) -> None:
    verdict = changed()
    verdict["findings"][1]["evidence"] = [{"fact": "digest", "value": None, "source": source, "grade": "declared"}]
    assert f"- {words}  [{source}, declared]" in render(verdict)


def test_a_warning_that_asks_for_nothing_is_still_to_be_read() -> None:
    assert "none: nothing has to change; read the warnings" in render(changed(decision="warn", remedy="none"))
    assert "read the warnings" not in render(changed(decision="pass", remedy="none", findings=[]))
