import os
import time
from pathlib import Path

import pytest

from registry.artifacts.engine_sources import ScanCache, open_sources
from registry.domain.errors import Invalid, Refused

LLAMA = "sglang/srt/models/llama.py"


def test_a_link_among_the_sources_is_refused(make_tree, sglang, tmp_path: Path) -> None:
    tree = make_tree(sglang)
    (tmp_path / "secret").write_text("secret")
    (tree / "sglang/srt/models/other.py").symlink_to(tmp_path / "secret")
    with pytest.raises(
        Refused, match=r"other.py' is a link, where a source file is expected\. Copy the tree with `cp -r"
    ):
        open_sources(tree)


def test_a_linked_folder_among_the_sources_is_refused(make_tree, sglang, tmp_path: Path) -> None:
    tree = make_tree(sglang)
    (tmp_path / "away").mkdir()
    (tree / "sglang/srt/model_executor").symlink_to(tmp_path / "away")
    with pytest.raises(Refused, match="'sglang/srt/model_executor' is a link"):
        open_sources(tree)


def test_a_linked_package_folder(make_tree, sglang, tmp_path: Path) -> None:
    make_tree(sglang, below="elsewhere")
    out = tmp_path / "out"
    out.mkdir()
    (out / "sglang").symlink_to(tmp_path / "elsewhere/sglang")
    with pytest.raises(Refused, match="'sglang' in it is a link out of the directory"):
        open_sources(out)
    with open_sources(out / "sglang") as sources:  # named by the user, so followed
        assert LLAMA in sources.paths()


