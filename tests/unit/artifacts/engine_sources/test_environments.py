import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.artifacts.engine_sources import installed_sources, open_sources
from registry.domain.errors import Invalid, Refused, RegistryError

SITE = "venv/lib/python3.11/site-packages"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / SITE).mkdir(parents=True)
    (tmp_path / "venv/pyvenv.cfg").write_text("home = /none\nversion = 3.11.7\n")
    (tmp_path / "venv/bin/python").symlink_to(sys.executable)
    return tmp_path / "venv/bin/python"


def direct_url(folder: Path, **more: object) -> bytes:
    return json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}, **more}).encode()


def test_an_installed_engine_is_found(python, make_tree, make_wheel, sglang) -> None:
    make_tree({**sglang, "sglang-0.5.9.dist-info/METADATA": b"Version: 0.5.9\n"}, below=SITE)
    with installed_sources(python) as sources, open_sources(make_wheel(sglang)) as wheel:
        assert (sources.engine, sources.version) == ("sglang", "0.5.9")
        assert sources.digest == wheel.digest
        assert sources.origin == "environment venv (sglang)"


def test_nothing_of_the_environment_runs(python, make_tree, sglang, tmp_path: Path) -> None:
    trap = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n".encode()
    hooks = {"sitecustomize.py": trap, "usercustomize.py": trap, "x.pth": trap, "sglang/__init__.py": trap}
    make_tree({**sglang, **hooks}, below=SITE)
    with installed_sources(python) as sources:
        sources.text("sglang/srt/models/llama.py")
    assert not (tmp_path / "ran").exists()


def test_both_engines_need_a_word(python, make_tree, sglang, vllm) -> None:
    make_tree(sglang | vllm, below=SITE)
    with pytest.raises(Refused, match="environment venv: it holds both sglang and vllm"):
        installed_sources(python)
    with installed_sources(python, "vllm") as sources:
        assert sources.engine == "vllm"


def test_none_installed(python, make_tree, sglang) -> None:
    with pytest.raises(Invalid, match="neither sglang nor vllm is installed in it"):
        installed_sources(python)
    make_tree(sglang, below=SITE)
    with pytest.raises(Invalid, match="vllm is not installed in it"):
        installed_sources(python, "vllm")
    with pytest.raises(Invalid, match="'x' is not read"):
        installed_sources(python, "x")


@pytest.mark.parametrize("how", ["direct_url", "subdirectory", "pth", "egg_link"])
def test_editable_installs_are_followed(python, make_tree, sglang, how) -> None:
    checkout = make_tree(sglang, below="my check-out/python").parent
    records = {
        "direct_url": {"sglang-0.5.9.dist-info/direct_url.json": direct_url(checkout)},
        "subdirectory": {"sglang-0.5.9.dist-info/direct_url.json": direct_url(checkout, subdirectory="python")},
        "pth": {"__editable__.sglang-0.5.9.pth": f"# path\nimport os\n{checkout}/python\n".encode()},
        "egg_link": {"sglang.egg-link": f"{checkout}/python\n../\n".encode()},
    }
    make_tree({**records[how], "sglang-0.5.9.dist-info/METADATA": b"Version: 0.5.9.dev7+gabc\n"}, below=SITE)
    with installed_sources(python) as sources:
        assert sources.version == "0.5.9.dev7+gabc"
        assert sources.origin == "environment venv (editable, sglang)"
        assert "sglang/srt/models/llama.py" in sources.paths()


def test_code_lines_of_path_files_are_no_folders(python, make_tree, sglang) -> None:
    make_tree(sglang, below=f"{SITE}/import os")
    make_tree({"x.pth": b"import os\n"}, below=SITE)
    with pytest.raises(Invalid, match="neither sglang nor vllm"):
        installed_sources(python)


def test_a_package_folder_comes_before_an_editable_record(python, make_tree, sglang) -> None:
    checkout = make_tree({**sglang, "sglang/srt/models/new.py": b""}, below="checkout")
    make_tree({**sglang, "sglang-1.dist-info/direct_url.json": direct_url(checkout)}, below=SITE)
    with installed_sources(python) as sources:
        assert "sglang/srt/models/new.py" not in sources.paths()


def test_a_linked_package_folder_is_what_the_environment_serves(python, make_tree, sglang, tmp_path: Path) -> None:
    make_tree(sglang, below="work")
    (tmp_path / SITE / "sglang").symlink_to(tmp_path / "work/sglang")
    with installed_sources(python) as sources:
        assert sources.version == "0.5.9"


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"[]",
        b"[" * 5000,
        b'{"url": "https://example.org/x", "dir_info": {"editable": true}}',
        b'{"url": "file://host/x", "dir_info": {"editable": true}}',
        b'{"url": "file:///a%00b", "dir_info": {"editable": true}}',
        b'{"url": "file://[x", "dir_info": {"editable": true}}',
        b'{"url": 3, "dir_info": {"editable": true}}',
        b'{"url": "file:///none", "dir_info": 3}',
    ],
)
def test_a_record_that_leads_nowhere_is_refused(python, make_tree, record) -> None:
    make_tree(
        {"sglang-1.dist-info/direct_url.json": record, "sglang-1.dist-info/METADATA": b"Version: 1\n"}, below=SITE
    )
    with pytest.raises(Refused, match=r"'sglang-1.dist-info'\) and its files are not: an import hook"):
        installed_sources(python)


def test_two_distributions_of_one_engine(python, make_tree, sglang) -> None:
    make_tree({**sglang, "sglang-1.dist-info/METADATA": b"", "sglang-2.dist-info/METADATA": b""}, below=SITE)
    with pytest.raises(Refused, match="two distributions claim sglang"):
        installed_sources(python)


@settings(max_examples=100, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(url=st.binary(max_size=80), lines=st.binary(max_size=80))
def test_any_records_give_our_errors(python, make_tree, url, lines) -> None:
    make_tree({"vllm-1.dist-info/direct_url.json": url, "vllm-1.dist-info/METADATA": url, "x.pth": lines}, below=SITE)
    with pytest.raises(RegistryError):
        installed_sources(python)
