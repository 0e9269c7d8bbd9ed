import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.artifacts.engine_sources import ScanCache, cache_key, open_sources
from registry.artifacts.engine_sources.scan_cache import Remembered, fingerprint, recall, remember

FILES = {"sglang/srt/models/a.py": "0" * 64}
STATES = {"a": (3, 1_000_000_001, 1_000_000_001, 5, 6)}


def entry_of(root: Path) -> Path:
    (path,) = (root / "scans").iterdir()
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    cache = ScanCache(tmp_path / "not/there/yet")
    assert cache.read("key") is None
    assert cache.write("key", '{"ä": 1}')
    assert cache.read("key") == '{"ä": 1}'
    assert cache.write("key", "{}")
    assert cache.read("key") == "{}"
    assert cache.read("other") is None
    assert (tmp_path / "not/there/yet/scans").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("key", ["../../x", "/etc/passwd", "", "a\0b", "\udcff"])
def test_no_key_is_a_path(tmp_path: Path, key) -> None:
    cache = ScanCache(tmp_path / "cache")
    assert cache.write(key, "{}")
    assert cache.read(key) == "{}"
    assert entry_of(tmp_path / "cache").name.isalnum()
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_damaged_entries_are_ignored(tmp_path: Path) -> None:
    cache = ScanCache(tmp_path)
    cache.write("key", '{"a": 1}')
    whole = entry_of(tmp_path).read_bytes()
    for damaged in (b"", b"\n", whole[:-1], whole + b" ", whole.replace(b"1", b"2"), os.urandom(99)):
        entry_of(tmp_path).write_bytes(damaged)
        assert cache.read("key") is None
    assert cache.write("key", "{}")
    assert cache.read("key") == "{}"


def test_links_pipes_and_folders_in_place_of_an_entry_are_ignored(tmp_path: Path) -> None:
    cache = ScanCache(tmp_path / "cache")
    cache.write("key", "{}")
    path = entry_of(tmp_path / "cache")
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert cache.read("key") is None
    path.unlink()
    os.mkfifo(path)
    assert cache.read("key") is None
    path.unlink()
    path.mkdir()
    assert cache.read("key") is None
    assert not cache.write("key", "{}")
    assert len(list(path.parent.iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ScanCache(tmp_path / "file")
    assert not cache.write("key", "{}")
    assert cache.read("key") is None


def test_text_that_is_not_unicode_is_not_stored(tmp_path: Path) -> None:
    assert not ScanCache(tmp_path).write("key", "\udcff")


def test_old_entries_make_room(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("registry.artifacts.engine_sources.scan_cache._MOST_ENTRIES", 4)
    monkeypatch.setattr("registry.artifacts.engine_sources.scan_cache._PRUNED_AT_ONCE", 2)
    cache = ScanCache(tmp_path)
    for number in range(5):
        cache.write(str(number), "{}")
        newest = max((tmp_path / "scans").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(number, number))
    assert len(list((tmp_path / "scans").iterdir())) <= 4
    cache.write("last", "{}")
    assert cache.read("last") == "{}"


def _write_many(root: str, text: str) -> None:
    cache = ScanCache(Path(root))
    for _ in range(100):
        assert cache.write("key", text)


def test_parallel_writers_leave_one_whole_entry(tmp_path: Path) -> None:
    texts = [f'{{"writer": "{number * 2000}"}}' for number in "abc"]
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        result = pool.starmap_async(_write_many, [(str(tmp_path), text) for text in texts])
        cache = ScanCache(tmp_path)
        while not result.ready():
            assert cache.read("key") in {None, *texts}
        result.get()
    assert ScanCache(tmp_path).read("key") in texts
    assert len(list((tmp_path / "scans").iterdir())) == 1


def test_the_key_tells_scanner_engine_version_and_digest_apart(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    with open_sources(tree) as sources:
        one, other = cache_key(sources, scanner="1"), cache_key(sources, scanner="2")
    (tree / "sglang/_version.py").write_text("__version__ = '0.5.9+local'")
    with open_sources(tree) as sources:
        third = cache_key(sources, scanner="1")
    assert len({one, other, third}) == 3


def test_states_are_recalled_only_unchanged(tmp_path: Path) -> None:
    cache = ScanCache(tmp_path)
    remembered = Remembered(files=FILES, facts={"version": None})
    assert remember(cache, "place", STATES, started=2_000_000_000, remembered=remembered)
    assert recall(cache, "place", STATES) == remembered
    assert recall(cache, "elsewhere", STATES) is None
    for at in range(5):
        changed = list(STATES["a"])
        changed[at] += 1
        assert recall(cache, "place", {"a": changed}) is None
    assert recall(cache, "place", {**STATES, "b": STATES["a"]}) is None


@pytest.mark.parametrize(
    ("changed", "started", "noted"),
    [
        (1_000_000_001, 1_010_000_000, False),
        (1_000_000_001, 1_060_000_000, True),
        (1_000_000_000, 2_900_000_000, False),  # a clock of whole seconds
        (1_000_000_000, 3_000_000_000, True),
        (9_000_000_001, 3_000_000_000, False),  # a clock that runs ahead
    ],
)
def test_files_that_may_change_within_the_same_tick_are_not_noted(tmp_path: Path, changed, started, noted) -> None:
    states = {"a": (3, changed, changed, 5, 6)}
    remembered = Remembered(files=FILES, facts={})
    assert remember(ScanCache(tmp_path), "place", states, started=started, remembered=remembered) is noted


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=4
    )
)
def test_notes_of_another_shape_are_ignored(tmp_path: Path, value) -> None:
    import json  # noqa: PLC0415  # beside its only use

    cache = ScanCache(tmp_path)
    for note in (value, {"fingerprint": fingerprint(STATES), "digest": value, "files": value, "facts": value}):
        cache.note("place", json.dumps(note))
        assert recall(cache, "place", STATES) is None
