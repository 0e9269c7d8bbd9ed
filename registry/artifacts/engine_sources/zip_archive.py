"""Reads members of a zip file by its central directory, strictly, in memory.

Stricter than the standard library's reader where the two halves of a zip file can disagree, since then two readers see
two archives: members must not overlap, names must agree, sizes must be true, nothing may lie before or between. Layout
from PKWARE's APPNOTE 6.3.10, sections 4.3 to 4.5.
"""

import os
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from registry.artifacts import names
from registry.artifacts.engine_sources.limits import (
    ENTRIES_CAP,
    FILE_CAP,
    MIB,
    RATIO_CAP,
    RATIO_FREE,
    invalid,
    refused,
    shown,
)
from registry.domain.errors import Invalid

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT = 0xFFFF
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED = 0x0001 | 0x0040 | 0x2000
_UTF8 = 0x0800
_STORED, _DEFLATED = 0, 8
_UNIX = 3
_ZIP64 = 1
_DIRECTORY_CAP = 64 * MIB
_AGAIN = "Download the file again and compare its SHA-256 with the index's."


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One entry of the central directory. Sizes and offset in bytes."""

    name: str
    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    link: bool

    @property
    def end(self) -> int:
        """Return the first byte that can be after the member's data."""
        return self.offset + _LOCAL.size + len(self.raw_name) + self.packed


