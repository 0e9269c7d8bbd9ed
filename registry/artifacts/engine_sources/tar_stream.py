"""Reads a gzipped tar archive in one pass and keeps only the files that are wanted.

The standard library's reader takes whatever length an extended header claims into memory; here every length has a cap.
Formats: POSIX ustar and pax, GNU long names (POSIX.1-2017, `pax`, "Interchange Formats").
"""

import gzip
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from registry.artifacts import names
from registry.artifacts.engine_sources.limits import ENTRIES_CAP, MIB, RATIO_CAP, Budget, invalid, refused, shown
from registry.domain.errors import Invalid

_BLOCK = 512
_STREAM_CAP = 2048 * MIB
_RATIO_FREE = 64 * MIB
_EXTENDED_CAP = MIB
_CHUNK = MIB
_REGULAR = b"07\0"
_LINKS = b"12"
_FOLDER = b"5"
_AGAIN = "Download the file again and compare its SHA-256 with the index's."


@dataclass(slots=True)
class _Extended:
    """What extended headers say about the next member."""

    path: str | None = None
    size: int | None = None
    sparse: bool = False


class TarStream:
    """One pass over a `.tar.gz`."""

    def __init__(self, file: BinaryIO, *, source: str) -> None:
        """Take an open file at offset 0, unbuffered or not; it stays the caller's."""
        self._file = file
        self._stream = gzip.GzipFile(fileobj=file, mode="rb")
        self._source = source
        self._read_so_far = 0

    def kept(self, wanted: Callable[[str], bool], *, redirects: Callable[[str], bool]) -> Mapping[str, bytes]:
        """Return the bytes of the wanted members by name.

        Args:
            wanted: tells of a checked name whether the file is to be kept.
            redirects: tells of a checked name whether a link there would change what is read.

        Raises:
            Invalid: this is no gzipped tar, it is cut off, contradicts itself, or expands beyond measure.
            Refused: it has links in the way, or more than is read.
        """
        kept: dict[str, bytes] = {}
        budget = Budget(self._source)
        extended = _Extended()
        for _ in range(ENTRIES_CAP):
            header = self._exactly(_BLOCK)
            if not header.strip(b"\0"):
                self._drain()
                return kept
            kind, size = self._checked(header), self._number(header[124:136])
            if kind in b"LKxg":
                self._extend(extended, kind, self._extension(size))
                continue
            name = self._name(header, extended)
            size = size if extended.size is None else extended.size
            if kind not in _REGULAR + b"S":
                size = 0 if kind in b"123456" else size
                self._refuse_link(name, kind, redirects)
                self._skip(size)
            elif not wanted(name):
                self._skip(size)
            else:
                if name in kept:
                    raise self._broken(f"'{shown(name)}' is in it twice: readers disagree about which one counts")
                if kind == b"S" or extended.sparse:
                    raise self._broken(f"'{shown(name)}' is a sparse file, which no source file is")
                budget.take(name, size)
                kept[name] = self._exactly(size)
                self._skip_padding(size)
            extended = _Extended()
        raise refused(self._source, f"it has more than {ENTRIES_CAP} entries", hint=_AGAIN)

    def _checked(self, header: bytes) -> bytes:
        """Return the kind of a member after checking the header's checksum."""
        body = header[:148] + b" " * 8 + header[156:]
        stated = self._number(header[148:156])
        signed = sum(body) - 256 * sum(byte > 127 for byte in body)  # noqa: PLR2004  # old tars summed signed bytes
        if stated not in {sum(body), signed}:
            raise self._damaged("a header's checksum is wrong")
        return header[156:157]

    def _number(self, field: bytes) -> int:
        if field[0] & 0x80:  # GNU: big-endian binary in place of octal digits
            return int.from_bytes(field[1:], "big") if field[0] == 0x80 else self._wrong_number()  # noqa: PLR2004
        digits = field.split(b"\0", 1)[0].strip()
        if not digits:
            return 0
        return int(digits, 8) if digits.isdigit() and not digits.strip(b"01234567") else self._wrong_number()

    def _wrong_number(self) -> int:
        raise self._damaged("a header holds no number where one must be")

    def _name(self, header: bytes, extended: _Extended) -> str:
        if extended.path is not None:
            name = extended.path
        else:
            name = _text(header[:100])
            prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
            name = f"{prefix}/{name}" if prefix else name
        name = name.removeprefix("./").removesuffix("/")
        reason = None if name in {"", "."} else names.unsafe_reason(name)
        if reason is not None:
            raise invalid(
                self._source,
                f"the member name '{shown(name)}' {reason}",
                hint="No build tool writes such a name: do not install this file, and get it from its index again.",
            )
        return name

    def _refuse_link(self, name: str, kind: bytes, redirects: Callable[[str], bool]) -> None:
        if kind == _FOLDER or not redirects(name):
            return
        what = "a link" if kind in _LINKS else "a special file"
        raise refused(
            self._source,
            f"'{shown(name)}' is {what}, where source files are expected",
            hint="Unpack it where you trust it, replace the links by what they point to, and scan the directory.",
        )

    def _extension(self, size: int) -> bytes:
        if size > _EXTENDED_CAP:
            raise self._broken(f"an extended header claims {size} bytes")
        data = self._exactly(size)
        self._skip_padding(size)
        return data

    def _extend(self, extended: _Extended, kind: bytes, data: bytes) -> None:
        if kind == b"L":
            extended.path = _text(data)
        elif kind == b"x":
            for key, value in self._records(data):
                if key == b"path":
                    extended.path = value.decode("utf-8", "surrogateescape")
                elif key == b"size":
                    extended.size = int(value) if value.isdigit() and len(value) < 20 else self._wrong_number()  # noqa: PLR2004
                elif key.startswith(b"GNU.sparse."):
                    extended.sparse = True

    def _records(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Split a pax header into (key, value): each record is `LENGTH KEY=VALUE` and a line feed."""
        records: list[tuple[bytes, bytes]] = []
        at = 0
        while at < len(data):
            digits, blank, _ = data[at : at + 20].partition(b" ")
            length = int(digits) if blank and digits.isdigit() else 0
            record = data[at + len(digits) + 1 : at + length]
            key, equals, value = record.partition(b"=")
            if length <= len(digits) + 1 or at + length > len(data) or not equals or not value.endswith(b"\n"):
                raise self._damaged("a pax header's record is wrong")
            records.append((key, value[:-1]))
            at += length
        return records

    def _exactly(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count > 0:
            part = self._some(min(count, _CHUNK))
            if not part:
                raise self._broken("it is cut off")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _skip(self, size: int) -> None:
        left = size + -size % _BLOCK
        if left > _STREAM_CAP:
            raise self._broken(f"a member claims {size} bytes")
        while left > 0:
            part = self._some(min(left, _CHUNK))
            if not part:
                raise self._broken("it is cut off")
            left -= len(part)

    def _skip_padding(self, size: int) -> None:
        self._exactly(-size % _BLOCK)

    def _drain(self) -> None:
        """Read to the end, so that the checksum of the compressed stream is compared."""
        while self._some(_CHUNK):
            pass

    def _some(self, count: int) -> bytes:
        try:
            part = self._stream.read(count)
        except gzip.BadGzipFile as error:
            what = "this is not a gzip file" if self._read_so_far == 0 else "it is damaged"
            raise self._broken(f"{what} ({error})") from None
        except (EOFError, zlib.error):
            raise self._broken("it is cut off or damaged") from None
        except OSError as error:
            raise self._broken(f"it cannot be read ({error.strerror or type(error).__name__})") from None
        self._read_so_far += len(part)
        packed = max(self._file.tell(), 1)
        if self._read_so_far > _STREAM_CAP or (
            self._read_so_far > _RATIO_FREE and self._read_so_far > RATIO_CAP * packed
        ):
            observed = f"it expands from {packed} to more than {self._read_so_far - 1} bytes, as a bomb does"
            raise invalid(self._source, observed, hint=_AGAIN)
        return part

    def _damaged(self, observed: str) -> Invalid:
        what = "is not a tar archive inside" if self._read_so_far == _BLOCK else "is damaged inside"
        return self._broken(f"it {what}: {observed}")

    def _broken(self, observed: str) -> Invalid:
        return invalid(self._source, observed, hint=_AGAIN)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
