"""Every route answers every kind of error with a problem document. Routes are enumerated, so a new one is included."""

import http.client
import logging
import re
import socket
from collections.abc import Iterator

import pytest
from fakes import sample_documents
from fakes.blobs import FakeBlobs
from fakes.founding import sha256
from fakes.http_service import Answer, Client, serving
from fakes.records import FakeRecords

from registry.api.app import create_app
from registry.api.routes import every_route
from registry.api.settings import Settings
from registry.domain.errors import Unavailable
from registry.services.profiles import ShippedProfiles

LIMIT = 2000
FILLED = {
    "name": "some/name", "ref": "some/name@1", "digest": sha256(b"x"), "build": "sglang==0.5.23", "code": "TAP101",
}  # fmt: skip
"""A valid value for every path parameter."""
NO_RECORDS = {"/healthz", "/v1/rules", "/v1/rules/{code}"}
"""Routes that neither database nor blobs are needed for."""


def path_of(route) -> str:
    query = {"/v1/engine-diff": "?from=sglang==0.5.12&to=sglang==0.5.13"}.get(route.path, "")
    return re.sub(r"\{(\w+)(:path)?\}", lambda found: FILLED[found[1]], route.path) + query


OPERATIONS = [(method, route.path, path_of(route)) for route in every_route() for method in sorted(route.methods)]
WITH_JSON = [(route.path, path_of(route)) for route in every_route() if "POST" in route.methods]
VALID = {
    "/v1/targets": {"schema": "roost.target/1", "name": "a", "config": {}},
    "/v1/check": {"schema": "roost.proposal/1", "checkpoint": "a", "engine": "sglang==1"},
    "/v1/verdicts": {"schema": "roost.proposal/1", "checkpoint": "a", "engine": "sglang==1"},
    "/v1/emissions": {"schema": "roost.emission-request/1", "checkpoint": "a", "engine": "sglang==1"},
}
PROVENANCE = {
    "schema": "roost.provenance/1",
    "target": {"name": "a"},
    "capture": {"tool": "t", "counting": "before_layer", "layers": [1]},
    "standardization": {"name": "standardize_data_v1"},
}
VALID["/v1/matrix"] = sample_documents.matrix_request_document()
VALID["/v1/engines"] = sample_documents.engine_profile_addition_document()
VALID["/v1/provenance/{ref:path}"] = {"provenance": PROVENANCE, "reason": "x"}
VALID["/v1/checkpoints"] = {
    "schema": "roost.registration/1",
    "name": "a",
    "provenance": PROVENANCE,
    "files": [{"name": "config.json", "size": 1, "sha256": sha256(b"x")}],
}


