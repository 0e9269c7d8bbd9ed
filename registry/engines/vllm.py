"""vLLM: ids at the top level of the draft config, launch options as one `--speculative-config` JSON.

Sources: wheels 0.9.2 to 0.33.0 (`docs/concepts.md` names what was executed and what was read).
"""

import json
import shlex
from collections.abc import Mapping
from typing import Final

from registry.domain.profile import Profile
from registry.engines.config_ids import TOP_LEVEL
from registry.engines.draft_config import cleaned, with_value
from registry.engines.engine import Engine, LaunchPlan, environment_file


def write_ids(config: Mapping[str, object], ids: tuple[int, ...], _profile: Profile) -> dict[str, object]:
    """Return `config` with `ids` at the top level, the one place that every runner reads.

    The tap count is stated too: from 0.22.1 the draft classes size `fc` by it and never look at top-level ids.
    """
    written = with_value(cleaned(config), TOP_LEVEL, list(ids))
    return with_value(written, "/num_aux_hidden_states", len(ids))


def _speculative_config(plan: LaunchPlan) -> str:
    """State the method: left out, vLLM guesses it from the path's name. Unknown keys are refused, so no others."""
    return json.dumps(
        {"method": plan.profile.launch.algorithm, "model": ".", "num_speculative_tokens": plan.draft_steps}
    )


def launch_options(plan: LaunchPlan) -> tuple[str, ...]:
    """Return vLLM's arguments as words."""
    return ("--speculative-config", _speculative_config(plan), *plan.options)


def launch_files(plan: LaunchPlan) -> Mapping[str, str]:
    """Return the arguments as one shell line, the JSON by itself, and the environment where one is needed."""
    return {
        "launch.args": shlex.join(launch_options(plan)) + "\n",
        "speculative-config.json": _speculative_config(plan) + "\n",
        **environment_file(plan),
    }


def pick_runner(runner: str) -> Mapping[str, str]:
    """Return the variable that picks a runner: no option does."""
    return {"VLLM_USE_V2_MODEL_RUNNER": "1" if runner == "v2" else "0"}


ENGINE: Final = Engine(
    name="vllm",
    title="vLLM",
    write_ids=write_ids,
    launch_options=launch_options,
    launch_files=launch_files,
    pick_runner=pick_runner,
)
