"""Blobs in a directory, without the care for crashes and parallel writers that the real ones take."""

import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path

from registry.domain.digests import Digest
from registry.domain.errors import IntegrityMismatch, Invalid, NotFound, Refused


class FakeBlobs:
    """Implements the port `Blobs`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    async def write(
        self, digest: str, stream: AsyncIterator[bytes], expected_size: int | None = None, *, limit: int | None = None
    ) -> int:
        place = self._place(digest)
        data = b""
        async for chunk in stream:
            data += chunk
            if limit is not None and len(data) > limit:
                raise Refused(f"The blob is larger than {limit} bytes.")
        if expected_size is not None and len(data) != expected_size:
            raise IntegrityMismatch(f"{len(data)} bytes came; expected {expected_size}.")
        if _digest(data) != digest:
            raise IntegrityMismatch(f"The bytes have the digest {_digest(data)}, not {digest}.")
        place.write_bytes(data)
        return len(data)

    def write_bytes(self, data: bytes) -> Digest:
        self._place(_digest(data)).write_bytes(data)
        return _digest(data)

    def exists(self, digest: str) -> int | None:
        place = self._place(digest)
        return place.stat().st_size if place.is_file() else None

    def path(self, digest: str) -> Path:
        if self.exists(digest) is None:
            raise NotFound(f"There is no blob {digest}.")
        return self._place(digest)

    async def stream(self, digest: str, chunk: int = 1 << 20) -> AsyncIterator[bytes]:
        data = self.path(digest).read_bytes()
        for begin in range(0, len(data), chunk):
            yield data[begin : begin + chunk]

    def _place(self, digest: str) -> Path:
        if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
            raise Invalid(f"{digest!r} is not a SHA-256.")
        return self.root / digest.partition(":")[2]


def _digest(data: bytes) -> Digest:
    return Digest(f"sha256:{hashlib.sha256(data).hexdigest()}")
