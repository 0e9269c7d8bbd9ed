import os
from pathlib import Path

import pytest

from registry.artifacts.engine_sources import open_sources
from registry.domain.errors import Invalid, NotFound, Refused

RELEVANT = (
    "sglang/srt/models/deep/er.py",
    "sglang/srt/models/llama.py",
    "sglang/srt/server_args.py",
    "sglang/srt/speculative/eagle_worker.py",
)


def _digest(place: Path) -> str:
    with open_sources(place) as sources:
        return sources.digest


def test_wheel_sdist_and_tree_of_equal_files_are_one_digest(make_wheel, make_sdist, make_tree, sglang) -> None:
    places = [
        make_wheel(sglang),
        make_wheel({f"sglang-0.5.9.data/purelib/{name}": data for name, data in sglang.items()}, name="sglang-1.whl"),
        make_sdist({f"python/{name}": data for name, data in sglang.items()}, name="sglang-0.5.9.tar.gz"),
        make_wheel({f"sglang-0.5.9/{name}": data for name, data in sglang.items()}, name="sglang-0.5.9.zip"),
        make_tree(sglang, below="flat"),
        make_tree(sglang, below="checkout/python").parent,
        make_tree(sglang, below="flat") / "sglang",
    ]
    digests = set()
    for place in places:
        with open_sources(place) as sources:
            assert (sources.engine, sources.version) == ("sglang", "0.5.9")
            assert sources.paths() == RELEVANT
            assert sources.text("sglang/srt/models/llama.py") == "class LlamaForCausalLM:\n    pass\n"
            assert str(place.parent) not in sources.origin
            digests.add(sources.digest)
    assert len(digests) == 1
    assert digests.pop().startswith("sha256:")


def test_vllm_is_found_too(make_sdist, make_tree, vllm) -> None:
    with open_sources(make_sdist(vllm)) as sdist, open_sources(make_tree(vllm)) as tree:
        assert (sdist.engine, sdist.version) == ("vllm", "0.11.2")
        assert (tree.engine, tree.version) == ("vllm", "0.11.2")
        assert sdist.digest == tree.digest
        assert sdist.origin == "archive vllm-0.11.2.tar.gz"
        assert tree.origin == "directory tree"


def test_one_changed_byte_is_another_digest(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    before = _digest(tree)
    (tree / "sglang/srt/models/llama.py").write_bytes(b"class LlamaForCausalLM:\n    past\n")
    assert _digest(tree) != before


def test_a_changed_file_that_is_not_relevant_is_the_same_digest(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    before = _digest(tree)
    (tree / "sglang/srt/layers/attention/flash.py").write_bytes(b"other")
    assert _digest(tree) == before


def test_both_engines_in_one_folder_need_a_word(make_tree, sglang, vllm) -> None:
    tree = make_tree(sglang | vllm)
    with pytest.raises(Refused, match=r"more than one engine.*'sglang'.*'vllm'"):
        open_sources(tree)
    with open_sources(tree, engine="vllm") as sources:
        assert sources.engine == "vllm"
    with pytest.raises(Invalid, match="'trtllm' is not read; expected sglang or vllm"):
        open_sources(tree, engine="trtllm")


def test_both_engines_in_one_archive_need_a_word(make_wheel, sglang, vllm) -> None:
    wheel = make_wheel(sglang | vllm)
    with pytest.raises(Refused, match=r"'sglang/', 'vllm/'"):
        open_sources(wheel)
    with open_sources(wheel, engine="vllm") as sources:
        assert sources.paths()[0].startswith("vllm/")


@pytest.mark.parametrize("name", ["plain-1.whl", "plain-1.tar.gz"])
def test_an_archive_without_the_engine(make_wheel, make_sdist, name) -> None:
    make = make_wheel if name.endswith("whl") else make_sdist
    with pytest.raises(Invalid, match=r"it holds neither sglang nor vllm \(looked for sglang/srt/models/\*\.py or"):
        open_sources(make({"plain/x.py": b""}, name=name))


def test_a_directory_without_the_engine(make_tree, sglang) -> None:
    with pytest.raises(Invalid, match="directory tree: it holds neither sglang nor vllm"):
        open_sources(make_tree({"x.py": b""}))
    with pytest.raises(Invalid, match="does not hold the engine vllm"):
        open_sources(make_tree(sglang), engine="vllm")


def test_a_model_folder_without_files_is_no_engine(tmp_path: Path) -> None:
    (tmp_path / "sglang/srt/models").mkdir(parents=True)
    with pytest.raises(Invalid, match="does not hold the engine sglang"):
        open_sources(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"'none.whl' cannot be found"):
        open_sources(tmp_path / "none.whl")
    with pytest.raises(NotFound, match="cannot be found"):
        open_sources(tmp_path / "nul\0.whl")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("x.whl", b"", "this file is empty"),
        ("x.whl", b"hello, this is text", r"not a zip file \(it begins with b'hell'\)"),
        ("x.whl", b"PK\x03\x04" + bytes(100), "cut off"),
        ("x.whl", b"<!doctype html>", "a web page"),
        ("x.whl", b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        ("x.tar.gz", b"hello, this is text", "not a gzip file"),
        ("x.tar.gz", b"", "cut off"),
        ("x.tar.bz2", b"BZh", "its suffix is not one that is read"),
        ("x", b"anything", "its suffix is not one that is read"),
    ],
)
def test_what_is_no_archive(tmp_path: Path, name, data, words) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Invalid, match=words) as caught:
        open_sources(tmp_path / name)
    assert caught.value.hint
    assert name in caught.value.detail


def test_special_files_never_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.whl")
    with pytest.raises(Invalid, match="special file"):
        open_sources(tmp_path / "x.whl")


def test_no_descriptor_is_left_open(make_wheel, make_sdist, make_tree, sglang, vllm, tmp_path: Path) -> None:
    places = [make_wheel(sglang), make_sdist(vllm), make_tree(sglang)]
    broken = tmp_path / "broken.whl"
    broken.write_bytes(b"PK\x03\x04 and so on")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # names only, of a pseudo directory
    for place in places:
        with open_sources(place) as sources:
            sources.text(sources.paths()[0])
    with pytest.raises(Invalid):
        open_sources(broken)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
