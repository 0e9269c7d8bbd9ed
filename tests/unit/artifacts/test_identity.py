import hashlib
import random
import subprocess
from pathlib import Path

import pytest
from blake3 import blake3
from fakes.safetensors_files import write_safetensors, write_sharded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.artifacts.directory import inspect
from registry.artifacts.identity import shard_list_digest, shard_list_digest_of, weights_digest
from registry.domain.digests import Digest
from registry.domain.tensors import StoredFile, Tensor


def tensor(name: str, *, dtype: str = "F32", shape: tuple[int, ...] = (2,), data: bytes = b"x" * 8) -> Tensor:
    return Tensor(name=name, dtype=dtype, shape=shape, digest=Digest(f"blake3:{blake3(data).hexdigest()}"))


def test_the_weights_digest_is_over_the_documented_bytes() -> None:
    zeros = f"blake3:{blake3(bytes(8)).hexdigest()}"
    text = f'roost.weights/1\n["fc.weight","BF16",[2,2],"{zeros}"]\n["q\\"\u00fc","F32",[],"{blake3_of(b"abcd")}"]\n'
    found = weights_digest([
        tensor('q"ü', shape=(), data=b"abcd"), tensor("fc.weight", dtype="BF16", shape=(2, 2), data=bytes(8)),
    ])  # fmt: skip
    assert found == f"blake3:{blake3(text.encode()).hexdigest()}"


def blake3_of(data: bytes) -> str:
    return f"blake3:{blake3(data).hexdigest()}"


def test_names_are_sorted_by_bytes_as_in_every_language() -> None:
    # U+FFFD sorts after U+1F600 in UTF-16, before it in UTF-8.
    names = ["\ufffd", "\U0001f600", "a", "B"]
    lines = "".join(f'["{name}","F32",[2],"{blake3_of(b"x" * 8)}"]\n' for name in ["B", "a", "\ufffd", "\U0001f600"])
    expected = blake3(("roost.weights/1\n" + lines).encode()).hexdigest()
    assert weights_digest([tensor(name) for name in names]) == f"blake3:{expected}"


@pytest.mark.parametrize(
    "other",
    [
        [tensor("a"), tensor("c")],
        [tensor("a"), tensor("b", dtype="I32")],
        [tensor("a"), tensor("b", shape=(2, 1))],
        [tensor("a"), tensor("b", data=b"y" * 8)],
        [tensor("a")],
        [tensor("a"), tensor("b"), tensor("c")],
    ],
)
def test_every_member_counts(other: list[Tensor]) -> None:
    assert weights_digest(other) != weights_digest([tensor("a"), tensor("b")])


def test_the_weights_digest_refuses_what_it_cannot_stand_for() -> None:
    with pytest.raises(ValueError, match="at least one"):
        weights_digest([])
    with pytest.raises(ValueError, match="given twice"):
        weights_digest([tensor("a"), tensor("b"), tensor("a")])
    with pytest.raises(ValueError, match="no digest"):
        weights_digest([Tensor(name="a", dtype="F32", shape=())])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), count=st.integers(1, 12), shards=st.integers(1, 4), padding=st.integers(0, 3))
def test_the_weights_digest_is_the_same_however_the_tensors_are_sharded(
    tmp_path: Path, seed: int, count: int, shards: int, padding: int
) -> None:
    randomness = random.Random(seed)
    tensors = {f"layer.{number}": ("U8", [number], randomness.randbytes(number)) for number in range(count)}
    one = tmp_path / f"one-{seed}-{count}-{shards}-{padding}"
    many = tmp_path / f"many-{seed}-{count}-{shards}-{padding}"
    for directory in (one, many):
        directory.mkdir(exist_ok=True)
        (directory / "config.json").write_text("{}")
    write_safetensors(one / "model.safetensors", tensors, {"padding": "x" * padding})
    shuffled = randomness.sample(sorted(tensors), count)
    parts = {
        f"part{shard}.safetensors": {name: tensors[name] for name in shuffled[shard::shards]}
        for shard in range(shards)
        if shuffled[shard::shards]
    }
    write_sharded(many, parts)
    digests = [found.inventory and found.inventory.weights_digest for found in (inspect(one), inspect(many))]
    assert digests[0] is not None
    assert digests[0] == digests[1]


def sha256(text: str) -> Digest:
    return Digest(f"sha256:{hashlib.sha256(text.encode()).hexdigest()}")


def test_the_shard_list_digest_is_over_the_documented_bytes() -> None:
    digests = sorted([sha256("one"), sha256("two")])
    text = "roost.shards/1\n" + "".join(f"{digest.removeprefix('sha256:')}\n" for digest in digests)
    assert shard_list_digest(reversed(digests)) == sha256(text)


def test_the_shard_list_digest_refuses_empty_repeated_and_other_digests() -> None:
    with pytest.raises(ValueError, match="at least one"):
        shard_list_digest([])
    with pytest.raises(ValueError, match="twice"):
        shard_list_digest([sha256("a"), sha256("a")])
    with pytest.raises(ValueError, match="not the SHA-256"):
        shard_list_digest([Digest("blake3:" + "0" * 64)])


def test_only_weight_files_count_among_stored_files() -> None:
    files = [
        StoredFile(name="config.json", size=1, sha256=sha256("config"), role="config"),
        StoredFile(name="a.safetensors", size=1, sha256=sha256("a"), role="weights"),
    ]
    assert shard_list_digest_of(files) == shard_list_digest([sha256("a")])


def test_the_example_of_the_format_page_is_true() -> None:
    page = (Path(__file__).parents[3] / "docs/format.md").read_text()
    found = weights_digest([
        tensor("fc.weight", data=bytes(8)), tensor("a", dtype="U8", shape=(), data=b"\0"),
    ])  # fmt: skip
    assert f"gives `{found}`" in page


def test_the_shell_recipe_of_the_format_page_gives_the_shard_list_digest(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/format.md").read_text()
    recipe = next(line for line in page.splitlines() if line.startswith("{ echo roost.shards/1;"))
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.safetensors").write_text(name)
    printed = subprocess.run(["sh", "-c", recipe], cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    assert shard_list_digest(sha256(name) for name in "abc") == f"sha256:{printed[:64]}"
