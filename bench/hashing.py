"""Measures how fast a checkpoint is digested beside one-thread SHA-256 over the same bytes.

Three ways take turns in every round, so that whatever else the machine does hits all of them alike:

* hashlib: SHA-256 of the single file, one thread, readinto a 1 MiB buffer (the fastest plain way);
* single: the single file's SHA-256 and each tensor's BLAKE3 in one pass, as registration does it;
* sharded: the same tensors in several files.

Files are written just before, so the page cache holds them where memory allows: this measures hashing, not disks.
Run as `.venv/bin/python bench/hashing.py` from the root of a checkout; `--help` lists the options.
"""

import argparse
import hashlib
import json
import os
import platform
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from registry.artifacts.directory import inspect
from registry.artifacts.hashing import usable_cores

_CHUNK = 1 << 20
_TENSORS = 64


def main() -> None:
    """Parse arguments, make the files, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=2048, help="bytes of weights in MiB (default 2048)")
    parser.add_argument("--shards", type=int, default=8, help="files of the sharded version (default 8)")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (default 7)")
    parser.add_argument("--quick", action="store_true", help="128 MiB and 3 rounds: shows that it runs")
    parser.add_argument("--dir", type=Path, help="where to make the files (default: a temporary directory)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    mib, rounds = (128, 3) if arguments.quick else (arguments.mib, arguments.rounds)
    with tempfile.TemporaryDirectory(prefix="roost-bench-", dir=arguments.dir) as place:
        report = measure(Path(place), size=mib << 20, shards=arguments.shards, rounds=rounds)
    if arguments.json:
        json.dump(report, sys.stdout)
    else:
        show(report)


def measure(place: Path, *, size: int, shards: int, rounds: int) -> dict[str, object]:
    """Return medians in GB/s (10^9 bytes) and the ratios to hashlib, after `rounds` interleaved rounds."""
    single, sharded = place / "single", place / "sharded"
    write_checkpoint(single, size=size, shards=1)
    write_checkpoint(sharded, size=size, shards=shards)
    ways: dict[str, Callable[[], object]] = {
        "hashlib": lambda: plain_sha256(single / "model-00001-of-00001.safetensors"),
        "single": lambda: weights_digest(single),
        "sharded": lambda: weights_digest(sharded),
    }
    if ways["single"]() != ways["sharded"]():
        raise SystemExit("the sharded checkpoint has another weights digest than the single file")
    load_before = os.getloadavg()
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            speeds[name].append(size / 1e9 / (time.perf_counter() - begin))
    medians = {name: statistics.median(found) for name, found in speeds.items()}
    return {
        "bytes": size,
        "shards": shards,
        "rounds": rounds,
        "cores": usable_cores(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "load_before": load_before,
        "load_after": os.getloadavg(),
        "gb_per_s": medians,
        "range": {name: (min(found), max(found)) for name, found in speeds.items()},
        "ratio_to_hashlib": {name: medians[name] / medians["hashlib"] for name in ("single", "sharded")},
    }


def write_checkpoint(directory: Path, *, size: int, shards: int) -> None:
    """Write about `size` bytes of random F32 tensors, the same ones for every number of shards."""
    directory.mkdir()
    (directory / "config.json").write_text("{}")
    rows = size // _TENSORS // 4
    for shard in range(shards):
        names = [f"layers.{number}.weight" for number in range(_TENSORS) if number % shards == shard]
        header = json.dumps(
            {
                name: {"dtype": "F32", "shape": [rows], "data_offsets": [place * rows * 4, (place + 1) * rows * 4]}
                for place, name in enumerate(names)
            }
        ).encode()
        with (directory / f"model-{shard + 1:05d}-of-{shards:05d}.safetensors").open("wb") as stream:
            stream.write(struct.pack("<Q", len(header)) + header)
            for name in names:
                # Bytes do not change how long hashing takes; they only must be the same in both versions.
                stream.write(hashlib.shake_128(name.encode()).digest(1 << 16) * (rows * 4 >> 16))
                stream.write(bytes(rows * 4 & 0xFFFF))


def plain_sha256(path: Path) -> str:
    """Return SHA-256 of `path` the plain way: one thread, one buffer."""
    digest, buffer = hashlib.sha256(), bytearray(_CHUNK)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as stream:
        while count := stream.readinto(buffer):
            digest.update(view[:count])
    return digest.hexdigest()


def weights_digest(directory: Path) -> str:
    """Inspect `directory` as registration does: every file's SHA-256, every tensor's BLAKE3."""
    found = inspect(directory)
    if found.inventory is None or found.inventory.weights_digest is None:
        raise SystemExit(f"the benchmark's own files are refused: {found.faults}")
    return found.inventory.weights_digest


def show(report: dict[str, object]) -> None:
    """Print `report` as a table with its method."""
    medians, ratios, ranges = report["gb_per_s"], report["ratio_to_hashlib"], report["range"]
    if not (isinstance(medians, dict) and isinstance(ratios, dict) and isinstance(ranges, dict)):
        raise TypeError("measure() gives dicts here")
    labels = {
        "hashlib": "hashlib SHA-256, one thread, single file",
        "single": "SHA-256 and BLAKE3 per tensor, single file",
        "sharded": f"SHA-256 and BLAKE3 per tensor, {report['shards']} shards",
    }
    print(f"{'way':<45} {'GB/s':>6} {'min-max':>12} {'x hashlib':>10}")
    for name, label in labels.items():
        low, high = ranges[name]
        print(f"{label:<45} {medians[name]:6.2f} {low:6.2f}-{high:.2f} {ratios.get(name, 1.0):10.2f}")
    print(
        f"\nMedians of {report['rounds']} interleaved rounds over {report['bytes']} bytes, page cache warm; "
        f"{report['cores']} cores, {report['machine']}, Python {report['python']}; "
        f"load average before {report['load_before']}, after {report['load_after']}."
    )


if __name__ == "__main__":
    main()
