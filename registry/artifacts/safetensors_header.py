"""Reads the header of a safetensors file as if it came from an enemy.

Layout (safetensors 0.8): eight bytes, little-endian length n of the header; n bytes of UTF-8 JSON that begin with `{`,
padded with spaces; then the tensors' bytes, which the header's offsets must cover without overlap or hole. Nothing is
allocated for a length before that length was compared with the file and the cap.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from registry.artifacts import sniffing, strict_json
from registry.artifacts.faults import MOST_FAULTS
from registry.artifacts.files import read_exactly
from registry.artifacts.names import printable
from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.tensors import DTYPE_BITS

HEADER_CAP = 100_000_000
"""Longest header in bytes, as the safetensors library has it."""

_PREFIX = 8
_MOST_DIMENSIONS = 64
_MOST = 2**63 - 1
_LONGEST_NAME = 1024
_ENTRY_KEYS = {"dtype", "shape", "data_offsets"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpan:
    """One tensor as the header describes it. `begin` and `end` are byte offsets in the file, end exclusive."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A sound header: its tensors, sorted by offset, cover the file from `data_begin` to its end."""

    tensors: tuple[TensorSpan, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    data_begin: int


class _Fault(NamedTuple):
    kind: FaultKind
    where: str
    observed: str
    expected: str


def read_header(stream: BinaryIO, *, size: int, file: str) -> Header | tuple[ArtifactFault, ...]:
    """Read and check the header at the beginning of `stream`.

    Args:
        stream: the file, at offset 0.
        size: the file's size in bytes.
        file: its name, for messages.

    Returns:
        The header, or all its faults (at most 32), sorted by kind of check.
    """
    head = read_exactly(stream, min(size, sniffing.HEAD))
    pretender = sniffing.disguise(head, file=file, size=size, weights=True)
    if pretender is not None:
        return (pretender,)
    wrong = _length_fault(head, size)
    if wrong is not None:
        return _named((wrong,), file)
    length = int.from_bytes(head[:_PREFIX], "little")
    end = _PREFIX + length
    data = head[_PREFIX:end] + read_exactly(stream, end - len(head))
    if len(data) < length:
        return _named((_truncated(_PREFIX + len(data), end),), file)
    return parse_header(data, size=size, file=file)


def parse_header(data: bytes, *, size: int, file: str) -> Header | tuple[ArtifactFault, ...]:
    """Check the JSON of a header, without its length prefix, against a file of `size` bytes.

    Args:
        data: the header's JSON with its padding.
        size: size of the whole file in bytes: prefix, header and tensors.
        file: its name, for messages.
    """
    if not data.startswith(b"{"):
        observed = f"the header begins with {data[:8]!r}"
        return _named((_Fault(FaultKind.HEADER_MALFORMED, "", observed, "a JSON object: '{'"),), file)
    try:
        document = strict_json.parse(data)
    except strict_json.MalformedJsonError as error:
        return _named((_Fault(FaultKind.HEADER_MALFORMED, "", f"the header: {error}", "one JSON object"),), file)
    faults = [_repeated(pointer) for pointer in document.repeated]
    members = document.value
    if not isinstance(members, dict):  # cannot be: it starts with `{`
        return _named((_Fault(FaultKind.HEADER_MALFORMED, "", "the header is no object", "one JSON object"),), file)
    data_begin = _PREFIX + len(data)
    metadata = _metadata(members.pop("__metadata__", {}), faults)
    spans = [span for name, entry in members.items() if (span := _span(name, entry, data_begin, faults)) is not None]
    if len(spans) == len(members):
        spans.sort(key=lambda span: (span.begin, span.end, span.name))
        faults.extend(_layout_faults(spans, data_begin=data_begin, size=size))
    if faults:
        return _named(tuple(faults[:MOST_FAULTS]), file)
    return Header(tensors=tuple(spans), metadata=metadata, data_begin=data_begin)


def _length_fault(head: bytes, size: int) -> _Fault | None:
    if len(head) < _PREFIX:
        return _Fault(
            FaultKind.TRUNCATED, "", f"have {len(head)} of at least {_PREFIX + 2} bytes", "a whole safetensors file"
        )
    length = int.from_bytes(head[:_PREFIX], "little")
    available = size - _PREFIX
    if length > HEADER_CAP:
        observed = f"header length {length}, which is beyond the cap of {HEADER_CAP} bytes; begins with {head[:16]!r}"
        return _Fault(FaultKind.HEADER_LENGTH, "bytes 0-8", observed, "a safetensors file, fetched whole")
    if length > available:
        observed = f"header length {length}, which is beyond the file: have {size} of at least {_PREFIX + length} bytes"
        return _Fault(FaultKind.HEADER_LENGTH, "bytes 0-8", observed, f"at most {available}, or fetch the file again")
    if length < len("{}"):
        return _Fault(FaultKind.HEADER_LENGTH, "bytes 0-8", f"header length {length}", "at least 2: '{}'")
    return None


def _repeated(pointer: str) -> _Fault:
    name = pointer.removeprefix("/")
    where = name.replace("~1", "/").replace("~0", "~") if "/" not in name else pointer
    return _Fault(FaultKind.DUPLICATE_KEY, printable(where), "the key occurs more than once", "every key once")


def _metadata(value: object, faults: list[_Fault]) -> Mapping[str, str]:
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return value
    faults.append(
        _Fault(FaultKind.HEADER_MALFORMED, "__metadata__", _kind_of(value), "an object of text by text, nothing else")
    )
    return {}


def _span(name: str, entry: object, data_begin: int, faults: list[_Fault]) -> TensorSpan | None:
    """Return the tensor that `entry` describes, or None after adding what is wrong with it to `faults`."""
    where = printable(name[:_LONGEST_NAME])
    reason = _name_fault(name)
    if reason is not None:
        faults.append(_Fault(FaultKind.HEADER_MALFORMED, where, f"a tensor name that {reason}", "a printable name"))
        return None
    if not isinstance(entry, dict) or entry.keys() != _ENTRY_KEYS:
        found = sorted(entry) if isinstance(entry, dict) else _kind_of(entry)
        observed = printable(f"{found}"[:200])
        faults.append(_Fault(FaultKind.HEADER_MALFORMED, where, observed, f"an object of {sorted(_ENTRY_KEYS)}"))
        return None
    dtype, shape, offsets = entry["dtype"], _naturals(entry["shape"]), _naturals(entry["data_offsets"])
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        observed = printable(f"dtype {dtype!r}"[:80])
        faults.append(_Fault(FaultKind.HEADER_MALFORMED, where, observed, f"one of {', '.join(sorted(DTYPE_BITS))}"))
    elif shape is None or len(shape) > _MOST_DIMENSIONS:
        observed = f"shape {entry['shape']!r}"[:120]
        expected = f"a list of at most {_MOST_DIMENSIONS} integers from 0 on"
        faults.append(_Fault(FaultKind.HEADER_MALFORMED, where, observed, expected))
    elif offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:  # noqa: PLR2004  # [begin, end]
        observed = f"data_offsets {entry['data_offsets']!r}"[:120]
        faults.append(_Fault(FaultKind.HEADER_MALFORMED, where, observed, "[begin, end] with begin <= end"))
    else:
        wrong = _size_fault(where, dtype, shape, offsets[1] - offsets[0])
        if wrong is not None:
            faults.append(wrong)
        begin, end = offsets
        return TensorSpan(name=name, dtype=dtype, shape=shape, begin=data_begin + begin, end=data_begin + end)
    return None


def _name_fault(name: str) -> str | None:
    if not name:
        return "is empty"
    if len(name) > _LONGEST_NAME:
        return f"has {len(name)} characters, beyond {_LONGEST_NAME}"
    return "holds control characters" if printable(name) != name else None


def _naturals(value: object) -> tuple[int, ...] | None:
    # bool is an int in Python and `true` is no dimension, hence the exact type.
    if isinstance(value, list) and all(type(number) is int and 0 <= number <= _MOST for number in value):
        return tuple(value)
    return None


def _size_fault(where: str, dtype: str, shape: tuple[int, ...], present: int) -> _Fault | None:
    bits = math.prod(shape) * DTYPE_BITS[dtype]
    if bits == present * 8:
        return None
    needed = f"{bits // 8}" if bits % 8 == 0 else f"{bits} bits, not whole"
    observed = f"{present} bytes between its offsets"
    expected = f"{needed} bytes for {dtype} {list(shape)}" if bits < _MOST else f"the bytes of {dtype} {list(shape)}"
    return _Fault(FaultKind.SIZE_MISMATCH, where, observed, expected[:200])


def _layout_faults(spans: list[TensorSpan], *, data_begin: int, size: int) -> list[_Fault]:
    """Find overlaps and holes between `spans`, sorted by offset, and compare their end with the file's."""
    faults: list[_Fault] = []
    cursor, before = data_begin, "the header"
    for span in spans:
        if span.begin != cursor:
            what = "overlaps" if span.begin < cursor else "leaves a hole after"
            observed = f"begins at data byte {span.begin - data_begin}: {what} '{before}'"
            expected = f"data byte {cursor - data_begin}"
            faults.append(_Fault(FaultKind.OVERLAP_OR_HOLE, span.name, observed, expected))
        if span.end >= cursor:
            cursor, before = span.end, span.name
    if cursor > size:
        faults.append(_truncated(size, cursor))
    elif cursor < size:
        observed = f"{size - cursor} bytes after the last tensor"
        where = f"bytes {cursor}-{size}"
        faults.append(_Fault(FaultKind.OVERLAP_OR_HOLE, where, observed, f"the file ends at byte {cursor}"))
    return faults


def _truncated(have: int, needed: int) -> _Fault:
    return _Fault(FaultKind.TRUNCATED, "", f"have {have} of {needed} bytes", f"{needed} bytes: fetch the file again")


def _kind_of(value: object) -> str:
    return {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}.get(
        type(value), "a number"
    )


def _named(faults: tuple[_Fault, ...], file: str) -> tuple[ArtifactFault, ...]:
    return tuple(
        ArtifactFault(kind=fault.kind, file=file, where=fault.where, observed=fault.observed, expected=fault.expected)
        for fault in faults
    )
