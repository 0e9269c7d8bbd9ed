"""Which files of an engine are worth reading, as one table: about one in ten.

A path here begins with the package folder: `sglang/srt/models/llama.py`. Changing the table changes digests; then
`REVISION` goes up, so that no remembered digest of the old table is taken for one of the new.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

EngineName = Literal["sglang", "vllm"]

ENGINES: tuple[EngineName, ...] = get_args(EngineName)

REVISION = 1
"""Revision of the table below, part of every digest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The relevant `.py` files of one engine.

    Attributes:
        folders: everything below these, each with a final `/`.
        prefixes: files whose path begins so.
        models: the folder of model classes; where it has no file, the engine is not there.
    """

    folders: tuple[str, ...]
    prefixes: tuple[str, ...]
    models: str


SELECTIONS: Mapping[EngineName, Selection] = {
    "sglang": Selection(
        folders=(
            "sglang/srt/models/",
            "sglang/srt/model_executor/",
            "sglang/srt/speculative/",
            "sglang/srt/arg_groups/",
            "sglang/srt/configs/",
            "sglang/srt/plugins/",
            "sglang/srt/layers/layer_boundary/",
        ),
        prefixes=(
            "sglang/launch_server.py",
            "sglang/srt/entrypoints/engine.py",
            "sglang/srt/entrypoints/http_server.py",
            "sglang/srt/environ.py",
            "sglang/srt/layers/aux_hidden_states",
            "sglang/srt/layers/communicator",
            "sglang/srt/layers/logits_processor.py",
            "sglang/srt/managers/schedule_batch.py",
            "sglang/srt/managers/scheduler.py",
            "sglang/srt/managers/tp_worker.py",
            "sglang/srt/model_loader/loader.py",
            "sglang/srt/model_loader/weight_utils.py",
            "sglang/srt/platforms/__init__.py",
            "sglang/srt/server_args.py",
            "sglang/srt/utils/hf_transformers/common.py",
        ),
        models="sglang/srt/models/",
    ),
    "vllm": Selection(
        folders=(
            "vllm/config/",
            "vllm/model_executor/models/",
            "vllm/models/",
            "vllm/plugins/",
            "vllm/spec_decode/",
            "vllm/transformers_utils/",
            "vllm/v1/spec_decode/",
            "vllm/v1/worker/",
        ),
        prefixes=(
            "vllm/config.py",
            "vllm/engine/arg_utils.py",
            "vllm/envs.py",
            "vllm/model_executor/model_loader/default_loader.py",
            "vllm/model_executor/model_loader/utils.py",
            "vllm/model_executor/model_loader/weight_utils.py",
            "vllm/v1/engine/core.py",
        ),
        models="vllm/model_executor/models/",
    ),
}


def is_relevant(path: str, engine: EngineName) -> bool:
    """Tell whether the file at `path`, from the package folder on, is one to read."""
    selection = SELECTIONS[engine]
    return path.endswith(".py") and path.startswith(selection.folders + selection.prefixes)


def relevant(paths: Iterable[str], engine: EngineName) -> tuple[str, ...]:
    """Return the relevant ones of `paths`, sorted."""
    return tuple(sorted(path for path in paths if is_relevant(path, engine)))


def may_hold(folder: str, engine: EngineName) -> bool:
    """Tell whether a relevant file can lie below `folder`, such as `sglang/srt`; a walk enters no other."""
    inside = f"{folder}/"
    selection = SELECTIONS[engine]
    return inside.startswith(selection.folders + selection.prefixes) or any(
        wanted.startswith(inside) for wanted in selection.folders + selection.prefixes
    )


def holds_models(paths: Iterable[str], engine: EngineName) -> bool:
    """Tell whether `paths` have a model class file of `engine`: the sign that it is the engine."""
    return any(path.startswith(SELECTIONS[engine].models) for path in paths)
