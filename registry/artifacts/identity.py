"""What identifies weights: the weights digest over tensors, and the shard-list digest over files.

`docs/format.md` specifies both, byte by byte, so that another language can compute them.
"""

import hashlib
import json
from collections.abc import Iterable

from blake3 import blake3

from registry.domain.digests import Digest
from registry.domain.tensors import StoredFile, Tensor

_WEIGHTS_HEADER = b"roost.weights/1\n"
_SHARDS_HEADER = b"roost.shards/1\n"


def weights_digest(tensors: Iterable[Tensor]) -> Digest:
    """Return the BLAKE3 over the sorted (name, dtype, shape, tensor digest) of `tensors`.

    It does not depend on files: however the tensors are sharded, ordered or padded, it stays the same.

    Raises:
        ValueError: there is no tensor, a name occurs twice, or a tensor has no digest.
    """
    hasher = blake3(_WEIGHTS_HEADER)
    ordered = sorted(tensors, key=lambda tensor: tensor.name.encode())
    if not ordered:
        raise ValueError("a weights digest needs at least one tensor")
    before: str | None = None
    for tensor in ordered:
        if tensor.name == before:
            raise ValueError(f"tensor '{tensor.name}' is given twice")
        if tensor.digest is None:
            raise ValueError(f"tensor '{tensor.name}' has no digest: only its header was read")
        hasher.update(_line(tensor))
        before = tensor.name
    return Digest(f"blake3:{hasher.hexdigest()}")


def _line(tensor: Tensor) -> bytes:
    # One JSON array as RFC 8785 writes it: no spaces, only what must be escaped is, so no two tensors give one line.
    members = [tensor.name, tensor.dtype, list(tensor.shape), tensor.digest]
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def shard_list_digest(sha256s: Iterable[Digest]) -> Digest:
    """Return the SHA-256 over the sorted SHA-256 of all shards; file names do not count.

    Raises:
        ValueError: there is no shard, one occurs twice, or a digest is not a SHA-256.
    """
    ordered = sorted(sha256s)
    if not ordered:
        raise ValueError("a shard-list digest needs at least one shard")
    if len(set(ordered)) < len(ordered):
        raise ValueError("a shard is listed twice")
    wrong = next((digest for digest in ordered if not digest.startswith("sha256:")), None)
    if wrong is not None:
        raise ValueError(f"{wrong} is not the SHA-256 of a shard")
    lines = "".join(f"{digest.removeprefix('sha256:')}\n" for digest in ordered)
    return Digest(f"sha256:{hashlib.sha256(_SHARDS_HEADER + lines.encode()).hexdigest()}")


def shard_list_digest_of(files: Iterable[StoredFile]) -> Digest:
    """Return the shard-list digest of the weight files among `files`.

    Raises:
        ValueError: none of them is a weight file.
    """
    return shard_list_digest(file.sha256 for file in files if file.role == "weights")