class Failing:
    """Records and blobs of which every use fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, name: str):
        if name in ("exists", "path", "write_bytes", "stream"):

            def fails(*_args: object, **_options: object) -> object:
                raise self.error

            return fails

        async def fails_later(*_args: object, **_options: object) -> object:
            raise self.error

        return fails_later


def app_of(tmp_path, records, blobs):
    settings = Settings(database_url="", data=tmp_path, json_limit=LIMIT, blob_limit=LIMIT)
    return create_app(records=records, blobs=blobs, profiles=ShippedProfiles(), settings=settings)


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("sound")
    with serving(app_of(folder, FakeRecords(), FakeBlobs(folder / "blobs"))) as client:
        yield client


@pytest.fixture(scope="module")
def away(tmp_path_factory) -> Iterator[Client]:
    failing = Failing(Unavailable("Postgres does not answer.", hint="Start it."))
    with serving(app_of(tmp_path_factory.mktemp("away"), failing, failing)) as client:
        yield client


@pytest.fixture(scope="module")
def crashing(tmp_path_factory) -> Iterator[Client]:
    failing = Failing(RuntimeError("the secret is 42"))
    with serving(app_of(tmp_path_factory.mktemp("crashing"), failing, failing)) as client:
        yield client


def send(client: Client, method: str, route: str, path: str) -> Answer:
    """Send a request with a valid body."""
    if method == "PUT":
        return client.call(method, path, b"x")
    return client.call(method, path, VALID[route] if method == "POST" else None)


def is_problem(answer: Answer, method: str, status: int, kind: str) -> None:
    if method == "HEAD":
        assert (answer.status, answer.media_type, answer.body) == (status, "application/problem+json", b"")
    else:
        answer.problem(status, kind)


def test_every_route_is_known_here():
    assert {route for route, _ in WITH_JSON} == set(VALID)
    assert len({path for _, path, _ in OPERATIONS}) >= 17


@pytest.mark.parametrize(("method", "route", "path"), OPERATIONS)
def test_a_database_that_is_away_is_503_on_every_route_that_needs_it(away, method, route, path):
    answer = send(away, method, route, path)
    if route in NO_RECORDS:
        assert answer.status == 200
    else:
        is_problem(answer, method, 503, "unavailable")
        assert answer.headers["Retry-After"]


@pytest.mark.parametrize(("method", "route", "path"), OPERATIONS)
def test_an_exception_nobody_foresaw_is_a_problem_without_a_word_of_it(crashing, caplog, method, route, path):
    if route in NO_RECORDS:
        return
    with caplog.at_level(logging.ERROR, logger="registry.api"):
        answer = send(crashing, method, route, path)
    is_problem(answer, method, 500, "internal")
    assert b"secret" not in answer.body
    request_id = answer.headers["X-Request-Id"]
    (logged,) = [record for record in caplog.records if request_id in record.getMessage()]
    assert "the secret is 42" in str(logged.exc_info)


@pytest.mark.parametrize(("method", "route", "path"), OPERATIONS)
def test_every_answer_carries_a_request_id(sound, method, route, path):
    assert send(sound, method, route, path).headers["X-Request-Id"]


@pytest.mark.parametrize("path", sorted({path for _, _, path in OPERATIONS}))
def test_a_method_that_a_path_does_not_have_is_405_and_names_those_it_has(sound, path):
    answer = sound.call("PATCH", path, b"")
    answer.problem(405, "method-not-allowed")
    expected = {method for method, _, other in OPERATIONS if other == path}
    assert expected <= {method.strip() for method in answer.headers["Allow"].split(",")}


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/targets", "/healthz/", "/docs", "/v1/rules/TAP101/x", "//", "/%00"])
def test_a_path_that_is_no_route_is_404(sound, path):
    sound.get(path).problem(404, "no-such-route")


@pytest.mark.parametrize(("route", "path"), WITH_JSON)
class TestBodies:
    def test_another_content_type_is_415(self, sound, route, path):
        sound.post(path, b"{}", {"Content-Type": "text/plain"}).problem(415, "unsupported-media-type")
        sound.post(path, b"{}").problem(415, "unsupported-media-type")

    def test_what_is_not_json_is_422(self, sound, route, path):
        for data in (b"", b"{", b"\xff", b"[1,", b'{"a":1,"a":2}', b"NaN", b"null", b"[" * 500):
            sound.post(path, data, {"Content-Type": "application/json"}).problem(422, "invalid-document")

    def test_every_fault_has_its_place(self, sound, route, path):
        found = sound.post(path, {"no such key": 1}).problem(422, "invalid-document")
        assert "/no such key" in {error["pointer"] for error in found["errors"]}
        assert len(found["errors"]) > 1

    def test_too_large_a_body_is_413_with_and_without_its_length(self, sound, route, path):
        header = {"Content-Type": "application/json"}
        sound.post(path, b" " * (LIMIT + 1), header).problem(413, "too-large")
        # http.client sends a generator in chunks, without a length
        connection = http.client.HTTPConnection(sound.host, sound.port, timeout=10)
        connection.request("POST", path, iter([b" " * LIMIT, b" "]), header, encode_chunked=True)
        response = connection.getresponse()
        assert (response.status, response.headers["content-type"]) == (413, "application/problem+json")
        connection.close()

    def test_a_body_of_megabytes_is_refused_without_breaking_the_connection(self, sound, route, path):
        header = {"Content-Type": "application/json"}
        sound.post(path, b" " * (20 << 20), header).problem(413, "too-large")


def test_a_blob_over_the_limit_is_413_with_and_without_its_length(sound, tmp_path):
    data = b"x" * (LIMIT + 1)
    path = f"/v1/blobs/{sha256(data)}"
    sound.call("PUT", path, data).problem(413, "too-large")
    connection = http.client.HTTPConnection(sound.host, sound.port, timeout=10)
    connection.request("PUT", path, iter([data]), encode_chunked=True)
    response = connection.getresponse()
    assert (response.status, response.headers["content-type"]) == (413, "application/problem+json")
    connection.close()
    sound.get(path).problem(404, "not-found")


@pytest.mark.parametrize("given", ["ada.1-2_3", "x" * 64])
def test_a_request_id_that_the_client_gives_is_kept(sound, given):
    assert sound.get("/healthz", {"X-Request-Id": given}).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["x" * 65, "a b", "a;b", ""])
def test_a_request_id_that_could_hurt_a_log_is_replaced(sound, given):
    assert sound.get("/healthz", {"X-Request-Id": given}).headers["X-Request-Id"] != given


def test_not_ready_says_why_and_what_to_do(tmp_path):
    records = FakeRecords()
    with serving(app_of(tmp_path, records, FakeBlobs(tmp_path / "blobs"))) as client:
        assert client.get("/readyz").json == {"status": "ready"}
        records.wrong = "The database is at revision 0000."
        found = client.get("/readyz").problem(503, "unavailable")
        assert "0000" in found["detail"]
        assert "roost db migrate" in found["hint"]
        records.wrong = None
        (tmp_path / "blobs").rmdir()
        assert "blobs" in client.get("/readyz").problem(503, "unavailable")["detail"]
        assert client.get("/healthz").status == 200


@pytest.mark.parametrize(
    "sent",
    [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"],
    ids=["no-http", "bad-length", "bad-target"],
)
def test_what_is_not_http_is_a_problem_too(client, sent):
    with socket.create_connection((client.host, client.port), timeout=10) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in answer
    assert b"urn:roost:problem:malformed-request" in answer
