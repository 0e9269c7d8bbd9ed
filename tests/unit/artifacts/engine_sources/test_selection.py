import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.artifacts.engine_sources import is_relevant, relevant
from registry.artifacts.engine_sources.selection import SELECTIONS, may_hold

WANTED = [
    ("sglang", "sglang/srt/models/llama.py"),
    ("sglang", "sglang/srt/models/deepseek_common/x.py"),
    ("sglang", "sglang/srt/model_executor/model_runner_components/spec_aux_hidden_state.py"),
    ("sglang", "sglang/srt/arg_groups/fields/spec.py"),
    ("sglang", "sglang/srt/layers/communicator.py"),
    ("sglang", "sglang/srt/layers/communicator_nsa_cp.py"),
    ("sglang", "sglang/srt/layers/layer_boundary/stage.py"),
    ("sglang", "sglang/srt/layers/aux_hidden_states.py"),
    ("sglang", "sglang/srt/plugins/hook_registry.py"),
    ("vllm", "vllm/config.py"),
    ("vllm", "vllm/config/speculative.py"),
    ("vllm", "vllm/models/deepseek_v4/nvidia/model.py"),
    ("vllm", "vllm/v1/worker/gpu/spec_decode/eagle/eagle3_utils.py"),
    ("vllm", "vllm/transformers_utils/configs/eagle.py"),
    ("vllm", "vllm/plugins/__init__.py"),
]


@pytest.mark.parametrize(("engine", "path"), WANTED)
def test_relevant_files(engine, path) -> None:
    assert is_relevant(path, engine)
    assert not is_relevant(path, "vllm" if engine == "sglang" else "sglang")


@pytest.mark.parametrize(
    "path",
    [
        "sglang/srt/models/x.pyc",
        "sglang/srt/layers/attention/x.py",
        "sglang/test/models/x.py",
        "python/sglang/srt/x.py",
    ],
)
def test_files_that_are_not(path) -> None:
    assert not is_relevant(path, "sglang")


def test_relevant_sorts() -> None:
    given_paths = ["sglang/srt/models/b.py", "x.py", "sglang/srt/models/a.py"]
    assert relevant(given_paths, "sglang") == ("sglang/srt/models/a.py", "sglang/srt/models/b.py")


@given(
    st.sampled_from(["sglang", "vllm"]),
    st.data(),
    st.lists(st.sampled_from(["a", "b_c", "model_executor"]), max_size=3),
)
def test_a_walk_enters_every_folder_above_a_relevant_file(engine, data, below) -> None:
    folder = data.draw(st.sampled_from(SELECTIONS[engine].folders))
    path = folder + "/".join([*below, "x.py"])
    assert is_relevant(path, engine)
    parts = path.split("/")[:-1]
    assert all(may_hold("/".join(parts[: depth + 1]), engine) for depth in range(len(parts)))
