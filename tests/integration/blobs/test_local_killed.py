"""What a writer leaves that is killed in the middle."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

from registry.blobs.local import LocalBlobs

ROOT = Path(__file__).parents[3]
PIECE = b"x" * (1 << 20)

WRITE = """
import asyncio, sys
from pathlib import Path
from registry.blobs.local import LocalBlobs

async def pieces():
    for _ in range(3):
        yield b"x" * (1 << 20)
    print("three written", flush=True)
    await asyncio.sleep(60)

asyncio.run(LocalBlobs(Path(sys.argv[1])).write(sys.argv[2], pieces()))
"""


def test_kill_9_of_a_writer_leaves_nothing_visible_and_the_repeat_succeeds(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    blobs.prepare()
    digest = f"sha256:{hashlib.sha256(PIECE * 3).hexdigest()}"
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(tmp_path), digest],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"three written\n"
        (leftover,) = (tmp_path / "incoming").iterdir()
        make_old(leftover)
        assert blobs.prepare() == 0, "its writer lives"
        writer.kill()

    assert leftover.stat().st_size >= len(PIECE)
    assert blobs.exists(digest) is None
    assert list((tmp_path / "sha256").iterdir()) == []

    make_old(leftover)
    assert blobs.prepare() == 1
    assert blobs.write_bytes(PIECE * 3) == digest
    assert blobs.exists(digest) == 3 * len(PIECE)


def make_old(path: Path) -> None:
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago))
