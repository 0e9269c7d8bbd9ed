"""Small pure parts: tables, bars, launch lines, problem documents."""

import json
import shlex

import pytest

from roost.failures import Failure
from roost.launch_line import launch_line
from roost.problems import ProblemFailure, failure_from
from roost.progress import draw, size
from roost.screen import Paint
from roost.tables import facts, table


class Answer:
    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body


def failed(problem: dict[str, object], *, refusal_exit: int = 1) -> Failure:
    answer = Answer(int(str(problem.get("status", 422))), json.dumps({"title": "t", **problem}).encode())
    return failure_from(answer, asked="GET x", refusal_exit=refusal_exit)


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(["A", "B"], [["long one", "x"], ["y", "z"]], paint=Paint()) == "A         B\nlong one  x\ny         z"


def test_facts_that_are_not_there_give_no_line() -> None:
    assert facts([("name", "x"), ("digest", None), ("n", 0), ("empty", "")]) == "  name  x\n  n     0"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (5 << 30, "5.0 GiB"), (7 << 40, "7.0 TiB")],
)
def test_bytes_are_spelled_in_binary_units(count: int, text: str) -> None:
    assert size(count) == text


def test_a_bar_says_how_far_and_how_fast() -> None:
    text = draw("reading", done=64 << 20, total=128 << 20, seconds=2.0)
    assert text == "reading  [##############..............]  50%  64.0 MiB of 128.0 MiB  32.0 MiB/s"


@pytest.mark.parametrize(("done", "total"), [(0, 0), (5, 0), (200, 100)])
def test_a_bar_never_overflows(done: int, total: int) -> None:
    assert "100%" in draw("x", done=done, total=total, seconds=0.0)


def test_the_launch_line_of_sglang_starts_it_on_the_target() -> None:
    options = ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", ".", "--disable-cuda-graph"]
    line = launch_line(engine="sglang", target="org/Model", options=options, environment={})
    assert shlex.split(line) == [
        "python", "-m", "sglang.launch_server", "--model-path", "org/Model", "--speculative-algorithm", "EAGLE3",
        "--speculative-draft-model-path", ".", "--disable-cuda-graph",
    ]  # fmt: skip


def test_the_launch_line_of_vllm_starts_with_its_variables() -> None:
    options = ["--speculative-config", '{"method": "eagle3", "model": "."}']
    environment = {"VLLM_USE_V2_MODEL_RUNNER": "0", "WORDS": "two words"}
    line = launch_line(engine="vllm", target="org/Model", options=options, environment=environment)
    *start, config = shlex.split(line)
    assert start == [
        "VLLM_USE_V2_MODEL_RUNNER=0", "WORDS=two words", "vllm", "serve", "org/Model", "--speculative-config",
    ]  # fmt: skip
    assert json.loads(config) == {"method": "eagle3", "model": "."}
    assert line.startswith("VLLM_USE_V2_MODEL_RUNNER=0 WORDS='two words' vllm serve")


@pytest.mark.parametrize(
    ("status", "refusal_exit", "code"),
    [(422, 1, 1), (409, 1, 1), (413, 1, 1), (422, 3, 3), (404, 1, 3), (503, 1, 3), (400, 1, 3), (500, 1, 3)],
)
def test_a_refusal_is_told_apart_from_what_could_not_run(status: int, refusal_exit: int, code: int) -> None:
    assert failed({"status": status}, refusal_exit=refusal_exit).exit_code == code


def test_every_fault_and_difference_gets_a_line() -> None:
    failure = failed(
        {
            "detail": "no",
            "errors": [{"pointer": "/a", "message": "bad", "hint": "mend it"}, {"pointer": "/b", "message": "no"}],
            "difference": [{"pointer": "/c", "registered": [1], "given": None}],
        }
    )
    assert failure.details == ("/a: bad (mend it)", "/c: registered [1], given nothing")


def test_findings_stand_in_lines_of_their_own_and_not_in_the_message_too() -> None:
    findings = [
        {"code": "VOC101", "severity": "warning", "message": "w", "at": ""},
        {"code": "ART101", "severity": "error", "message": "a pointer", "at": "/files/x"},
    ]
    failure = failed({"detail": "The files do not agree. ART101: a pointer", "findings": findings})
    assert isinstance(failure, ProblemFailure)
    assert failure.message == "The files do not agree."
    assert failure.details == ("ART101 a pointer (at /files/x)", "warning: VOC101 w")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"error": 1}',
        b"\xff",
        b"[" * 100_000,
        b'{"title": "t", "errors": "x"}',
        b'{"title": 1, "findings": [1]}',
    ],
)
def test_an_answer_that_is_no_problem_document_is_somebody_else(body: bytes) -> None:
    failure = failure_from(Answer(404, body), asked="GET http://x/y", refusal_exit=1)
    assert failure.exit_code == 3
    assert "GET http://x/y answered 404" in failure.message


def test_a_fault_that_the_detail_says_already_is_said_once() -> None:
    message = "'bad name!'; expected a name"
    failure = failed(
        {
            "detail": f"not a valid target document: /name: {message} (mend it)",
            "errors": [{"pointer": "/name", "message": message, "hint": "mend it"}],
        }
    )
    assert failure.message == "not a valid target document"
    assert failure.details == (f"/name: {message} (mend it)",)
