"""Provenance revisions over HTTP."""

import copy


def test_revisions_are_appended_and_read_back(service, client, fresh):
    service.register(fresh, "corrected")
    provenance = copy.deepcopy(fresh.provenance)
    provenance["training"]["steps"] = 5
    sent = {"provenance": provenance, "reason": "read the log", "expected_revision": 1}
    made = client.post("/v1/provenance/corrected@1", sent, {"Roost-Actor": "grace"})
    assert made.status == 201
    assert (made.json["ref"], made.json["revision"], made.json["actor"]) == ("corrected@1", 2, "grace")
    read = client.get("/v1/provenance/corrected").json
    assert read["ref"] == "corrected@1"
    assert [revision["document"]["training"]["steps"] for revision in read["revisions"]] == [21000, 5]
    assert read["revisions"][1]["reason"] == "read the log"
    assert client.get("/v1/checkpoints/corrected").json["provenance_revision"] == 2


def test_the_same_facts_again_are_200(service, client, fresh):
    service.register(fresh, "steady")
    answer = client.post("/v1/provenance/steady", {"provenance": fresh.provenance, "reason": "again"})
    assert (answer.status, answer.json["revision"]) == (200, 1)


def test_an_old_expected_revision_is_a_conflict(service, client, fresh):
    service.register(fresh, "raced")
    provenance = {**fresh.provenance, "data": {"samples": 1}}
    assert client.post("/v1/provenance/raced", {"provenance": provenance, "reason": "one"}).status == 201
    sent = {"provenance": {**provenance, "data": {"samples": 2}}, "reason": "two", "expected_revision": 1}
    client.post("/v1/provenance/raced", sent).problem(409, "conflict")


def test_a_correction_that_contradicts_the_files_is_refused_with_findings(service, client, fresh):
    service.register(fresh, "wrong")
    provenance = copy.deepcopy(fresh.provenance)
    provenance["capture"]["layers"] = [3, 31]
    found = client.post("/v1/provenance/wrong", {"provenance": provenance, "reason": "x"}).problem(422, "refused")
    assert found["findings"]


def test_faults_of_the_body_and_unknown_checkpoints_are_problems(client, fresh):
    client.post("/v1/provenance/nobody", {"provenance": fresh.provenance, "reason": "x"}).problem(404, "not-found")
    found = client.post("/v1/provenance/nobody", {"reason": ""}).problem(422, "invalid-document")
    assert {error["pointer"] for error in found["errors"]} >= {"/provenance"}
    client.get("/v1/provenance/nobody").problem(404, "not-found")


def test_an_answer_to_an_amendment_tells_the_taps_and_what_makes_them_unknown(service, client, fresh):
    service.register(fresh, "unsure")
    sent = {"provenance": fresh.provenance, "reason": "again"}
    answer = client.post("/v1/provenance/unsure", sent).json
    assert [tap["depth"] for tap in answer["trained_taps"]] == [3, 31, 59]
    assert "why_unknown" not in answer
    sent["provenance"] = {**fresh.provenance, "capture": {**fresh.provenance["capture"], "counting": "sglang==9.9.9"}}
    answer = client.post("/v1/provenance/unsure", sent).json
    assert (answer["revision"], answer["trained_taps"]) == (2, None)
    assert "'sglang==9.9.9' is not known here" in answer["why_unknown"]
    assert any("trained taps are unknown" in warning for warning in answer["warnings"])
    assert client.get("/v1/checkpoints/unsure").json["trained_taps"] is None