def test_links_and_special_files_elsewhere_do_not_matter(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    (tree / "AGENTS.md").symlink_to("/etc/passwd")
    (tree / "sglang/srt/layers/attention/x.py").symlink_to("/etc/passwd")
    os.mkfifo(tree / "sglang/srt/layers/pipe")
    with open_sources(tree) as sources:
        assert len(sources.paths()) == 4


def test_a_named_pipe_among_the_sources_never_blocks(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    os.mkfifo(tree / "sglang/srt/models/pipe.py")
    with pytest.raises(Refused, match=r"pipe\.py' is a special file"):
        open_sources(tree)


def test_a_file_replaced_by_a_pipe_or_a_link_never_blocks(make_tree, sglang, tmp_path: Path) -> None:
    tree = make_tree(sglang)
    (tmp_path / "same.py").write_bytes(sglang[LLAMA])
    for replace in (os.mkfifo, lambda path: path.symlink_to(tmp_path / "same.py")):
        with open_sources(tree) as sources:
            (tree / LLAMA).unlink()
            replace(tree / LLAMA)
            with pytest.raises((Invalid, Refused)):
                sources.text(LLAMA)
        (tree / LLAMA).unlink()
        (tree / LLAMA).write_bytes(sglang[LLAMA])


def test_a_pipe_for_metadata_never_blocks(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    (tree / "sglang/_version.py").unlink()
    os.mkfifo(tree / "sglang/_version.py")
    os.mkfifo(tree / "pyproject.toml")
    with open_sources(tree) as sources:
        assert sources.version is None


def test_a_huge_file_is_refused_before_it_is_read(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    with (tree / LLAMA).open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(Refused, match="has 1099511627776 bytes, more than the 8388608"):
        open_sources(tree)


@pytest.mark.parametrize("name", [b"a\x1b[2J.py", b"a\n.py", b"\xff\xfe.py"])
def test_file_names_that_cannot_be_shown(make_tree, sglang, name) -> None:
    tree = make_tree(sglang)
    (tree / "sglang/srt/models" / os.fsdecode(name)).write_bytes(b"")
    with pytest.raises(Invalid, match="the file name 'sglang/srt/models/") as caught:
        open_sources(tree)
    assert caught.value.detail.isprintable()


def test_a_tree_with_too_many_entries(make_tree, sglang, monkeypatch) -> None:
    monkeypatch.setattr("registry.artifacts.engine_sources.tree.ENTRIES_CAP", 5)
    with pytest.raises(Refused, match="more than 5 entries"):
        open_sources(make_tree(sglang))


def test_the_version_comes_from_the_distribution_beside_it(make_tree, sglang) -> None:
    tree = make_tree(
        {**sglang, "sglang-0.5.9+fork.dist-info/METADATA": b"Version: 0.5.9+fork\n", "vllm-1.dist-info/METADATA": b""}
    )
    with open_sources(tree) as sources:
        assert sources.version == "0.5.9+fork"
    make_tree({"sglang-0.5.10.dist-info/METADATA": b"Version: 0.5.10\n"})
    with pytest.raises(Refused, match=r"two distributions claim it: 'sglang-0.5.10.dist-info', 'sglang-0.5.9\+fork"):
        open_sources(tree)


def test_the_version_comes_from_the_project_file_of_a_checkout(make_tree, sglang) -> None:
    del sglang["sglang/_version.py"]
    tree = make_tree({f"python/{name}": data for name, data in sglang.items()})
    with open_sources(tree) as sources:
        assert sources.version is None
        assert sources.origin == "directory tree (python/sglang)"
    (tree / "python/pyproject.toml").write_text("[project]\nversion = '0.4.9'\n")
    with open_sources(tree) as sources:
        assert sources.version == "0.4.9"


def test_unchanged_files_are_not_read_again(make_tree, sglang, tmp_path: Path, monkeypatch) -> None:
    tree, cache = make_tree(sglang), ScanCache(tmp_path / "cache")
    time.sleep(0.1)  # a tree that changed a moment ago is not remembered
    with open_sources(tree, cache=cache) as sources:
        first = sources.digest
    with monkeypatch.context() as patch:
        patch.setattr("registry.artifacts.engine_sources.tree._digests", lambda *_: pytest.fail("read again"))
        with open_sources(tree, cache=cache) as sources:
            assert sources.digest == first
            assert sources.version == "0.5.9"
            assert sources.text(LLAMA).startswith("class Llama")


@pytest.mark.parametrize("keep_times", [False, True])
def test_any_change_is_seen(make_tree, sglang, tmp_path: Path, keep_times) -> None:
    tree, cache = make_tree(sglang), ScanCache(tmp_path / "cache")
    time.sleep(0.1)
    with open_sources(tree, cache=cache) as sources:
        first = sources.digest
    before = (tree / LLAMA).stat()
    (tree / LLAMA).write_bytes(sglang[LLAMA].replace(b"Llama", b"Lhama"))
    if keep_times:
        os.utime(tree / LLAMA, ns=(before.st_atime_ns, before.st_mtime_ns))
    with open_sources(tree, cache=cache) as sources:
        assert sources.digest != first
        assert "Lhama" in sources.text(LLAMA)


def test_added_and_removed_files_are_seen(make_tree, sglang, tmp_path: Path) -> None:
    tree, cache = make_tree(sglang), ScanCache(tmp_path / "cache")
    digests = []
    for change in (lambda: None, (tree / "sglang/srt/models/new.py").touch, (tree / LLAMA).unlink):
        change()
        time.sleep(0.1)
        with open_sources(tree, cache=cache) as sources:
            digests.append(sources.digest)
    assert len(set(digests)) == 3


def test_a_tree_that_changed_a_moment_ago_is_not_remembered(make_tree, sglang, tmp_path: Path) -> None:
    tree, cache = make_tree(sglang), ScanCache(tmp_path / "cache")
    (tree / LLAMA).write_bytes(b"one")
    with open_sources(tree, cache=cache):
        assert not (tmp_path / "cache").exists()


def test_a_second_look_at_many_files_is_fast(make_tree, tmp_path: Path) -> None:
    files = {f"sglang/srt/models/m{number}.py": b"x = 1\n" * 3000 for number in range(700)}
    tree, cache = make_tree(files), ScanCache(tmp_path / "cache")
    time.sleep(0.1)
    with open_sources(tree, cache=cache) as sources:
        first = sources.digest
    elapsed = []
    for _ in range(5):
        started = time.perf_counter()
        with open_sources(tree, cache=cache) as sources:
            assert sources.digest == first
        elapsed.append(time.perf_counter() - started)
    assert min(elapsed) < 0.05
