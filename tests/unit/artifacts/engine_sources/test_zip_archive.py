import os
import stat
import struct
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.artifacts.engine_sources import open_sources
from registry.artifacts.engine_sources.zip_archive import ZipArchive
from registry.domain.errors import Invalid, Refused, RegistryError

LLAMA = "sglang/srt/models/llama.py"
TEXT = b"class LlamaForCausalLM:\n    pass\n" * 20


def opened(path: Path) -> dict[str, str]:
    with open_sources(path) as sources:
        return {name: sources.text(name) for name in sources.paths()}


def wheel_of(path: Path, *entries: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data, compress_type=method)
    return path


def patched(path: Path, old: bytes, new: bytes, *, count: int = -1) -> Path:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, count))
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read_as_the_standard_library_reads_them(tmp_path: Path, method) -> None:
    path = wheel_of(tmp_path / "x.zip", ("a.py", TEXT), ("empty", b""), ("d/", b""), ("é.py", b"x"), method=method)
    with path.open("rb") as file, zipfile.ZipFile(path) as expected:
        archive = ZipArchive(file.fileno(), size=path.stat().st_size, source="x")
        assert list(archive.members) == expected.namelist()
        assert all(archive.read(member) == expected.read(name) for name, member in archive.members.items())


def test_zip64_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w") as archive, archive.open(LLAMA, "w", force_zip64=True) as member:
        member.write(TEXT)
    assert opened(path)[LLAMA].encode() == TEXT


def test_a_zip64_directory_is_read(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT))
    data = path.read_bytes()
    *_, count, length, start, _ = struct.unpack("<4s4H2LH", data[-22:])
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(data) - 22, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(data[:-22] + end64 + locator + end)
    assert opened(path)[LLAMA].encode() == TEXT
    lying = struct.pack("<4sLQL", b"PK\x06\x07", 0, 2**60, 1)
    path.write_bytes(data[:-22] + end64 + lying + end)
    with pytest.raises(Invalid, match="zip64 locator is wrong"):
        opened(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../etc/cron.d/x", "leads out of the directory"),
        ("/etc/passwd", "is absolute"),
        ("C:/x", "is absolute"),
        ("a\\..\\b", "holds a backslash"),
        ("a/\x1b[31m.py", r"'a/\\x1b\[31m.py' holds a control character"),
        ("sglang//x.py", "has an empty or '.' part"),
        ("x" * 300, "is too long"),
    ],
)
def test_names_that_no_build_tool_writes(tmp_path: Path, name, words) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), ("PLACE", b""))
    data = path.read_bytes()
    raw = name.encode()
    # The standard library's writer mends such names, so they are put in by hand.
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(raw), 0, 0, 0, 0, 0, 0) + raw
    *_, count, length, start, _ = struct.unpack("<4s4H2LH", data[-22:])
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, len(raw), 0) + raw
    entry = entry[:42] + struct.pack("<L", start) + entry[46:]
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count + 1, count + 1, length + len(entry), start + len(local), 0)
    path.write_bytes(data[:start] + local + data[start:-22] + entry + end)
    with pytest.raises(Invalid, match=words):
        opened(path)


def test_a_name_that_is_there_twice(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), (LLAMA.replace("llama", "llamb"), b"other"))
    with pytest.raises(Invalid, match=r"llama.py' is in it twice"):
        opened(patched(path, b"llamb", b"llama"))


def test_the_two_names_of_a_member_must_agree(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT))
    with pytest.raises(Invalid, match="another name in its own header"):
        opened(patched(path, b"llama", b"llamb", count=1))


def test_links_in_the_way(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("sglang/srt/models/deepseek.py")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(Refused, match=r"deepseek.py' is a link"):
        opened(wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), (link, b"/etc/passwd")))


def test_a_link_elsewhere_does_not_matter(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("docs/README.md")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert LLAMA in opened(wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), (link, b"/etc/passwd")))


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(Invalid, match=r"llama.py' expands from \d+ to 7000000 bytes, as a bomb does"):
        opened(wheel_of(tmp_path / "x.whl", (LLAMA, bytes(7_000_000))))
    with pytest.raises(Refused, match=r"has 90\d+ bytes, more than"):
        opened(wheel_of(tmp_path / "y.whl", (LLAMA, os.urandom(9_000_000))))
    assert time.monotonic() - started < 5


