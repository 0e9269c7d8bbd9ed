"""Safetensors files written by hand, valid or broken on purpose, so that no test needs the library or torch."""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

TensorData = tuple[str, Sequence[int], bytes]
"""dtype, shape, little-endian bytes."""


def header_bytes(tensors: Mapping[str, TensorData], *, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return length prefix and JSON header for `tensors`, laid out in the order given."""
    header: dict[str, object] = {} if metadata is None else {"__metadata__": dict(metadata)}
    begin = 0
    for name, (dtype, shape, data) in tensors.items():
        end = begin + len(data)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
        begin = end
    return prefixed(json.dumps(header, separators=(",", ":")).encode())


def prefixed(header: bytes) -> bytes:
    """Return `header` padded with spaces to eight bytes, after its length."""
    padded = header + b" " * (-len(header) % 8)
    return struct.pack("<Q", len(padded)) + padded


def safetensors_bytes(tensors: Mapping[str, TensorData], *, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a whole safetensors file."""
    return header_bytes(tensors, metadata=metadata) + b"".join(data for _, _, data in tensors.values())


def write_safetensors(path: Path, tensors: Mapping[str, TensorData], metadata: Mapping[str, str] | None = None) -> Path:
    """Write `tensors`, as {name: (dtype, shape, bytes)}, to `path` and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(safetensors_bytes(tensors, metadata=metadata))
    return path


def write_sharded(
    directory: Path, shards: Mapping[str, Mapping[str, TensorData]], *, index: str = "model.safetensors.index.json"
) -> Path:
    """Write each shard, as {file name: tensors}, and the index that names them; return the index's path."""
    for file, tensors in shards.items():
        write_safetensors(directory / file, tensors)
    weight_map = {name: file for file, tensors in shards.items() for name in tensors}
    total = sum(len(data) for tensors in shards.values() for _, _, data in tensors.values())
    path = directory / index
    path.write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    return path
