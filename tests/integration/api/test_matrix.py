"""Matrices and comparisons of builds over HTTP."""

from urllib.parse import quote

import pytest

from registry.documents import engine_diff, matrix
from registry.documents.canonical import canonical_bytes


def request(name, **parts):
    return {"schema": "roost.matrix-request/1", "checkpoint": name, **parts}


def path(before, after, *more):
    return "&".join([f"/v1/engine-diff?from={quote(before)}&to={quote(after)}", *more])


@pytest.fixture(scope="module")
def name(service, case):
    assert service.register(case.with_weights(77), "matrix/kimi").status == 201
    return "matrix/kimi"


def test_a_matrix_is_canonical_bytes_and_stores_nothing(client, name):
    before = client.get(f"/v1/events/{name}").json["items"]
    answer = client.post("/v1/matrix", request(name))
    assert (answer.status, answer.media_type) == (200, "application/json")
    parsed = matrix.parse(answer.body)
    assert parsed.checkpoint == f"{name}@1"
    assert {row.engine for row in parsed.rows} == {"sglang", "vllm"}
    assert answer.body == canonical_bytes(answer.json)
    assert answer.body == client.post("/v1/matrix", request(f"{name}@1")).body
    assert client.get(f"/v1/events/{name}").json["items"] == before


def test_a_matrix_agrees_with_the_verdict_of_each_end_of_its_rows(client, name):
    for row in client.post("/v1/matrix", request(name)).json["rows"]:
        for version in {row["first"], row["last"]}:
            proposal = {
                "schema": "roost.proposal/1",
                "checkpoint": name,
                "engine": f"{row['engine']}=={version}",
            }
            verdict = client.post("/v1/check", proposal).json
            assert (verdict["decision"], verdict["remedy"]) == (row["decision"], row["remedy"]), row


@pytest.mark.parametrize(
    ("changes", "status", "kind"),
    [
        ({"checkpoint": "nobody"}, 404, "not-found"),
        ({"engine": "nothing"}, 404, "not-found"),
        ({"target": "nobody/knows"}, 422, "refused"),
        ({"launch": "'open"}, 422, "invalid"),
        ({"engine": "sglang==0.5.23"}, 422, "invalid-document"),
        ({"runner": "v3"}, 422, "invalid-document"),
    ],
)
def test_a_request_that_cannot_be_answered_is_a_problem_with_its_place(client, name, changes, status, kind):
    found = client.post("/v1/matrix", {**request(name), **changes}).problem(status, kind)
    (place,) = changes
    assert found["errors"][0]["pointer"] == f"/{place}"


def test_a_comparison_is_canonical_bytes(client):
    answer = client.get(path("sglang==0.5.12.post1", "sglang==0.5.13"))
    assert answer.status == 200
    parsed = engine_diff.parse(answer.body)
    assert (parsed.before, parsed.after, parsed.checkpoints) == ("sglang==0.5.12.post1", "sglang==0.5.13", None)
    assert any("KimiK25ForConditionalGeneration" in change.classes for change in parsed.changes)
    assert answer.body == canonical_bytes(answer.json)


def test_a_fork_is_named_with_its_plus_escaped(client):
    fork = next(row for row in client.get("/v1/engines").json["items"] if row["upstream"])
    build = f"{fork['engine']}=={fork['version']}"
    answer = client.get(path(build, f"{fork['engine']}=={fork['upstream']}"))
    assert answer.json["from"]["build"] == build


def test_checkpoints_come_a_page_at_a_time(client, name):
    seen, after = [], []
    while True:
        asked = path("sglang==0.5.12.post1", "sglang==0.5.13", "checkpoints=true", "limit=1", *after)
        page = client.get(asked).json["checkpoints"]
        seen += page["items"]
        if page["next"] is None:
            break
        after = [f"after={quote(page['next'])}"]
    mine = next(effect for effect in seen if effect["checkpoint"] == f"{name}@1")
    assert (mine["effect"], mine["ids"]) == ("ids", [3, 31, 59])
    assert len({effect["checkpoint"] for effect in seen}) == len(seen)


def test_what_cannot_be_compared_is_a_problem(client):
    client.get(path("sglang==0.4.0", "sglang==0.5.13")).problem(404, "not-found")
    client.get(path("sglang", "sglang==0.5.13")).problem(422, "invalid")
    client.get("/v1/engine-diff?from=sglang%3D%3D0.5.13").problem(422, "invalid-parameter")
    client.get(path("sglang==0.5.13", "sglang==0.5.14", "checkpoints=perhaps")).problem(422, "invalid-parameter")
