"""Digests name their own algorithm: `sha256:<64 hex>` or `blake3:<64 hex>`.

Two kinds identify a set of weights, and they are never compared with each other:

* `blake3:` — a *weights digest*, over the sorted (tensor name, dtype, shape, tensor digest) listing. It stays the
  same however the tensors are sharded into files. `docs/format.md` specifies the bytes.
* `sha256:` — a *shard-list digest*, over the sorted SHA-256 of the shard files, for targets too large to read.
"""

import re
from typing import Literal, NewType

Digest = NewType("Digest", str)
"""A digest in its written form, algorithm first."""

DigestKind = Literal["weights", "shards"]

PATTERN = r"^(sha256|blake3):[0-9a-f]{64}$"
"""The written form, as JSON Schema and Postgres check it."""

_WRITTEN = re.compile(PATTERN)
_KIND_OF_ALGORITHM: dict[str, DigestKind] = {"blake3": "weights", "sha256": "shards"}


def parse(text: str) -> Digest:
    """Return `text` as a digest.

    Raises:
        ValueError: `text` is not `sha256:` or `blake3:` and 64 lower-case hex digits.
    """
    if not _WRITTEN.fullmatch(text):
        msg = f"{text!r} is not a digest: expected sha256: or blake3: and 64 lower-case hex digits"
        raise ValueError(msg)
    return Digest(text)


def kind_of(digest: Digest) -> DigestKind:
    """Tell which kind of weights identity `digest` is; two kinds are never compared."""
    return _KIND_OF_ALGORITHM[digest.partition(":")[0]]


def comparable(one: Digest | None, other: Digest | None) -> bool:
    """Tell whether both digests are there and of one kind."""
    return one is not None and other is not None and kind_of(one) == kind_of(other)
