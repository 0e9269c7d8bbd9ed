"""What a launch line says of speculative decoding, as people write it."""

import shlex

import pytest

from registry.domain.proposal import Speculation
from registry.engines.launch import parse_launch


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("python -m sglang.launch_server --model-path x", "sglang"),
        ("python3 /opt/sglang/launch_server.py", "sglang"),
        ("sglang serve --model-path x", "sglang"),
        ("A=1 /opt/venv/bin/vllm serve x", "vllm"),
        ("python -m vllm.entrypoints.openai.api_server", "vllm"),
        ("--disable-cuda-graph", None),
        ("ray serve x", None),
        ("--served-model-name serve", None),
        ("", None),
    ],
)
def test_whose_server_a_line_starts(line, starts):
    assert parse_launch(line, "sglang").starts == starts
    assert parse_launch(line, "vllm").starts == starts


@pytest.mark.parametrize(
    ("line", "method"),
    [
        ("--speculative-algorithm EAGLE3", "EAGLE3"),
        ("--speculative-algo=eagle3", "EAGLE3"),
        ("--speculative-alg NextN", "NEXTN"),
        ("--speculative-algorithm EAGLE --speculative-algo EAGLE3", "EAGLE3"),
    ],
)
def test_the_algorithm_of_sglang_in_every_spelling(line, method):
    found = parse_launch(line, "sglang").speculation
    assert (found.method, found.broken) == (method, "")


@pytest.mark.parametrize("line", ["--speculative-algorithm", "--speculative-algorithm --tp 8", "--speculative-algo="])
def test_an_algorithm_without_a_value_is_broken(line):
    assert parse_launch(line, "sglang").speculation.broken == "it is given no value"


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (["--speculative-config", '{"method": "eagle3", "model": "."}'], "eagle3"),
        (['--speculative_config={"method": "EAGLE3"}'], "EAGLE3"),
        (["-sc", '{"method": "ngram"}'], "ngram"),
        (["--speculative-config.method", "eagle3", "--speculative-config.model=x"], "eagle3"),
        (["--speculative-config", '{"model": "x"}', "--speculative-config.method=eagle"], "eagle"),
        (["--speculative-config", '{"method": "ngram"}', "--speculative-config", '{"method": "eagle3"}'], "eagle3"),
        (["--speculative-config", '{"model": "x"}'], None),
        (["--speculative-config.model", "x"], None),
    ],
)
def test_the_method_of_vllm_in_every_spelling(words, method):
    found = parse_launch(shlex.join(["vllm", "serve", "x", *words]), "vllm").speculation
    assert found == Speculation(option="--speculative-config", method=method)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{method: eagle3}", "its value is no JSON"),
        ("", "its value is no JSON"),
        ("[]", "its value is no JSON object"),
        ('{"method": 3}', "its method is 3, expected a text"),
    ],
)
def test_what_vllm_cannot_read_is_broken(value, why):
    found = parse_launch(shlex.join(["--speculative-config", value]), "vllm").speculation
    assert found.broken.startswith(why)


@pytest.mark.parametrize("line", ["vllm serve x", "--enforce-eager", "--served-model-name=--speculative-config", ""])
def test_a_line_that_asks_for_nothing(line):
    assert parse_launch(line, "vllm").speculation is None
    assert parse_launch(line, "sglang").speculation is None


def test_options_behind_the_engines_own_end_of_options_ask_for_nothing():
    line = "python -m sglang.launch_server -- --speculative-algorithm EAGLE3"
    assert parse_launch(line, "sglang").speculation is None


@pytest.mark.parametrize(
    ("line", "elsewhere"),
    [
        ("vllm serve x --config f.yaml", True),
        ("vllm serve x --config=f", True),
        ("vllm serve $ARGS", True),
        ("vllm serve x", False),
    ],
)
def test_options_may_come_from_elsewhere(line, elsewhere):
    assert parse_launch(line, "vllm").elsewhere is elsewhere
