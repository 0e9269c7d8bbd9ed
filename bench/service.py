"""How long requests take, as multiples of a no-op endpoint in the same server.

    python bench/service.py [--rounds N]

Method: one client, one connection, interleaved rounds (no-op, then each request), p50 and its multiple of the no-op's.
The no-op is `GET /healthz`, which touches nothing. Registration is of metadata: each round registers other weights,
whose bytes were uploaded before its clock starts; what the service reads again from them is within it.
"""

import argparse
import hashlib
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.founding_case import TARGET_NAME, TARGET_REVISION, FoundingCase, write_founding_case

ROOST = Path(sys.executable).with_name("roost")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        case = write_founding_case(Path(folder) / "case")
        environment = {**os.environ, "ROOST_URL": f"http://127.0.0.1:{port}"}
        try:
            for command in (
                ["up", "--data", Path(folder) / "data", "--port", str(port), "--detach"],
                ["target", "add", TARGET_NAME, "--config", case.target_config, "--revision", TARGET_REVISION],
                ["register", case.drafter, "--name", "founding", "--provenance", case.provenance],
            ):
                subprocess.run([ROOST, *command], check=True, stdout=subprocess.DEVNULL, env=environment)
            _measure(rounds, port, case)
        finally:
            subprocess.run([ROOST, "down", "--data", Path(folder) / "data"], check=False, stdout=subprocess.DEVNULL)


def _measure(rounds: int, port: int, case: FoundingCase) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    weights = (case.drafter / "model.safetensors").read_bytes()
    provenance = json.loads(case.provenance.read_text())
    provenance["capture"].pop("source")
    proposal = json.dumps(
        {"schema": "roost.proposal/1", "checkpoint": "founding@1", "engine": "sglang==0.5.23"}
    ).encode()
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        body = _registration(connection, case, provenance, number, _variant(weights, number))
        for name, method, path, payload in (
            ("no-op", "GET", "/healthz", None),
            ("GET checkpoint", "GET", "/v1/checkpoints/founding@1", None),
            ("POST /v1/check", "POST", "/v1/check", proposal),
            ("register metadata", "POST", "/v1/checkpoints", body),
        ):
            begin = time.perf_counter()
            status, answer = _ask(connection, method, path, payload)
            times.setdefault(name, []).append(time.perf_counter() - begin)
            if status >= 400:  # noqa: PLR2004  # HTTP errors start here
                raise SystemExit(f"{name}: {status} {answer[:300]!r}")
    noop = statistics.median(times["no-op"])
    print(f"load {os.getloadavg()[0]:.1f}, {rounds} interleaved rounds, one connection")
    print(f"{'request':<20} {'p50 ms':>8} {'x no-op':>8}")
    for name, taken in times.items():
        print(f"{name:<20} {1000 * statistics.median(taken):>8.2f} {statistics.median(taken) / noop:>8.1f}")


def _variant(weights: bytes, number: int) -> bytes:
    """Return the same file with other numbers in the middle, where a matrix lies."""
    middle = len(weights) // 2
    return weights[:middle] + number.to_bytes(4, "little") + weights[middle + 4 :]


def _registration(
    connection: http.client.HTTPConnection, case: FoundingCase, provenance: object, number: int, weights: bytes
) -> bytes:
    """Upload one variant's files and return the document that registers them."""
    files = {"config.json": (case.drafter / "config.json").read_bytes(), "model.safetensors": weights}
    listed = []
    for name, data in files.items():
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        listed.append({"name": name, "size": len(data), "sha256": digest})
        connection.request("PUT", f"/v1/blobs/{digest}", data, {"Content-Type": "application/octet-stream"})
        connection.getresponse().read()
    document = {"schema": "roost.registration/1", "name": f"bench/{number}", "provenance": provenance, "files": listed}
    return json.dumps(document).encode()


def _ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None
) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body=body, headers=headers)
    response = connection.getresponse()
    return response.status, response.read()


if __name__ == "__main__":
    main()
