"""Registering and reading checkpoints over HTTP."""

import copy
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from fakes.founding import entries, sha256
from fakes.http_service import in_path

from registry.documents import checkpoint as checkpoint_documents


def test_a_registration_is_answered_with_a_checkpoint_document(service, fresh):
    answer = service.register(fresh, "Made/By-Hand")
    assert answer.status == 201, answer.body
    document = checkpoint_documents.parse(answer.body)
    assert document.ref == "Made/By-Hand@1"
    assert document.created is True
    assert [tap.depth for tap in document.trained_taps] == [3, 31, 59]
    assert {file.name: file.sha256 for file in document.files} == {
        name: sha256(data) for name, data in fresh.files.items()
    }


def test_the_same_again_is_200_and_changes_nothing(service, client, fresh):
    first = service.register(fresh, "twice")
    again = service.register(fresh, "twice")
    assert (first.status, again.status) == (201, 200)
    assert again.json["ref"] == "twice@1"
    assert again.json["created"] is False
    assert len(client.get("/v1/checkpoints?name=twice").json["items"]) == 1


def test_other_facts_are_a_conflict_that_shows_the_difference(service, client, fresh):
    service.register(fresh, "disputed")
    provenance = copy.deepcopy(fresh.provenance)
    provenance["training"]["steps"] = 7
    for path in ("/v1/checkpoints", "/v1/checkpoints?dry_run=true"):
        found = client.post(path, fresh.body("disputed", provenance=provenance)).problem(409, "conflict")
        assert found["difference"] == [{"pointer": "/training/steps", "registered": 21000, "given": 7}]
        assert "roost provenance amend" in found["hint"]


def test_a_dry_run_answers_what_would_be_and_stores_nothing(service, client, fresh):
    service.upload(*fresh.blobs)
    answer = client.post("/v1/checkpoints?dry_run=true", fresh.body("rehearsed"))
    assert answer.status == 200
    assert answer.json["ref"] == "rehearsed@1"
    client.get("/v1/checkpoints/rehearsed").problem(404, "not-found")


def test_a_missing_blob_is_named_by_its_place(client, fresh):
    unknown = fresh.with_file("tokenizer.json", b"never uploaded")
    found = client.post("/v1/checkpoints", unknown.body("missing-blob")).problem(422, "invalid-document")
    places = [error["pointer"] for error in found["errors"]]
    assert "/files/2" in places
    assert sha256(b"never uploaded") in found["detail"]


def test_an_unregistered_target_names_the_command(service, client, fresh):
    service.upload(*fresh.blobs)
    provenance = {**fresh.provenance, "target": {"name": "nobody/knows"}}
    found = client.post("/v1/checkpoints", fresh.body("homeless", provenance=provenance)).problem(422, "refused")
    assert "roost target add nobody/knows" in found["hint"]


def test_a_file_that_is_not_what_it_claims_is_refused_with_findings(service, client, fresh):
    broken = fresh.with_file("model.safetensors", b"\xff" * 8 + b"{}")
    found = service.register(broken, "broken").problem(422, "refused")
    assert "ART103" in {finding["code"] for finding in found["findings"]}
    client.get("/v1/checkpoints/broken").problem(404, "not-found")


def test_a_record_that_contradicts_the_files_is_refused_with_findings(service, fresh):
    provenance = copy.deepcopy(fresh.provenance)
    provenance["capture"]["layers"] = [3, 31, 59, 61]
    del provenance["capture"]["verifier_state"]
    found = service.register(fresh, "contradiction", provenance=provenance).problem(422, "refused")
    assert any("verifier_state" in finding["message"] for finding in found["findings"])


def test_a_body_with_many_faults_names_all_of_them(client, fresh):
    body = fresh.body("../x", files=[{"name": "../a", "size": -1, "sha256": "sha256:zz"}], extra=1)
    found = client.post("/v1/checkpoints", body).problem(422, "invalid-document")
    places = {error["pointer"] for error in found["errors"]}
    assert {"/name", "/files/0/name", "/files/0/size", "/files/0/sha256", "/extra"} <= places


def test_a_checkpoint_is_found_by_name_version_and_weights(service, client, fresh):
    made = service.register(fresh, "a/B/c.d_e-f").json
    for ref in ("a/B/c.d_e-f", "a/B/c.d_e-f@1", made["weights_digest"], "a%2FB%2Fc.d_e-f%401"):
        found = client.get(f"/v1/checkpoints/{ref}")
        assert found.status == 200, ref
        assert found.json["ref"] == "a/B/c.d_e-f@1"
    assert found.json["provenance"]["capture"]["source_digest"] == sha256(fresh.sources["dump.patch"])
    assert found.json["config"] == json.loads(fresh.files["config.json"])


