import pytest

from registry.artifacts.engine_sources.layout import leads_to_taken, placed, taken


@pytest.mark.parametrize(
    ("name", "prefix", "path"),
    [
        ("sglang/srt/x.py", "", "sglang/srt/x.py"),
        ("python/sglang/srt/x.py", "python/", "sglang/srt/x.py"),
        ("sglang-1/python/sglang/srt/x.py", "sglang-1/python/", "sglang/srt/x.py"),
        ("vllm-1.0/vllm/x.py", "vllm-1.0/", "vllm/x.py"),
        ("vllm/vllm/x.py", "vllm/", "vllm/x.py"),
        ("vllm-1.data/platlib/vllm/x.py", "vllm-1.data/platlib/", "vllm/x.py"),
    ],
)
def test_where_a_name_lies(name, prefix, path) -> None:
    found = placed(name)
    assert found is not None
    assert (found[0].prefix, found[1]) == (prefix, path)


@pytest.mark.parametrize("name", ["sglang", "a/b/sglang/x.py", "sglang_router/x.py", "a.data/scripts/vllm/x.py"])
def test_names_that_cannot_matter(name) -> None:
    assert placed(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "sglang-1.dist-info/METADATA",
        "vllm-1/PKG-INFO",
        "vllm-1/vllm/_version.py",
        "sglang-1/python/pyproject.toml",
        "vllm-1/vllm/config/x.py",
    ],
)
def test_what_is_kept(name) -> None:
    assert taken(name)


def test_what_is_not_kept() -> None:
    assert not taken("vllm-1/vllm/distributed/x.py")
    assert not taken("vllm-1/tests/PKG-INFO")


@pytest.mark.parametrize("name", ["sglang", "sglang/srt", "x/sglang/srt/models", "sglang/srt/models/llama.py"])
def test_links_that_would_redirect(name) -> None:
    assert leads_to_taken(name)


@pytest.mark.parametrize("name", ["NOTES.md", "sglang/srt/layers/attention", "x/docs/index.md"])
def test_links_that_would_not(name) -> None:
    assert not leads_to_taken(name)
