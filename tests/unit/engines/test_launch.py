"""Only what reaches the engine counts: an option that does not must never make a proposal pass."""

import pytest

from registry.domain.errors import Invalid
from registry.engines.launch import parse_launch

FLAG = "--disable-cuda-graph"
SWITCH = "VLLM_USE_V2_MODEL_RUNNER"


@pytest.mark.parametrize(
    "text",
    [FLAG, f"python -m sglang.launch_server --model-path x {FLAG}", f"python \\\n  {FLAG} \\\n  --tp 8",
     f"kubectl exec pod -- python -m sglang.launch_server {FLAG}", f"'{FLAG}'"],
)  # fmt: skip
def test_an_option_that_reaches_the_engine_is_read(text):
    assert parse_launch(text, "sglang").options == {FLAG: None}


@pytest.mark.parametrize(
    "text",
    ["", " ", "#", f"# {FLAG}", f"--tp 8 # {FLAG}", f"python -m sglang.launch_server -- {FLAG}", f"--tp 8 -- {FLAG}",
     f"--served-model-name 'x {FLAG}'", f"--served-model-name={FLAG}"],
)  # fmt: skip
def test_an_option_that_does_not_reach_it_is_not(text):
    assert parse_launch(text, "sglang").options == {}


@pytest.mark.parametrize("text", [f"{FLAG}=true", f"x && echo {FLAG}", f"x; y {FLAG}", "'x", f"a\nb {FLAG}"])
def test_text_that_is_no_one_command_is_refused_with_its_place(text):
    with pytest.raises(Invalid) as caught:
        parse_launch(text, "sglang")
    assert caught.value.pointer == "/launch"
    assert caught.value.hint


def test_the_last_of_an_option_and_its_other_name_lies_last():
    text = "--speculative-algorithm EAGLE --speculative-algo=X --speculative-algorithm EAGLE3"
    options = parse_launch(text, "sglang").options
    assert list(options.items()) == [("--speculative-algo", "X"), ("--speculative-algorithm", "EAGLE3")]


@pytest.mark.parametrize(
    "text",
    [f"{SWITCH}=0", f"A=1 {SWITCH}=0 vllm serve x", f"env -i {SWITCH}=0 vllm serve x", f"docker run -e {SWITCH}=0 i",
     f"docker run --env={SWITCH}=0 image --x"],
)  # fmt: skip
def test_a_variable_of_the_engine_is_read(text):
    assert parse_launch(text, "vllm").environment == {SWITCH: "0"}


def test_a_variable_behind_the_command_is_none_and_is_not_passed_over():
    with pytest.raises(Invalid, match="behind the command's name"):
        parse_launch(f"vllm serve x --served-model-name {SWITCH}=0", "vllm")
    assert parse_launch("vllm serve x --served-model-name A=0", "vllm").environment == {}
