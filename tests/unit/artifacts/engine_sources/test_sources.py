import hashlib
from pathlib import Path

import pytest

from registry.artifacts.engine_sources import open_sources
from registry.artifacts.engine_sources.sources import digest_of
from registry.domain.errors import Invalid, NotFound

LLAMA = "sglang/srt/models/llama.py"


def test_the_digest_is_over_a_header_and_one_line_per_file_sorted() -> None:
    lines = f"roost engine sources 1\n{'1' * 64}  a\n{'0' * 64}  b\n"
    expected = "sha256:" + hashlib.sha256(lines.encode()).hexdigest()
    assert digest_of({"b": "0" * 64, "a": "1" * 64}) == expected
    assert digest_of({"a": "1" * 64, "b": "0" * 64}) == expected
    assert digest_of({"a": "0" * 64, "b": "1" * 64}) != expected


def test_a_file_that_is_not_utf8_is_named_when_it_is_read(make_wheel, make_tree, sglang) -> None:
    sglang[LLAMA] = b"x = '\xff'\n"
    for place in (make_wheel(sglang), make_tree(sglang)):
        with open_sources(place) as sources:
            assert sources.text("sglang/srt/server_args.py") == "# arguments\n"
            with pytest.raises(Invalid, match=r"'sglang/srt/models/llama.py' is not UTF-8 \(byte 5\)"):
                sources.text(LLAMA)


def test_a_byte_order_mark_is_dropped(make_wheel, sglang) -> None:
    sglang[LLAMA] = b"\xef\xbb\xbfx = 1\n"
    with open_sources(make_wheel(sglang)) as sources:
        assert sources.text(LLAMA) == "x = 1\n"


@pytest.mark.parametrize("path", ["sglang/srt/layers/attention/flash.py", "../../etc/passwd", "", "sglang/srt"])
def test_only_relevant_paths_are_read(make_tree, sglang, path) -> None:
    with open_sources(make_tree(sglang)) as sources, pytest.raises(NotFound, match="no relevant file"):
        sources.text(path)


def test_a_file_that_changes_after_its_digest_is_an_error(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    with open_sources(tree) as sources:
        (tree / LLAMA).write_bytes(b"class Other:\n")
        with pytest.raises(Invalid, match="changed while it was"):
            sources.text(LLAMA)


def test_a_file_that_vanishes_is_an_error(make_tree, sglang) -> None:
    tree = make_tree(sglang)
    with open_sources(tree) as sources:
        (tree / LLAMA).unlink()
        with pytest.raises(Invalid, match="vanished"):
            sources.text(LLAMA)


def test_an_archive_overwritten_in_place_is_an_error(make_wheel, sglang) -> None:
    wheel: Path = make_wheel(sglang)
    with open_sources(wheel) as sources:
        wheel.write_bytes(bytes(wheel.stat().st_size))
        with pytest.raises(Invalid):
            sources.text(LLAMA)
