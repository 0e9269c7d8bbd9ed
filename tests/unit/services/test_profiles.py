"""The shipped set: listed without reading profiles, ordered as versions are, and answering for unlisted builds."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.engine_profile import digest_of
from registry.domain.errors import Unavailable
from registry.domain.proposal import Build, parse_build
from registry.domain.versions import Version
from registry.services.profiles import ShippedProfiles


def _profile(version: str, *, engine: str = "sglang", upstream: str | None = None) -> dict[str, object]:
    document: dict[str, object] = {
        "schema": "roost.engine-profile/1",
        "engine": engine,
        "version": version,
        "revision": 1,
        "targets": {"LlamaForCausalLM": {"dialect": "plus_one", "default": "early_middle_late"}},
        "runners": [{"keys": [{"pointer": "/eagle_config/eagle_aux_hidden_state_layer_ids"}]}],
        "graphs": {"ids_hold": True},
        "drafts": [],
        "launch": {"algorithm": "EAGLE3"},
    }
    return document | ({"upstream": upstream} if upstream else {})


class _Folder:
    """Profiles in memory, counting what is read."""

    def __init__(self, *documents: dict[str, object]) -> None:
        self.files = {f"{number}.json": json.dumps(document).encode() for number, document in enumerate(documents)}
        lines = []
        for file, document in zip(self.files, documents, strict=True):
            kept = {key: document[key] for key in ("engine", "version", "upstream") if key in document}
            lines.append(kept | {"file": file, "digest": digest_of(document)})
        self.files["index.json"] = json.dumps({"set_digest": "sha256:0", "profiles": lines}).encode()
        self.reads: list[str] = []

    def read(self, file: str) -> bytes:
        self.reads.append(file)
        return self.files[file]


@pytest.fixture
def folder() -> _Folder:
    return _Folder(
        _profile("0.5.10.post1"),
        _profile("0.5.9"),
        _profile("0.5.10"),
        _profile("0.5.9+founding", upstream="0.5.9"),
        _profile("0.33.0", engine="vllm"),
    )


def test_listing_reads_the_index_and_no_profile(folder: _Folder) -> None:
    profiles = ShippedProfiles(folder.read)

    assert profiles.engines() == ("sglang", "vllm")
    assert profiles.versions("sglang") == ("0.5.9", "0.5.9+founding", "0.5.10", "0.5.10.post1")
    assert profiles.upstream("sglang") == ("0.5.9", "0.5.10", "0.5.10.post1")
    assert profiles.versions("nothing") == ()
    assert folder.reads == ["index.json"]


def test_a_profile_is_read_once_whoever_asks(folder: _Folder) -> None:
    profiles = ShippedProfiles(folder.read)
    build = parse_build("sglang==0.5.10")
    start = threading.Barrier(8)

    def ask(_number: int) -> object:
        start.wait()
        return profiles.get(build)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))

    assert all(answer is answers[0] for answer in answers)
    assert [file for file in folder.reads if file != "index.json"] == ["2.json"]


def test_get_answers_for_exactly_the_build(folder: _Folder) -> None:
    profiles = ShippedProfiles(folder.read)
    founding = profiles.get(parse_build("sglang==0.5.9+founding"))

    assert founding is not None
    assert (founding.version, founding.upstream) == ("0.5.9+founding", "0.5.9")
    assert founding.digest == digest_of(_profile("0.5.9+founding", upstream="0.5.9"))
    assert profiles.get(parse_build("sglang==0.33.0")) is None
    assert profiles.get(parse_build("vllm==0.5.9")) is None


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("0.4.9", ("0.5.9",)),
        ("0.5.9.post1", ("0.5.9", "0.5.10")),
        ("0.5.10rc0", ("0.5.9", "0.5.10")),
        ("0.5.10", ("0.5.10",)),
        ("0.5.9+local", ("0.5.9", "0.5.10")),
        ("0.6.0", ("0.5.10.post1",)),
    ],
)
def test_nearest_names_what_lies_just_below_and_above(folder: _Folder, version: str, nearest: tuple[str, ...]) -> None:
    assert ShippedProfiles(folder.read).nearest(Build(engine="sglang", version=version)) == nearest


def test_an_engine_without_profiles_has_no_neighbors(folder: _Folder) -> None:
    assert ShippedProfiles(folder.read).nearest(Build(engine="lmdeploy", version="0.18.0")) == ()


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, unique=True), st.integers(0, 30))
def test_nearest_always_brackets_the_version(numbers: list[tuple[int, int]], minor: int) -> None:
    versions = [f"0.{major}.{patch}" for major, patch in numbers]
    profiles = ShippedProfiles(_Folder(*[_profile(version) for version in versions]).read)
    wanted = Version.parse(f"0.{minor}.15")

    nearest = [Version.parse(version) for version in profiles.nearest(Build(engine="sglang", version=f"0.{minor}.15"))]

    others = [Version.parse(version) for version in versions]
    below, above = [v for v in others if v <= wanted], [v for v in others if v >= wanted]
    expected = {max(below)} if below else set()
    assert set(nearest) == (expected | ({min(above)} if above else set()))


def test_a_missing_file_of_the_package_is_named() -> None:
    line = {"engine": "x", "version": "1", "file": "x-1.json", "digest": "sha256:0"}
    index = json.dumps({"set_digest": "sha256:0", "profiles": [line]}).encode()
    packaged = ShippedProfiles()._read
    profiles = ShippedProfiles(lambda file: index if file == "index.json" else packaged(file))

    with pytest.raises(Unavailable, match=r"x-1\.json"):
        profiles.get(parse_build("x==1"))
