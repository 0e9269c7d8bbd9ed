import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from registry.artifacts.shard_lists import ShardListError, digest_of_shards, parse_shard_list, read_shard_list

ONE, TWO, OTHER = (hashlib.sha256(text).hexdigest() for text in (b"one", b"two", b"other"))

PLAIN = f"{ONE}  model-00001-of-00002.safetensors\n{TWO}  model-00002-of-00002.safetensors\n"


def faults(text: str | bytes) -> tuple[str, ...]:
    with pytest.raises(ShardListError) as caught:
        parse_shard_list(text.encode() if isinstance(text, str) else text)
    return caught.value.faults


@pytest.mark.parametrize(
    "text",
    [
        f"{TWO} */data/k2/model-00002-of-00002.safetensors\n{ONE} */data/k2/model-00001-of-00002.safetensors\n",
        f"{ONE.upper()}  ./model-00001-of-00002.safetensors\r\n{TWO}  ./model-00002-of-00002.safetensors\r\n",
        f"# made by hand\n\n{PLAIN}{OTHER}  config.json\n",
        f"SHA256 (a.safetensors) = {ONE}\nSHA256 (b.safetensors) = {TWO}\n",
        f"\\{ONE}  odd\\\\name.safetensors\n{TWO}  b.safetensors\n",
        "\ufeff" + PLAIN,
        json.dumps([
            {"path": "a.safetensors", "type": "file", "oid": "f" * 40, "size": 5, "lfs": {"oid": ONE, "size": 5}},
            {"path": "sub", "type": "directory", "oid": "e" * 40, "size": 0},
            {"path": "b.safetensors", "type": "file", "lfs": {"oid": f"sha256:{TWO}"}},
            {"path": "config.json", "type": "file", "oid": "d" * 40, "size": 3},
        ]),
        json.dumps({"id": "org/model", "siblings": [
            {"rfilename": "x/a.safetensors", "size": 5, "lfs": {"sha256": ONE, "size": 5, "pointerSize": 134}},
            {"rfilename": "x/b.safetensors", "size": 6, "lfs": {"sha256": TWO}},
            {"rfilename": "x/pytorch_model.bin", "size": 6, "lfs": {"sha256": OTHER}},
        ]}),
    ],
)  # fmt: skip
def test_every_spelling_of_the_same_shards_gives_the_same_digest(text: str) -> None:
    assert digest_of_shards(parse_shard_list(text.encode())) == digest_of_shards(parse_shard_list(PLAIN.encode()))


def test_what_sha256sum_prints_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"one")
    (tmp_path / "b.safetensors").write_bytes(b"two")
    printed = subprocess.run(
        ["sha256sum", tmp_path / "a.safetensors", tmp_path / "b.safetensors"], capture_output=True, check=True
    ).stdout
    (tmp_path / "list").write_bytes(printed)
    shards = read_shard_list(tmp_path / "list")
    assert [shard.sha256 for shard in shards] == [f"sha256:{ONE}", f"sha256:{TWO}"]


def test_sizes_come_from_hub_metadata() -> None:
    text = json.dumps([{"rfilename": "a.safetensors", "size": 7, "lfs": {"sha256": ONE}}])
    assert parse_shard_list(text.encode())[0].size == 7


def test_pickled_shards_count_where_there_are_no_others() -> None:
    shards = parse_shard_list(f"{ONE}  pytorch_model.bin\n{TWO}  training_args.bin\n".encode())
    assert [shard.name for shard in shards] == ["pytorch_model.bin"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no weight shard"),
        (f"{ONE}  config.json\n", "no weight shard"),
        ("hello\n", "line 1 is no line of sha256sum"),
        (f"{ONE[:-1]}  a.safetensors\n", "line 1"),
        (f"{ONE}  a.safetensors\n{TWO}  a.safetensors\n", "'a.safetensors' is listed twice, first at line 1"),
        (f"{ONE}  a.safetensors\n{ONE}  b.safetensors\n", "the same SHA-256 as 'a.safetensors'"),
        ("[1, 2]", "/0 has neither"),
        ("[", "not JSON"),
        ('{"weights": []}', "no list of files at '/siblings'"),
        ('{"siblings": [], "siblings": []}', "occurs more than once"),
        ('[{"path": "a.safetensors", "oid": "' + "a" * 40 + '"}]', "no SHA-256 under 'lfs'"),
        ('[{"path": "a.safetensors", "lfs": "x"}]', "no SHA-256"),
        ("[" * 5000, "nested"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_what_is_no_list_is_refused_with_its_place(text: str | bytes, told: str) -> None:
    assert told in "\n".join(faults(text))


def test_all_faults_are_told_at_once() -> None:
    assert len(faults(f"one\ntwo\n{ONE}  a.safetensors\n")) == 2


def test_a_file_that_is_no_list_at_all_has_one_fault() -> None:
    (fault,) = faults("one\ntwo\nthree\n")
    assert fault.startswith("line 1 is no line of sha256sum: 'one'; expected lines of `sha256sum")


def test_what_is_expected_is_said_once() -> None:
    first, second = faults(f"one\ntwo\n{ONE}  a.safetensors\n")
    assert "expected" in first
    assert second == "line 2 is no line of sha256sum: 'two'"
