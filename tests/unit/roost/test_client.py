"""The client without a network: addresses, actors, proxies, paths."""

import pytest

from roost import client
from roost.client import Answer, Client
from roost.failures import Failure


def test_the_registry_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROOST_URL", raising=False)
    assert Client.from_environment().url == "http://127.0.0.1:8750"
    monkeypatch.setenv("ROOST_URL", "https://registry.example/base/")
    assert Client.from_environment().url == "https://registry.example/base"


@pytest.mark.parametrize(
    "url",
    [
        *("127.0.0.1:8750", "ftp://x", "http://", "x", "http://[::1", "http://x:99999", "http://x:y", "http://.."),
        *("http://\udcff", "http://a b", "http://x?y=1", "http://x#y", "http://u:p@x"),
    ],
)
def test_what_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ROOST_URL", url)
    with pytest.raises(Failure, match="ROOST_URL"):
        Client.from_environment()


@pytest.mark.parametrize(
    ("given", "actor"), [("alice", "alice"), ("al\nice", "alice"), ("älice", "lice"), ("ü", "anonymous")]
)
def test_an_actor_fits_into_a_header(monkeypatch: pytest.MonkeyPatch, given: str, actor: str) -> None:
    monkeypatch.setenv("ROOST_ACTOR", given)
    assert client.current_actor() == actor


def test_names_keep_their_slashes_in_paths_and_lose_what_would_end_them() -> None:
    assert client.in_path("Team/kimi@3") == "Team/kimi@3"
    assert client.in_path("a?b#c d%") == "a%3Fb%23c%20d%25"


@pytest.mark.parametrize(
    ("host", "yes"), [("localhost", True), ("127.0.0.5", True), ("::1", True), ("example.org", False)]
)
def test_loopback_is_this_machine(host: str, yes: bool) -> None:  # noqa: FBT001 - a table's column
    assert client.is_loopback(host) is yes


def test_a_proxy_is_asked_for_other_machines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    far = Client(url="http://registry.example:8750")._connect()
    near = Client(url="http://127.0.0.1:8750")._connect()
    assert (far.host, far.port) == ("proxy.example", 3128)
    assert (near.host, near.port) == ("127.0.0.1", 8750)


def test_nobody_there_says_so_with_the_address_and_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = ConnectionRefusedError(111, "Connection refused")

    def connect() -> None:
        raise refused

    asked = Client(url="http://127.0.0.1:1")
    monkeypatch.setattr(Client, "_connect", lambda _self: connect())
    with pytest.raises(Failure, match=r"no registry answers at http://127\.0\.0\.1:1: connection refused") as caught:
        asked.get("/v1/drafters")
    assert "roost up" in caught.value.hint


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_no_object_is_a_failure_that_asks_for_the_address(body: bytes) -> None:
    with pytest.raises(Failure, match="no JSON object") as caught:
        Answer(status=200, headers={}, body=body).json()
    assert "ROOST_URL" in caught.value.hint


def test_a_key_that_an_answer_lacks_is_a_failure_and_not_a_surprise() -> None:
    found = Answer(status=200, headers={}, body=b'{"a": {"b": 1}}').json()
    assert found["a"]["b"] == 1
    assert found.get("c") is None
    with pytest.raises(Failure, match="lacks 'c'"):
        found["a"]["c"]


def test_pages_that_do_not_end_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Answer(status=200, headers={}, body=b'{"items": [], "next": "x"}')
    monkeypatch.setattr(Client, "get", lambda *_, **__: endless)
    with pytest.raises(Failure, match="do not end"):
        list(Client().items("/v1/drafters"))
