"""vLLM's launch files: the runner is picked by a variable, and only where the build would take another."""

import shlex
from dataclasses import replace

import pytest

from registry.domain.proposal import parse_build
from registry.domain.target import Target
from registry.engines.engine import LaunchPlan
from registry.engines.launch import parse_launch
from registry.engines.runners import choose_runner
from registry.engines.vllm import launch_files, launch_options, pick_runner
from registry.services.profiles import ShippedProfiles

PROFILE = ShippedProfiles().get(parse_build("vllm==0.33.0"))
TARGET = Target(name="org/Model", target_class="KimiK25ForConditionalGeneration", layers=61)


def plan(**environment: str) -> LaunchPlan:
    assert PROFILE is not None
    return LaunchPlan(profile=PROFILE, runner="v1", draft_steps=3, environment=environment)


def test_arguments_stay_arguments_and_the_environment_is_a_file_of_its_own() -> None:
    files = launch_files(plan(VLLM_USE_V2_MODEL_RUNNER="0"))
    assert tuple(shlex.split(files["launch.args"])) == launch_options(plan())
    assert files["launch.env"] == "VLLM_USE_V2_MODEL_RUNNER=0\n"


def test_where_no_variable_is_needed_there_is_no_such_file() -> None:
    assert sorted(launch_files(plan())) == ["launch.args", "speculative-config.json"]


@pytest.mark.parametrize("runner", ["v1", "v2"])
def test_what_picks_a_runner_is_read_back_as_that_runner(runner: str) -> None:
    assert PROFILE is not None
    ((name, value),) = pick_runner(runner).items()
    launch = parse_launch(f"{name}={value} vllm serve x", "vllm")
    for target in (TARGET, replace(TARGET, dense=True)):
        found, _ = choose_runner(PROFILE, target, launch, asked=None)
        assert found is not None
        assert found.name == runner
