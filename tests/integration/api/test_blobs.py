"""Bytes over HTTP: streamed in and out, verified, and nothing left of what did not arrive."""

import os
import socket
import time

import pytest
from fakes.founding import sha256

EMPTY = sha256(b"")


def put(client, data, digest=None, **headers):
    return client.call("PUT", f"/v1/blobs/{digest or sha256(data)}", data, headers)


def test_bytes_come_back_as_they_went(client):
    data = os.urandom(1 << 16)
    first, again = put(client, data), put(client, data)
    assert (first.status, again.status) == (201, 200)
    assert first.json == again.json == {"digest": sha256(data), "size": len(data)}
    back = client.get(f"/v1/blobs/{sha256(data)}")
    assert (back.status, back.body, back.media_type) == (200, data, "application/octet-stream")
    assert back.headers["ETag"] == f'"{sha256(data)}"'
    head = client.call("HEAD", f"/v1/blobs/{sha256(data)}")
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", str(len(data)))


def test_an_empty_blob_is_a_blob(client):
    assert put(client, b"").status in (200, 201)
    assert client.get(f"/v1/blobs/{EMPTY}").body == b""


def test_a_large_blob_is_streamed(client):
    data = os.urandom(1 << 20) * 48
    assert put(client, data).status == 201
    assert client.get(f"/v1/blobs/{sha256(data)}").body == data


def test_a_chunked_body_needs_no_length(client):
    data = os.urandom(100_000)
    with socket.create_connection((client.host, client.port), timeout=10) as connection:
        head = f"PUT /v1/blobs/{sha256(data)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for begin in range(0, len(data), 9000):
            chunk = data[begin : begin + 9000]
            connection.sendall(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 201")
    assert client.get(f"/v1/blobs/{sha256(data)}").body == data


def test_other_bytes_than_announced_are_refused_and_not_stored(client):
    digest = sha256(b"what was promised")
    put(client, b"what came", digest).problem(422, "integrity-mismatch")
    client.get(f"/v1/blobs/{digest}").problem(404, "not-found")
    assert client.call("HEAD", f"/v1/blobs/{digest}").status == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD"])
@pytest.mark.parametrize(
    "digest",
    [
        "sha256:zz", "sha256:" + "A" * 64, "sha256:" + "0" * 63, "blake3:" + "0" * 64, "0" * 64, "..", "../x",
        "../../../../etc/passwd", "%2e%2e%2fx", "%252e%252e%252fx", "sha256%3A..%2F..%2Fx",
        "sha256:" + "0" * 62 + "%00", "%ff", "a/b/c",
    ],
)  # fmt: skip
def test_a_bad_digest_is_a_problem_whatever_its_encoding(client, method, digest):
    answer = client.call(method, f"/v1/blobs/{digest}", b"x" if method == "PUT" else None)
    if method == "HEAD":
        assert (answer.status, answer.media_type, answer.body) == (422, "application/problem+json", b"")
    else:
        answer.problem(422, "invalid")


def test_a_body_announced_as_json_is_refused(client):
    data = b"{}"
    put(client, data, **{"Content-Type": "application/json"}).problem(415, "unsupported-media-type")


def test_a_client_that_goes_away_leaves_nothing(client, service):
    data = os.urandom(1 << 20)
    incoming = service.data / "blobs" / "incoming"
    with socket.create_connection((client.host, client.port), timeout=10) as connection:
        head = f"PUT /v1/blobs/{sha256(data)} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
        connection.sendall(head.encode() + data[: len(data) // 2])
        until(lambda: list(incoming.iterdir()))
    until(lambda: not list(incoming.iterdir()))
    client.get(f"/v1/blobs/{sha256(data)}").problem(404, "not-found")
    assert put(client, data).status == 201


def until(holds, *, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
