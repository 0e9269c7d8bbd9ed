"""What every implementation of the port `Blobs` must do: the local directory does it, and so does the fake."""

import hashlib
from collections.abc import AsyncIterator

import pytest
from fakes.blobs import FakeBlobs

from registry.blobs.local import LocalBlobs
from registry.domain.errors import IntegrityMismatch, Invalid, NotFound, Refused

DATA = b"drafter" * 1000
DIGEST = f"sha256:{hashlib.sha256(DATA).hexdigest()}"


async def pieces(data: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(data), 999):
        yield data[begin : begin + 999]


@pytest.fixture(params=[LocalBlobs, FakeBlobs])
def blobs(request, tmp_path):
    made = request.param(tmp_path / "blobs")
    if isinstance(made, LocalBlobs):
        made.prepare()
    return made


async def test_what_is_written_is_read(blobs):
    assert blobs.exists(DIGEST) is None
    assert await blobs.write(DIGEST, pieces(DATA), len(DATA)) == len(DATA)
    assert blobs.exists(DIGEST) == len(DATA)
    assert blobs.path(DIGEST).read_bytes() == DATA
    assert b"".join([chunk async for chunk in blobs.stream(DIGEST, 100)]) == DATA


def test_small_content_is_stored_under_its_digest(blobs):
    assert blobs.write_bytes(DATA) == blobs.write_bytes(DATA) == DIGEST
    assert blobs.path(DIGEST).read_bytes() == DATA


@pytest.mark.parametrize(
    ("data", "options", "error"),
    [
        (b"other", {}, IntegrityMismatch),
        (DATA, {"expected_size": len(DATA) + 1}, IntegrityMismatch),
        (DATA, {"limit": len(DATA) - 1}, Refused),
    ],
    ids=["digest", "size", "limit"],
)
async def test_bytes_that_are_not_what_was_announced_are_not_stored(blobs, data, options, error):
    with pytest.raises(error):
        await blobs.write(DIGEST, pieces(data), **options)
    assert blobs.exists(DIGEST) is None


async def test_what_is_not_there_is_not_found(blobs):
    with pytest.raises(NotFound):
        blobs.path(DIGEST)
    with pytest.raises(NotFound):
        await anext(blobs.stream(DIGEST))


@pytest.mark.parametrize("digest", ["", "sha256:zz", "blake3:" + "0" * 64, "sha256:" + "0" * 64 + "\n", "../x"])
async def test_a_malformed_digest_is_invalid_everywhere(blobs, digest):
    for use in (blobs.exists, blobs.path):
        with pytest.raises(Invalid):
            use(digest)
    with pytest.raises(Invalid):
        await blobs.write(digest, pieces(DATA))