class ZipArchive:
    """The members of an open zip file, by name. Reads by position, so several threads may."""

    def __init__(self, descriptor: int, *, size: int, source: str) -> None:
        """Read the central directory of the `size` bytes behind `descriptor`, which stays the caller's.

        Raises:
            Invalid: this is no zip file, it is cut off, or it contradicts itself.
            Refused: it has more entries than are read.
        """
        self._descriptor = descriptor
        self._source = source
        self._size = size
        start, length, count = self._directory()
        self._start = start
        self.members: Mapping[str, Member] = self._index(self._pread(start, length), count)

    def read(self, member: Member) -> bytes:
        """Return the bytes of a member.

        Raises:
            Invalid: its header, size or checksum is wrong, or it expands beyond measure.
            Refused: it is encrypted, packed by another method than deflate, or too large.
        """
        self._check_readable(member)
        header = self._pread(member.offset, _LOCAL.size)
        fields = _LOCAL.unpack(header)
        if fields[0] != b"PK\x03\x04":
            raise self._broken(f"the member '{shown(member.name)}' does not begin where the directory says")
        name_length, extra_length = fields[-2], fields[-1]
        if self._pread(member.offset + _LOCAL.size, name_length) != member.raw_name:
            raise self._broken(f"the member '{shown(member.name)}' has another name in its own header")
        begin = member.offset + _LOCAL.size + name_length + extra_length
        if begin + member.packed > self._start:
            raise self._broken(f"the member '{shown(member.name)}' reaches into the directory")
        data = self._unpacked(member, self._pread(begin, member.packed))
        if len(data) != member.size or zlib.crc32(data) != member.crc:
            raise self._broken(f"the member '{shown(member.name)}' is not of the size or checksum that is stated")
        return data

    def _check_readable(self, member: Member) -> None:
        name = shown(member.name)
        if member.flags & _ENCRYPTED:
            raise refused(self._source, f"the member '{name}' is encrypted", hint="Unpack it and scan the directory.")
        if member.method not in {_STORED, _DEFLATED}:
            observed = f"the member '{name}' is packed by method {member.method}; expected stored or deflated"
            raise refused(self._source, observed, hint="Unpack it and scan the directory.")
        if max(member.size, member.packed) > FILE_CAP:
            observed = f"the member '{name}' has {max(member.size, member.packed)} bytes, more than {FILE_CAP}"
            raise refused(self._source, observed, hint="Check that this is an engine's source and nothing else.")
        if member.size > RATIO_FREE and member.size > RATIO_CAP * member.packed:
            observed = f"the member '{name}' expands from {member.packed} to {member.size} bytes, as a bomb does"
            raise invalid(self._source, observed, hint=_AGAIN)

    def _unpacked(self, member: Member, packed: bytes) -> bytes:
        if member.method == _STORED:
            return packed
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = inflater.decompress(packed, member.size + 1)
        except zlib.error:
            raise self._broken(f"the member '{shown(member.name)}' cannot be unpacked") from None
        if not inflater.eof or inflater.unused_data:
            raise self._broken(f"the member '{shown(member.name)}' does not end where it should")
        return data

    def _directory(self) -> tuple[int, int, int]:
        """Return offset, length and number of entries of the central directory."""
        tail_at = max(0, self._size - _END.size - _LONGEST_COMMENT)
        tail = self._pread(tail_at, self._size - tail_at)
        at = tail.rfind(b"PK\x05\x06")
        while at >= 0 and not self._is_end(tail[at:]):
            at = tail.rfind(b"PK\x05\x06", 0, at)
        if at < 0:
            raise invalid(self._source, self._not_a_zip(), hint=_AGAIN)
        _, disk, first_disk, here, count, length, start, _ = _END.unpack_from(tail, at)
        end = tail_at + at
        if _MAX16 in {here, count} or _MAX32 in {length, start}:
            end, disk, first_disk, here, count, length, start = self._directory64(end)
        if disk or first_disk or here != count:
            raise self._broken("it is one part of an archive that was split")
        if start + length != end or count * _CENTRAL.size > length:
            raise self._broken("the directory at its end is not where or as long as it says")
        if count > ENTRIES_CAP or length > _DIRECTORY_CAP:
            raise refused(self._source, f"it has {count} entries, more than {ENTRIES_CAP}", hint=_AGAIN)
        return start, length, count

    @staticmethod
    def _is_end(tail: bytes) -> bool:
        return len(tail) >= _END.size and _END.size + int(_END.unpack_from(tail)[-1]) == len(tail)

    def _directory64(self, end: int) -> tuple[int, int, int, int, int, int, int]:
        """Follow the zip64 locator before the end record at `end`."""
        locator_at = end - _LOCATOR64.size
        if locator_at < _END64.size:
            raise self._broken("it is said to be zip64 and has no zip64 records")
        signature, disk, at, disks = _LOCATOR64.unpack(self._pread(locator_at, _LOCATOR64.size))
        if signature != b"PK\x06\x07" or disk or disks > 1 or at + _END64.size > locator_at:
            raise self._broken("its zip64 locator is wrong")
        record = _END64.unpack(self._pread(at, _END64.size))
        if record[0] != b"PK\x06\x06" or at + record[1] + 12 != locator_at:
            raise self._broken("its zip64 end record is wrong")
        disk, first_disk, here, count, length, start = record[4:]
        return at, disk, first_disk, here, count, length, start

    def _index(self, directory: bytes, count: int) -> Mapping[str, Member]:
        members: dict[str, Member] = {}
        for member in self._entries(directory, count):
            if member.name in members:
                raise self._broken(f"'{shown(member.name)}' is in it twice: readers disagree about which one counts")
            members[member.name] = member
        ordered = sorted(members.values(), key=lambda member: member.offset)
        for one, other in pairwise(ordered):
            if one.end > other.offset:
                raise self._broken(f"the members '{shown(one.name)}' and '{shown(other.name)}' overlap")
        if ordered and ordered[-1].end > self._start:
            raise self._broken(f"the member '{shown(ordered[-1].name)}' reaches into the directory")
        return members

    def _entries(self, directory: bytes, count: int) -> Iterator[Member]:
        at = 0
        for _ in range(count):
            if at + _CENTRAL.size > len(directory):
                raise self._broken("its directory is cut off")
            fields = _CENTRAL.unpack_from(directory, at)
            name_end = at + _CENTRAL.size + fields[10]
            extra_end = name_end + fields[11]
            if fields[0] != b"PK\x01\x02" or extra_end + fields[12] > len(directory):
                raise self._broken("its directory is damaged")
            raw_name = directory[at + _CENTRAL.size : name_end]
            yield self._member(fields[1:], raw_name, directory[name_end:extra_end])
            at = extra_end + fields[12]
        if at != len(directory):
            raise self._broken("its directory holds more than it says")

    def _member(self, fields: tuple[int, ...], raw_name: bytes, extra: bytes) -> Member:
        made_by, _, flags, method, _, _, crc, packed, size, _, _, _, disk, _, attributes, offset = fields
        name = self._checked_name(raw_name, utf8=bool(flags & _UTF8))
        if _MAX32 in {size, packed, offset}:
            size, packed, offset = self._long_fields(name, extra, (size, packed, offset))
        if disk not in {0, _MAX16}:
            raise self._broken(f"the member '{shown(name)}' lies in another part of a split archive")
        link = made_by >> 8 == _UNIX and stat.S_ISLNK(attributes >> 16)
        return Member(
            name=name, raw_name=raw_name, flags=flags, method=method, crc=crc,
            packed=packed, size=size, offset=offset, link=link,
        )  # fmt: skip

    def _long_fields(self, name: str, extra: bytes, short: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return size, packed size and offset with the 64-bit values of the extra field in place of the full ones."""
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<2H", extra, at)
            at += 4
            if kind == _ZIP64:
                values = [value for (value,) in struct.iter_unpack("<Q", extra[at : at + length // 8 * 8])]
                if at + length > len(extra) or len(values) < short.count(_MAX32):
                    break
                size, packed, offset = (values.pop(0) if value == _MAX32 else value for value in short)
                return size, packed, offset
            at += length
        raise self._broken(f"the member '{shown(name)}' is said to be zip64 and its sizes are not stated")

    def _checked_name(self, raw_name: bytes, *, utf8: bool) -> str:
        try:
            name = raw_name.decode("utf-8" if utf8 else "cp437")
        except UnicodeDecodeError:
            raise self._broken(f"the name '{shown(raw_name.decode('latin-1'))}' is not UTF-8") from None
        reason = names.unsafe_reason(name.removesuffix("/"))
        if reason is not None:
            raise invalid(
                self._source,
                f"the member name '{shown(name)}' {reason}",
                hint="No build tool writes such a name: do not install this file, and get it from its index again.",
            )
        return name

    def _not_a_zip(self) -> str:
        head = self._pread(0, min(4, self._size))
        if head == b"PK\x03\x04":
            return "this zip file is cut off, or bytes follow it: the directory at its end is missing"
        return f"this is not a zip file (it begins with {head!r})" if head else "this file is empty"

    def _pread(self, at: int, count: int) -> bytes:
        parts: list[bytes] = []
        try:
            while count > 0 and (part := os.pread(self._descriptor, count, at)):
                parts.append(part)
                at += len(part)
                count -= len(part)
        except (OSError, OverflowError) as error:
            raise self._broken(
                f"it cannot be read ({getattr(error, 'strerror', None) or 'an impossible offset'})"
            ) from None
        if count:
            raise self._broken("it is shorter than it says")
        return b"".join(parts)

    def _broken(self, observed: str) -> Invalid:
        return invalid(self._source, observed, hint=_AGAIN)
