"""Which model runner of a build serves a target: the one asked for, the one the environment picks, or the default."""

from typing import Final

from registry.domain.profile import Profile, Runner
from registry.domain.proposal import Launch
from registry.domain.target import Target

_V2_SWITCH: Final = "VLLM_USE_V2_MODEL_RUNNER"


def choose_runner(
    profile: Profile, target: Target, launch: Launch | None, *, asked: str | None
) -> tuple[Runner | None, str]:
    """Return the runner and why it is the one, or None and why it cannot be told."""
    switch = launch.environment.get(_V2_SWITCH) if launch and not asked else None
    if switch is not None and _number(switch) is None:
        return None, f"{_V2_SWITCH} is {switch!r}, which the build cannot read as a number"
    wanted, why = (asked, "asked for") if asked else (_by_switch(switch), f"set by {_V2_SWITCH}")
    if wanted is not None:
        named = next((runner for runner in profile.runners if runner.name == wanted), None)
        if named is None:
            return None, f"{profile.build} has no runner {wanted}"
        return named, why
    if len(profile.runners) == 1:
        return profile.runners[0], "the only runner of this build"
    return _by_default(profile, target)


def _by_switch(value: str | None) -> str | None:
    return None if value is None else ("v2" if _number(value) else "v1")


def _number(text: str) -> int | None:
    """Return what Python's `int` makes of `text`, as vLLM reads its switches; None where it raises."""
    try:
        return int(text)
    except ValueError:
        return None


def _by_default(profile: Profile, target: Target) -> tuple[Runner | None, str]:
    """Pick by target: a runner that names the class, then one for dense targets, then the one for all others."""
    listed = next((runner for runner in profile.runners if target.target_class in runner.default_classes), None)
    if listed is not None:
        return listed, f"the default of this build for {target.target_class}"
    dense = next((runner for runner in profile.runners if runner.default_for == "dense"), None)
    if dense is not None:
        if target.dense is None:
            return None, "the build picks its runner by whether the target is dense, and that is unknown"
        if target.dense:
            return dense, "the default of this build for dense targets"
    rest = next((runner for runner in profile.runners if runner.default_for == "all"), None)
    return rest, "the default of this build for this target"
