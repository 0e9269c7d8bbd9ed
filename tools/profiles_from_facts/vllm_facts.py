"""vLLM profiles: id readers and capture facts from `vllm.json`, target classes from `vllm_targets.json`.

`vllm.json` speaks of the model bodies whose forward pass was executed (`LlamaModel`, ...). Which architectures run
which body was read in the wheels' registries and class definitions; `vllm_targets.json` records it with file and line.
"""

import json
import re
from pathlib import Path
from typing import Any, Final, Literal

from registry.domain.profile import Graphs, IdKey, LaunchFacts, Profile, Runner, TargetFacts
from registry.engines.capture import left_captured
from tools.profiles_from_facts.rows import FactsError, Row, only
from tools.profiles_from_facts.vllm_drafts import DRAFTS
from tools.profiles_from_facts.vllm_targets import target_facts, unsupported

VERSIONS: Final = ("0.11.2", "0.18.0", "0.28.0", "0.33.0")

_TARGETS: Final = Path(__file__).with_name("vllm_targets.json")
_BODY = re.compile(r"\((\w+)\)$")
_TRANSFORMERS: Final = "Transformers"

_TOP: Final = "eagle_aux_hidden_state_layer_ids (top level)"
_NESTED: Final = "eagle_config.eagle_aux_hidden_state_layer_ids"
_DFLASH: Final = "dflash_config.target_layer_ids"
_LISTS: Final = "eagle_config.layer_ids / dflash_config.layer_ids"
_DSPARK: Final = "target_layer_ids / dspark_target_layer_ids (top level)"
_PRECEDENCE: Final = (
    (_TOP, "/eagle_aux_hidden_state_layer_ids"),
    (_NESTED, "/eagle_config/eagle_aux_hidden_state_layer_ids"),
    (_DFLASH, "/dflash_config/target_layer_ids"),
    (_DSPARK, "/dspark_target_layer_ids"),
    (_DSPARK, "/target_layer_ids"),
    (_LISTS, "/dflash_config/layer_ids"),
    (_LISTS, "/eagle_config/layer_ids"),
)
"""Where ids are looked for, in the order of the readers' source; not every reader looks everywhere."""
_COUNTING: Final = {"depth = id": "identity", "depth = id + 1": "plus_one"}

_NO_SWITCH: Final = frozenset({("0.11.2", "V1"), ("0.18.0", "V2"), ("0.28.0", "V2")})
"""Runners that capture whatever `use_aux_hidden_state` says: 0.11.2 v1/worker/gpu_model_runner.py:375, 0.18.0
v1/worker/gpu/model_runner.py:179, 0.28.0 :247. The others read it: 0.33.0 gpu/spec_decode/eagle/eagle3_utils.py:15."""

_DENSE_AND_LISTED: Final = (
    "DeepseekV2ForCausalLM", "DeepseekV4ForCausalLM", "GraniteMoeForCausalLM", "InklingForCausalLM",
    "InklingForConditionalGeneration", "KimiK3ForConditionalGeneration", "LongcatFlashNgramForCausalLM",
    "Qwen2MoeForCausalLM",
)  # fmt: skip
"""0.28.0 config/vllm.py:69: architectures that get V2 although they are no dense ones."""
_HYBRID: Final = (
    "InternS2MobiusForConditionalGeneration", "InternS2PreviewForConditionalGeneration", "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM", "Qwen3NextForCausalLM", "Qwen3_5ForCausalLM", "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration",
)  # fmt: skip
"""0.28.0 config/vllm.py:705: hybrid architectures stay on V1, dense or not."""


def profiles(rows: tuple[Row, ...]) -> tuple[Profile, ...]:
    """Return the profiles of `VERSIONS`, without digests.

    Raises:
        FactsError: a needed row is missing, or a row's facts disagree with its executed examples.
    """
    listed = json.loads(_TARGETS.read_text(encoding="utf-8"))
    return tuple(_profile(version, only(rows, engine="vllm"), listed[version]["targets"]) for version in VERSIONS)


