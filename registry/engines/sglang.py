"""SGLang: ids nested in `eagle_config`, counts as steps and draft tokens, launch options as arguments and YAML.

Sources: wheels 0.4.5 to 0.5.23 (`docs/concepts.md` names what was executed and what was read).
"""

import json
import shlex
from collections.abc import Mapping
from typing import Final

from registry.domain.profile import Profile
from registry.engines.config_ids import NESTED
from registry.engines.draft_config import cleaned, with_value
from registry.engines.engine import Engine, LaunchPlan, environment_file

_CAPTURE: Final = "/eagle_config/use_aux_hidden_state"


def write_ids(config: Mapping[str, object], ids: tuple[int, ...], _profile: Profile) -> dict[str, object]:
    """Return `config` with `ids` where SGLang reads them, and the tap count where its draft classes read that."""
    written = with_value(cleaned(config), NESTED, list(ids))
    written = with_value(written, _CAPTURE, value=True)
    return with_value(written, "/num_aux_hidden_states", len(ids))


def _settings(plan: LaunchPlan) -> dict[str, str | int | bool]:
    """State every count: left out, SGLang fills in a triple by target class, or rewrites what does not fit.

    A chain of k draft steps verifies k + 1 tokens: SGLang counts the root among its draft tokens, vLLM does not.
    """
    return {
        "speculative-algorithm": plan.profile.launch.algorithm,
        "speculative-draft-model-path": ".",
        "speculative-num-steps": plan.draft_steps,
        "speculative-eagle-topk": 1,
        "speculative-num-draft-tokens": plan.draft_steps + 1,
        **{option.removeprefix("--"): True for option in plan.options},
    }


def launch_options(plan: LaunchPlan) -> tuple[str, ...]:
    """Return SGLang's arguments as words."""
    words: list[str] = []
    for name, value in _settings(plan).items():
        words.append(f"--{name}")
        if value is not True:
            words.append(str(value))
    return tuple(words)


def launch_files(plan: LaunchPlan) -> Mapping[str, str]:
    """Return the arguments as one shell line, and as YAML for `--config`: JSON scalars are YAML scalars."""
    yaml = "".join(f"{name}: {json.dumps(value)}\n" for name, value in _settings(plan).items())
    return {"launch.args": shlex.join(launch_options(plan)) + "\n", "launch.yaml": yaml, **environment_file(plan)}


ENGINE: Final = Engine(
    name="sglang", title="SGLang", write_ids=write_ids, launch_options=launch_options, launch_files=launch_files
)
