import time
from pathlib import Path

import pytest

from registry.artifacts.engine_sources import ScanCache, open_sources
from registry.domain.errors import Invalid


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_unchanged_archive_is_not_opened_until_a_file_is_read(
    make_wheel, make_sdist, vllm, tmp_path: Path, monkeypatch, kind
) -> None:
    path = make_wheel(vllm, name="vllm-0.11.2-x.whl", version="0.11.2") if kind == "wheel" else make_sdist(vllm)
    cache = ScanCache(tmp_path / "cache")
    time.sleep(0.1)
    with open_sources(path, cache=cache) as sources:
        first = sources
    with monkeypatch.context() as patch:
        patch.setattr("registry.artifacts.engine_sources.archives._contents", lambda *_, **__: pytest.fail("opened"))
        with open_sources(path, cache=cache) as sources:
            assert sources == first
            assert sources.version == "0.11.2"
    with open_sources(path, cache=cache) as sources:
        assert sources.text("vllm/config/speculative.py") == "# config\n"


def test_another_archive_of_that_name_is_not_mistaken(make_wheel, sglang, tmp_path: Path) -> None:
    cache, digests = ScanCache(tmp_path / "cache"), set()
    for text in (b"x = 1\n", b"x = 2\n"):
        path = make_wheel({**sglang, "sglang/srt/models/x.py": text})
        time.sleep(0.1)
        with open_sources(path, cache=cache) as sources:
            digests.add(sources.digest)
            assert sources.data("sglang/srt/models/x.py") == text
    assert len(digests) == 2


def test_what_was_noted_of_one_engine_is_not_given_for_the_other(make_wheel, sglang, vllm, tmp_path: Path) -> None:
    path, cache = make_wheel(sglang | vllm), ScanCache(tmp_path / "cache")
    time.sleep(0.1)
    for engine in ("sglang", "vllm", "sglang"):
        with open_sources(path, engine=engine, cache=cache) as sources:
            assert sources.engine == engine


def test_the_version_of_a_wheel_is_its_metadata_s(make_wheel, sglang) -> None:
    with open_sources(make_wheel(sglang, version="0.5.9+local.1")) as sources:
        assert sources.version == "0.5.9+local.1"
    with open_sources(make_wheel(sglang, version=None)) as sources:
        assert sources.version == "0.5.9"  # from _version.py
    with pytest.raises(Invalid, match="states the version"):
        open_sources(make_wheel({**sglang, "sglang/_version.py": b"__version__ = '<script>'"}, version=None))
