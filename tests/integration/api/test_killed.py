"""The service is killed at many moments of a registration: nothing half-done is visible, and the repeat succeeds."""

import contextlib
import http.client
import threading
import time

from fakes.founding import sha256
from fakes.service_process import running

from registry.documents import checkpoint as checkpoint_documents

MOMENTS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Seconds from the request to the kill; a registration takes some hundredths of a second."""


def test_a_kill_at_any_moment_leaves_no_visible_half_and_the_repeat_succeeds(database, tmp_path, case):
    with running(database.service_url, tmp_path) as service:
        assert service.client.post("/v1/targets", case.target).status == 201
        service.upload(*case.with_weights(0).blobs)
        kill_after(service, MOMENTS[0], case.with_weights(0))
    for number, _ in enumerate(MOMENTS):
        with running(database.service_url, tmp_path) as service:
            is_whole(service, before=number)
            answer = service.register(case.with_weights(number), "kimi")
            assert answer.status in (200, 201), answer.body
            assert answer.json["version"] == number + 1
            following = case.with_weights(number + 1)
            service.upload(*following.blobs)
            kill_after(service, MOMENTS[number], following)


def is_whole(service, *, before):
    """Check that the registration that was cut off is there with all its parts or not at all."""
    seen = service.client.get("/v1/checkpoints?name=kimi").json["items"]
    assert len(seen) in (before, before + 1)
    for item in seen:
        whole = service.client.get(f"/v1/checkpoints/{item['ref']}")
        assert len(checkpoint_documents.parse(whole.body).files) == 2
    events = service.client.get("/v1/events/kimi").json.get("items", ())
    assert len(events) == len(seen)


def test_a_kill_during_an_upload_leaves_no_blob_and_the_next_start_removes_the_rest(database, tmp_path, case):
    data = b"y" * (4 << 20)
    incoming = tmp_path / "blobs" / "incoming"
    with running(database.service_url, tmp_path) as service:
        connection = http.client.HTTPConnection(service.client.host, service.client.port, timeout=10)
        connection.putrequest("PUT", f"/v1/blobs/{sha256(data)}")
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data[: 2 << 20])
        end = time.monotonic() + 10
        while not list(incoming.iterdir()):
            assert time.monotonic() < end
            time.sleep(0.01)
        service.process.kill()
        service.process.wait()
        connection.close()
    with running(database.service_url, tmp_path) as service:
        service.client.get(f"/v1/blobs/{sha256(data)}").problem(404, "not-found")
        service.upload(data)


def kill_after(service, seconds, one):
    def send():
        with contextlib.suppress(OSError, http.client.HTTPException):
            service.client.post("/v1/checkpoints", one.body("kimi"))

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(seconds)
    service.process.kill()
    service.process.wait()
    sender.join()
