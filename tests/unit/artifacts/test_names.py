import pytest

from registry.artifacts.faults import FaultError
from registry.artifacts.names import checked, is_pickled_weights, printable, role_of, unsafe_reason
from registry.domain.artifact_faults import FaultKind


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../x", "a/../b", "a/..", "/etc/passwd", "//x", "a//b", "a/", "./a", "a/./b", "a\\b", "..\\x",
        "C:x", "c:/x", "a\0b", "a\nb", "a\x7f", "\x85", "x" * 256, "a/" * 600 + "b", "\ud800",
    ],
)  # fmt: skip
def test_names_that_must_not_become_paths_are_refused(name: str) -> None:
    with pytest.raises(FaultError) as caught:
        checked(name, file="model.safetensors.index.json", where="/weight_map/t")
    assert caught.value.fault.kind is FaultKind.PATH_ESCAPE
    assert caught.value.fault.where == "/weight_map/t"
    caught.value.fault.observed.encode()


@pytest.mark.parametrize("name", ["model.safetensors", "sub/dir/m.safetensors", "..x", "a..b", "ä ö.json", ".hidden"])
def test_plain_relative_names_are_kept(name: str) -> None:
    assert checked(name, file="index") == name
    assert unsafe_reason(name) is None


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("config.json", "config"),
        ("model-00001-of-00002.safetensors", "weights"),
        ("sub/model.safetensors", "weights"),
        ("model.safetensors.index.json", "index"),
        ("tokenizer.json", "tokenizer"),
        ("cl100k.tiktoken", "tokenizer"),
        ("chat_template.jinja", "template"),
        ("sub/config.json", None),
        ("generation_config.json", None),
        ("pytorch_model.bin", None),
        ("modeling.py", None),
        ("model.safetensors.bak", None),
    ],
)
def test_roles(name: str, role: str | None) -> None:
    assert role_of(name) == role


def test_what_trainers_leave_behind_is_not_taken_for_weights() -> None:
    assert is_pickled_weights("pytorch_model.bin")
    assert is_pickled_weights("model.pt")
    assert not is_pickled_weights("training_args.bin")
    assert not is_pickled_weights("rng_state_3.pth")


def test_odd_names_become_printable() -> None:
    assert printable("a\nb\udcffc") == "a\\x0ab\\udcffc"