def test_many_members_that_are_a_bomb_together(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("registry.artifacts.engine_sources.limits.TOTAL_CAP", 10_000)
    entries = [(f"sglang/srt/models/m{number}.py", os.urandom(3000)) for number in range(4)]
    with pytest.raises(Refused, match="more than 10000 bytes together"):
        opened(wheel_of(tmp_path / "x.whl", *entries))


def test_a_size_that_is_a_lie(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT))
    size, lie = struct.pack("<L", len(TEXT)), struct.pack("<L", len(TEXT) - 1)
    with pytest.raises(Invalid, match=r"size or checksum|does not end where it should"):
        opened(patched(path, size, lie))


def test_a_flipped_bit_in_a_stored_member(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), method=zipfile.ZIP_STORED)
    with pytest.raises(Invalid, match="checksum"):
        opened(patched(path, b"pass", b"past", count=1))


@pytest.mark.parametrize(("ended", "after"), [(True, b"junk"), (False, b"")])
def test_packed_bytes_that_do_not_end_with_the_member(tmp_path: Path, ended, after) -> None:
    packer = zlib.compressobj(wbits=-15)
    # A flush leaves all bytes readable before the stream's end, which is then kept or cut off.
    packed = packer.compress(TEXT) + packer.flush(zlib.Z_SYNC_FLUSH) + (packer.flush() if ended else b"") + after
    path = wheel_of(tmp_path / "x.whl", (LLAMA, packed), method=zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 10 : at + 12] = struct.pack("<H", zipfile.ZIP_DEFLATED)
    data[at + 16 : at + 28] = struct.pack("<3L", zlib.crc32(TEXT), len(packed), len(TEXT))
    path.write_bytes(data)
    with pytest.raises(Invalid, match="does not end where it should"):
        opened(path)


def test_overlapping_members(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", ("a.py", TEXT), ("b.py", b"x"), method=zipfile.ZIP_STORED)
    data = path.read_bytes()
    at = data.rindex(b"PK\x01\x02") + 42
    path.write_bytes(data[:at] + struct.pack("<L", 10) + data[at + 4 :])
    with pytest.raises(Invalid, match=r"'a\.py' and 'b\.py' overlap"):
        opened(path)


def test_an_encrypted_member(tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT))
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(Refused, match="is encrypted"):
        opened(path)


def test_other_packing_methods(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="packed by method 14; expected stored or deflated"):
        opened(wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), method=zipfile.ZIP_LZMA))


def test_more_entries_than_are_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("registry.artifacts.engine_sources.zip_archive.ENTRIES_CAP", 2)
    with pytest.raises(Refused, match="3 entries, more than 2"):
        opened(wheel_of(tmp_path / "x.whl", (LLAMA, b""), ("a", b""), ("b", b"")))


def test_every_truncation_is_an_error(tmp_path: Path) -> None:
    whole = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT), ("b.py", b"x")).read_bytes()
    cut = tmp_path / "cut.whl"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(Invalid):
            opened(cut)


def test_bytes_before_or_after_the_archive(tmp_path: Path) -> None:
    whole = wheel_of(tmp_path / "x.whl", (LLAMA, TEXT)).read_bytes()
    (tmp_path / "x.whl").write_bytes(b"#!/bin/sh\n" + whole)
    with pytest.raises(Invalid, match="not where or as long as it says"):
        opened(tmp_path / "x.whl")
    (tmp_path / "x.whl").write_bytes(whole + b"more")
    with pytest.raises(Invalid, match="bytes follow it"):
        opened(tmp_path / "x.whl")


@settings(max_examples=400, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6),
    cut=st.one_of(st.none(), st.integers(0, 2000)),
    source=st.sampled_from(["stored", "deflated"]),
)
def test_damaged_archives_give_files_or_our_errors(tmp_path: Path, changes, cut, source) -> None:
    method = zipfile.ZIP_STORED if source == "stored" else zipfile.ZIP_DEFLATED
    path = wheel_of(
        tmp_path / "fuzz.whl", (LLAMA, TEXT[:99]), ("sglang-1.dist-info/METADATA", b"Version: 1\n"), method=method
    )
    data = bytearray(path.read_bytes())
    for at, byte in changes:
        data[-1 - at % len(data)] = byte
    path.write_bytes(data[:cut])
    with suppress(RegistryError):
        assert all(name.endswith(".py") for name in opened(path))


@settings(max_examples=200, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400), tail=st.binary(max_size=22))
def test_any_bytes_give_our_errors(tmp_path: Path, data, tail) -> None:
    path = tmp_path / "fuzz.whl"
    path.write_bytes(data + b"PK\x05\x06" + tail)
    with pytest.raises(RegistryError):
        opened(path)
