"""Targets over HTTP."""

from registry.documents import target as target_documents


def body(case, name, **changes):
    return {**case.target, "name": name, **changes}


def test_a_target_is_created_once_and_then_unchanged(client, case):
    sent = body(case, "made/once")
    first, again = client.post("/v1/targets", sent), client.post("/v1/targets", sent)
    assert (first.status, again.status) == (201, 200)
    assert first.json == again.json
    facts = {key: first.json[key] for key in ("target_class", "layers", "hidden_size", "vocab_size")}
    assert facts == {
        "target_class": "KimiK25ForConditionalGeneration", "layers": 61, "hidden_size": 64, "vocab_size": 512,
    }  # fmt: skip
    assert target_documents.parse({key: first.json[key] for key in sent}).config == case.target["config"]


def test_a_missing_digest_is_filled_in(client, case):
    bare = {key: value for key, value in body(case, "made/bare").items() if key != "digest"}
    assert client.post("/v1/targets", bare).status == 201
    assert client.post("/v1/targets", body(case, "made/bare")).status == 200
    assert client.get("/v1/targets/made/bare").json["digest"] == case.target["digest"]


def test_another_config_or_digest_is_a_conflict(client, case):
    client.post("/v1/targets", body(case, "made/taken"))
    config = {**case.target["config"], "model_type": "other"}
    found = client.post("/v1/targets", body(case, "made/taken", config=config)).problem(409, "conflict")
    assert found["difference"]
    client.post("/v1/targets", body(case, "made/taken", digest="sha256:" + "1" * 64)).problem(409, "conflict")


def test_a_revision_is_found_by_its_name_and_the_newest_without(client, case):
    for revision in ("r1", "r2"):
        client.post("/v1/targets", body(case, "made/revised", revision=revision))
    assert client.get("/v1/targets/made/revised?revision=r1").json["revision"] == "r1"
    assert client.get("/v1/targets/made/revised").json["revision"] == "r2"
    client.get("/v1/targets/made/revised?revision=r3").problem(404, "not-found")


def test_targets_are_listed_in_pages(client, case):
    for number in range(3):
        client.post("/v1/targets", body(case, f"made/listed-{number}"))
    names, after = [], ""
    while True:
        page = client.get(f"/v1/targets?limit=1{after}").json
        names += [item["name"] for item in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert names == sorted(names)
    assert {"made/listed-0", "made/listed-1", "made/listed-2"} <= set(names)


def test_what_is_not_there_is_404_and_what_cannot_be_a_name_is_a_problem(client):
    client.get("/v1/targets/nobody/knows").problem(404, "not-found")
    assert client.get("/v1/targets/%00").status in (404, 422)
    assert client.get("/v1/targets/a?revision=%00").media_type == "application/problem+json"


def test_a_config_that_is_missing_is_named(client):
    found = client.post("/v1/targets", {"schema": "roost.target/1", "name": "x"}).problem(422, "invalid-document")
    assert [error["pointer"] for error in found["errors"]] == ["/config"]
