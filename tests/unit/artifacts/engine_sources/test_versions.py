import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.artifacts.engine_sources.versions import version_of
from registry.domain.errors import Invalid


@pytest.mark.parametrize(
    ("name", "data", "version"),
    [
        ("METADATA", b"Name: sglang\nVersion: 0.5.9\n\nVersion: 9\n", "0.5.9"),
        ("PKG-INFO", b"Name: vllm\r\nVersion: 0.11.2+cu129\r\n\r\nText", "0.11.2+cu129"),
        ("METADATA", b"Name: sglang\n\nVersion: 0.5.9\n", None),
        ("_version.py", b"version: str\n__version__ = version = '0.5.23'\n", "0.5.23"),
        ("_version.py", b"__version__: str = '0.5.9.dev3+gabc'\n", "0.5.9.dev3+gabc"),
        ("version.py", b'__version__ = "0.4.9"\n', "0.4.9"),
        ("version.py", b"from sglang._version import __version__\n    __version__ = '1'\n", None),
        ("version.py", b"__version__ = 'dev'\n", None),
        ("pyproject.toml", b"[project]\nversion = '0.4.9'\n", "0.4.9"),
        ("pyproject.toml", b"[project]\ndynamic = ['version']\n", None),
        ("pyproject.toml", b"project = 3\n", None),
        ("pyproject.toml", b"[project\n", None),
        ("pyproject.toml", b"x = " + b"[" * 5000, None),
    ],
)
def test_what_a_file_states(name, data, version) -> None:
    assert version_of("source", [(name, data)]) == version


def test_the_first_that_states_one_counts() -> None:
    texts = [("version.py", b"__version__ = 'dev'"), ("METADATA", b"Version: 1.2"), ("PKG-INFO", b"Version: 3")]
    assert version_of("source", texts) == "1.2"


@pytest.mark.parametrize("stated", ["$(reboot)", "../1", "1\x1b[31m", "1" * 200])
def test_what_cannot_be_a_version_is_named(stated) -> None:
    with pytest.raises(Invalid, match="source: 'METADATA' states the version"):
        version_of("source", [("METADATA", f"Version: {stated}\n".encode())])


@given(st.sampled_from(["METADATA", "_version.py", "pyproject.toml"]), st.binary(max_size=300))
def test_any_bytes_give_a_version_none_or_an_error(name, data) -> None:
    try:
        version = version_of("source", [(name, data)])
    except Invalid:
        return
    assert version is None or version.isascii()