def _profile(version: str, rows: tuple[Row, ...], listed: dict[str, Any]) -> Profile:
    bodies = _bodies(version, rows)
    targets = {name: target_facts(version, name, entry, bodies) for name, entry in listed.items()}
    targets |= {facts.target_class: facts for facts in unsupported(version)}
    return Profile(
        engine="vllm",
        version=version,
        digest="",
        targets=dict(sorted(targets.items())),
        runners=tuple(_runner(row) for row in only(rows, role="config-reader", version=version)),
        graphs=Graphs(
            ids_hold=True,
            disable_option="--enforce-eager",
            cost="slower decoding: no CUDA graphs, no compilation",
            at="vllm/v1/worker: aux layers are set in load_model, before graphs are captured",
        ),
        drafts=DRAFTS[version],
        # determine_available_memory runs the target on dummy inputs before the engine answers, and no option skips it.
        launch=LaunchFacts(algorithm="eagle3", startup_pass=True),
    )


def _bodies(version: str, rows: tuple[Row, ...]) -> dict[str, TargetFacts]:
    """Return what each executed model body does, as facts of a class that stands for it."""
    captures = only(rows, role="target-capture")
    bodies = {}
    for row in captures:
        if row["version"] == version:
            match = _BODY.search(row["model_class"])
            if match is None:
                raise FactsError(f"vllm {version}: {row['model_class']!r} names no model body")
            bodies[match[1]] = _body(match[1], row)
    if version != "0.11.2":
        spanning = next(row for row in captures if row["model_class"].startswith("Transformers backend"))
        bodies[_TRANSFORMERS] = TargetFacts(
            target_class=_TRANSFORMERS,
            dialect="identity",
            default="early_middle_late",
            depth_zero="raises",
            depth_n="captured",
            out_of_range="raises",
            note=spanning["notes"][0],
            established="read",
        )
    return bodies


def _body(name: str, row: Row) -> TargetFacts:
    notes = " | ".join(row["notes"])
    if row["ids_to_depth"] != "depth = id":
        raise FactsError(f"vllm {row['version']} {name}: unknown counting {row['ids_to_depth']!r}")
    facts = TargetFacts(
        target_class=name,
        dialect="identity",
        default="early_middle_late",
        depth_zero="raises" if "id 0 raises" in notes else "captured",
        depth_n="dropped" if "id n never captured" in notes else "captured",
    )
    for ids, expected in row["executed_detail"].items():
        _check(facts, json.loads(ids), expected, row)
    return facts


def _check(facts: TargetFacts, ids: list[int], expected: object, row: Row) -> None:
    captured = left_captured(facts, ids, layers=61)
    fails = facts.depth_zero == "raises" and 0 in (captured.depths or ())
    outcome = "TypeError: NoneType + tensor" if fails else list(captured.depths or ())
    if outcome != expected:
        raise FactsError(f"{row['cite']}: ids {ids} read {outcome}, and were seen to give {expected}")


def _runner(row: Row) -> Runner:
    name: Literal["v1", "v2"] = "v1" if row["runner"] == "V1" else "v2"
    dense = row["version"] == "0.28.0"
    return Runner(
        name=name,
        keys=tuple(
            IdKey(pointer=pointer, dialect=_COUNTING[row["keys"][key]])
            for key, pointer in _PRECEDENCE
            if row["keys"][key] != "ignored"
        ),
        default_for=_default_for(row),
        default_classes=(_DENSE_AND_LISTED if name == "v2" else _HYBRID) if dense else (),
        capture_off=None if (row["version"], row["runner"]) in _NO_SWITCH else "/eagle_config/use_aux_hidden_state",
        # V1's dummy pass hands the draft a state that is as wide as the draft already; V2's goes through `fc`.
        startup_runs_fc=name == "v2",
        at=row["cite"].partition(" ")[2],
    )


def _default_for(row: Row) -> Literal["all", "none", "dense"]:
    text: str = row["runner_is_default_for"]
    if text.startswith(("all", "everything", "MoE/hybrid targets")):
        return "all"
    if text.startswith("dense targets and a listed set"):
        return "dense"
    if text.startswith(("opt-in env only", "VLLM_USE_V2_MODEL_RUNNER=0")):
        return "none"
    raise FactsError(f"{row['cite']}: no known default in {text!r}")
