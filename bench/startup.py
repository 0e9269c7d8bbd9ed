"""How long commands take to start, as processes, beside a bare `python -c pass` from the same run.

    python bench/startup.py [--rounds N]

Method: interleaved rounds (bare, then each command), medians, ratio to bare. `roost check` asks a registry that this
script starts on an embedded Postgres, holding the founding case.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.founding_case import TARGET_NAME, TARGET_REVISION, write_founding_case

ROOST = Path(sys.executable).with_name("roost")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        environment = _registry(Path(folder))
        try:
            _measure(rounds, environment)
        finally:
            subprocess.run([ROOST, "down", "--data", Path(folder) / "data"], check=False, stdout=subprocess.DEVNULL)


def _registry(folder: Path) -> dict[str, str]:
    case = write_founding_case(folder / "case")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "ROOST_URL": f"http://127.0.0.1:{port}"}
    for command in (
        ["up", "--data", folder / "data", "--port", str(port), "--detach"],
        ["target", "add", TARGET_NAME, "--config", case.target_config, "--revision", TARGET_REVISION],
        ["register", case.drafter, "--name", "founding", "--provenance", case.provenance],
    ):
        subprocess.run(
            [ROOST, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
    return environment


def _measure(rounds: int, environment: dict[str, str]) -> None:
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "roost --help": [ROOST, "--help"],
        "roost check": [ROOST, "check", "founding", "--engine", "sglang==0.5.12.post1"],
        "roost show": [ROOST, "show", "founding"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            times[name].append(time.perf_counter() - begin)
    bare = statistics.median(times["python -c pass"])
    print(f"load {os.getloadavg()[0]:.1f}, {rounds} interleaved rounds")
    print(f"{'command':<18} {'median ms':>10} {'x bare':>7}")
    for name, taken in times.items():
        print(f"{name:<18} {1000 * statistics.median(taken):>10.0f} {statistics.median(taken) / bare:>7.1f}")


if __name__ == "__main__":
    main()
