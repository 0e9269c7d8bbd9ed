import gzip
import io
import tarfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.artifacts.engine_sources import open_sources
from registry.domain.errors import Invalid, Refused, RegistryError

LLAMA = "vllm/model_executor/models/llama.py"


def opened(path: Path) -> dict[str, str]:
    with open_sources(path) as sources:
        return {name: sources.text(name) for name in sources.paths()}


def with_member(kind: bytes, name: str, **attributes):
    def add(archive: tarfile.TarFile) -> None:
        entry = tarfile.TarInfo(name)
        entry.type = kind
        for key, value in attributes.items():
            setattr(entry, key, value)
        archive.addfile(entry, io.BytesIO(bytes(entry.size)) if entry.size else None)

    return add


@pytest.mark.parametrize("tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_usual_format_is_read(make_sdist, vllm, tar_format) -> None:
    long = f"vllm/model_executor/models/{'deep/' * 14}x.py"
    files = opened(make_sdist({**vllm, long: b"y = 1\n"}, tar_format=tar_format))
    assert files[long] == "y = 1\n"
    assert files[LLAMA].startswith("class Llama")
    assert len(files) == 4


def test_names_longer_than_a_header_and_not_ascii(make_sdist, vllm) -> None:
    for tar_format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        name = f"vllm/models/{'langer_nåme_' * 12}.py"
        assert name in opened(make_sdist({**vllm, name: b""}, tar_format=tar_format))


def test_names_that_begin_with_a_dot_slash(tmp_path: Path) -> None:
    path = tmp_path / "x.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(f"./{LLAMA}"))
    assert opened(path) == {LLAMA: ""}


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/\x1b.py", "vllm-1/vllm/../x.py", "a\\b"])
def test_names_that_no_build_tool_writes(make_sdist, vllm, name) -> None:
    with pytest.raises(Invalid, match="the member name"):
        opened(make_sdist(vllm, extra=with_member(tarfile.REGTYPE, name)))


@pytest.mark.parametrize(
    ("kind", "words"), [(tarfile.SYMTYPE, "a link"), (tarfile.LNKTYPE, "a link"), (tarfile.FIFOTYPE, "a special file")]
)
@pytest.mark.parametrize("name", ["vllm-1/vllm/model_executor/models/deepseek.py", "vllm-1/vllm/v1"])
def test_links_and_special_files_in_the_way(make_sdist, vllm, kind, words, name) -> None:
    with pytest.raises(Refused, match=f"'{name}' is {words}"):
        opened(make_sdist(vllm, extra=with_member(kind, name, linkname="/etc/passwd")))


def test_links_elsewhere_do_not_matter(make_sdist, vllm) -> None:
    extra = with_member(tarfile.SYMTYPE, "vllm-0.11.2/NOTES.md", linkname="README.md")
    assert LLAMA in opened(make_sdist(vllm, extra=extra))


def test_a_name_that_is_there_twice(make_sdist, vllm) -> None:
    with pytest.raises(Invalid, match="is in it twice"):
        opened(make_sdist(vllm, extra=with_member(tarfile.REGTYPE, f"vllm-0.11.2/{LLAMA}")))


def test_a_file_beyond_the_cap_is_refused_before_it_is_read(make_sdist, vllm) -> None:
    with pytest.raises(Refused, match="has 9000000 bytes, more than the 8388608"):
        opened(make_sdist(vllm, extra=with_member(tarfile.REGTYPE, "vllm-1/vllm/models/big.py", size=9_000_000)))


def test_a_bomb_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    entry = tarfile.TarInfo("vllm-1/data.bin")
    entry.size = 1 << 40
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(entry.tobuf(tarfile.GNU_FORMAT))
        for _ in range(200):
            stream.write(bytes(1 << 20))
    with pytest.raises(Invalid, match="claims 1099511627776 bytes"):
        opened(path)
    entry.size = 1 << 30
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(entry.tobuf(tarfile.GNU_FORMAT))
        for _ in range(200):
            stream.write(bytes(1 << 20))
    started = time.monotonic()
    with pytest.raises(Invalid, match="as a bomb does"):
        opened(path)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("kind", [b"L", b"x", b"g"])
def test_an_extended_header_that_claims_gigabytes(tmp_path: Path, kind) -> None:
    entry = tarfile.TarInfo("x")
    entry.type = kind
    entry.size = 4 << 30
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(entry.tobuf(tarfile.GNU_FORMAT)))
    with pytest.raises(Invalid, match="an extended header claims 4294967296 bytes"):
        opened(path)


@pytest.mark.parametrize(
    "record", [b"5 a=b\n", b"99 path=x\n", b"path=x\n", b"0 a=b\n", b"-7 a=b\n", b"8 pathx\n", b"12 size=-100\n"]
)
def test_extended_headers_that_are_wrong(tmp_path: Path, record) -> None:
    entry = tarfile.TarInfo("x")
    entry.type = b"x"
    entry.size = len(record)
    path = tmp_path / "x.tar.gz"
    member = entry.tobuf(tarfile.USTAR_FORMAT) + record.ljust(512, b"\0") + tarfile.TarInfo("y").tobuf()
    path.write_bytes(gzip.compress(member + bytes(1024)))
    with pytest.raises(Invalid, match="damaged inside"):
        opened(path)


def test_a_sparse_file_is_no_source(make_sdist, vllm) -> None:
    with pytest.raises(Invalid, match="sparse file"):
        opened(make_sdist(vllm, extra=with_member(tarfile.GNUTYPE_SPARSE, "vllm-1/vllm/models/x.py")))


def test_gzip_without_tar_inside(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(b"hello" * 400))
    with pytest.raises(Invalid, match="is not a tar archive inside"):
        opened(tmp_path / "x.tar.gz")


def test_every_truncation_is_an_error(make_sdist, vllm) -> None:
    path = make_sdist(vllm)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(Invalid):
            opened(path)


def test_a_wrong_checksum_of_the_stream(make_sdist, vllm) -> None:
    path = make_sdist(vllm)
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)
    with pytest.raises(Invalid, match="damaged"):
        opened(path)


@settings(max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.integers(0, 8000), st.integers(0, 255)), min_size=1, max_size=4),
    mend=st.booleans(),
)
def test_damaged_archives_give_files_or_our_errors(tmp_path: Path, changes, mend) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in (f"vllm-1/{LLAMA}", f"vllm-1/vllm/models/{'x' * 120}.py", "vllm-1/PKG-INFO"):
            entry = tarfile.TarInfo(name)
            entry.size = 11
            archive.addfile(entry, io.BytesIO(b"Version: 1\n"))
    data = bytearray(plain.getvalue()[:8192])
    for at, byte in changes:
        data[at % len(data)] = byte
        if mend:  # so that damage reaches beyond the checksum of the header
            begin = at % len(data) // 512 * 512
            block = data[begin : begin + 512]
            total = sum(block[:148]) + 8 * 32 + sum(block[156:])
            data[begin + 148 : begin + 156] = f"{total:06o}\0 ".encode()
    path = tmp_path / "fuzz.tar.gz"
    path.write_bytes(gzip.compress(bytes(data) + bytes(1024), compresslevel=1))
    with suppress(RegistryError):
        assert all(name.endswith(".py") for name in opened(path))


@settings(max_examples=200, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=600), packed=st.booleans())
def test_any_bytes_give_our_errors(tmp_path: Path, data, packed) -> None:
    path = tmp_path / "fuzz.tar.gz"
    path.write_bytes(gzip.compress(data) if packed else b"\x1f\x8b\x08" + data)
    with pytest.raises(RegistryError):
        opened(path)