def test_an_unchanged_checkpoint_is_not_sent_again(service, client, fresh):
    service.register(fresh, "tagged")
    first = client.get("/v1/checkpoints/tagged")
    tag = first.headers["ETag"]
    again = client.get("/v1/checkpoints/tagged", {"If-None-Match": f'"other", W/{tag}'})
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    provenance = {**fresh.provenance, "data": {"samples": 1}}
    client.post("/v1/provenance/tagged", {"provenance": provenance, "reason": "counted"})
    assert client.get("/v1/checkpoints/tagged", {"If-None-Match": tag}).status == 200


@pytest.mark.parametrize("ref", ["no-such", "no/such@1", "blake3:" + "0" * 64])
def test_what_is_not_there_is_404(client, ref):
    client.get(f"/v1/checkpoints/{ref}").problem(404, "not-found")


@pytest.mark.parametrize("ref", ["a@0", "a@x", "../a", "a//b", "blake3:zz", "%00", "%ff", "x" * 300])
def test_what_is_no_reference_is_422(client, ref):
    client.get(f"/v1/checkpoints/{ref}").problem(422, "invalid")


def test_pages_follow_each_other_without_gap_or_repeat(service, client, case):
    for salt in range(5):
        assert service.register(case.with_weights(50 + salt), "paged").status == 201
    seen, after = [], ""
    while True:
        page = client.get(f"/v1/checkpoints?name=paged&limit=2{after}").json
        seen += [item["version"] for item in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={in_path(page['next'])}"
    assert seen == [1, 2, 3, 4, 5]
    item = page["items"][0]
    assert item["ref"] == "paged@5"
    assert item["trained_depths"] == [3, 31, 59]
    assert item["target"] == case.target["name"]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=%21%21", "name=..", "dry_run=perhaps"])
def test_a_bad_parameter_is_a_problem(client, query):
    if query.startswith("dry_run"):
        client.post(f"/v1/checkpoints?{query}", {}).problem(422, "invalid-parameter")
    else:
        answer = client.get(f"/v1/checkpoints?{query}")
        answer.problem(422, "invalid" if query.startswith(("after", "name")) else "invalid-parameter")


def test_drafters_and_their_history(service, client, fresh):
    service.register(fresh, "storied")
    client.post("/v1/provenance/storied", {"provenance": {**fresh.provenance, "data": {}}, "reason": "none kept"})
    drafters = {row["name"]: row for row in client.get("/v1/drafters?limit=1000").json["items"]}
    assert drafters["storied"]["newest"] == "storied@1"
    assert drafters["storied"]["versions"] == 1
    events = client.get("/v1/events/storied").json["items"]
    assert [event["kind"] for event in events] == ["checkpoint.registered", "provenance.amended"]
    client.get("/v1/events/nobody").problem(404, "not-found")


def test_the_actor_is_kept(service, client, fresh):
    service.upload(*fresh.blobs)
    client.post("/v1/checkpoints", fresh.body("signed"), {"Roost-Actor": "ada"})
    assert client.get("/v1/events/signed").json["items"][0]["actor"] == "ada"
    service.register(fresh, "unsigned")
    assert client.get("/v1/events/unsigned").json["items"][0]["actor"] == "anonymous"


def test_the_same_weights_under_another_name_are_linked(service, client, fresh):
    service.register(fresh, "twin/one")
    answer = service.register(fresh, "twin/two", provenance={**fresh.provenance, "data": {"samples": 3}})
    assert answer.json["linked"] == ["twin/one@1"]
    assert not any("twin/one@1" in warning for warning in answer.json["warnings"])
    capture = {**fresh.provenance["capture"], "layers": [4, 31, 59]}
    other = service.register(fresh, "twin/three", provenance={**fresh.provenance, "capture": capture})
    assert other.json["linked"] == ["twin/one@1", "twin/two@1"]
    assert any("twin/one@1 has the same weights" in warning for warning in other.json["warnings"])


def test_64_parallel_registrations_give_64_consecutive_versions(service, client, case):
    cases = [case.with_weights(100 + number) for number in range(64)]
    service.upload(*case.sources.values(), case.files["config.json"])
    service.upload(*(one.files["model.safetensors"] for one in cases))
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(lambda one: client.post("/v1/checkpoints", one.body("crowd")), cases))
    assert {answer.status for answer in answers} == {201}
    assert sorted(answer.json["version"] for answer in answers) == list(range(1, 65))
    events = client.get("/v1/events/crowd").json["items"]
    assert [event["sequence"] for event in events] == list(range(1, 65))


def test_parallel_registrations_of_the_same_weights_are_one_version(service, client, fresh):
    service.upload(*fresh.blobs)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client.post("/v1/checkpoints", fresh.body("same")), range(16)))
    assert sorted(answer.status for answer in answers) == [200] * 15 + [201]
    assert {answer.json["version"] for answer in answers} == {1}


def test_sources_must_be_stored_too(client, service, fresh):
    service.upload(*fresh.files.values())
    body = fresh.body("sourceless", sources=entries({"dump.patch": b"kept at home"}))
    found = client.post("/v1/checkpoints", body).problem(422, "invalid-document")
    assert found["errors"][0]["pointer"] == "/sources/0"
