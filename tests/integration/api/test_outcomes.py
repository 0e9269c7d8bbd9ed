"""Verdicts, emissions, engines and rules over HTTP."""

import hashlib
import json

import pytest
from fakes.founding import sha256
from fakes.http_service import in_path

from registry.documents import emission as emission_documents
from registry.documents import verdict as verdict_documents
from registry.documents.canonical import canonical_bytes

BUILD = "sglang==0.5.12.post1"


def proposal(name, engine=BUILD, **parts):
    return {"schema": "roost.proposal/1", "checkpoint": name, "engine": engine, **parts}


def request(name, engine=BUILD, **parts):
    return {"schema": "roost.emission-request/1", "checkpoint": name, "engine": engine, **parts}


@pytest.fixture(scope="module")
def founding_name(service, case):
    """The founding case, registered once for this file. No test stores a verdict about it."""
    assert service.register(case.with_weights(1), "outcomes/kimi").status == 201
    return "outcomes/kimi"


def test_a_check_answers_canonical_bytes_and_stores_nothing(client, founding_name):
    before = client.get(f"/v1/events/{founding_name}").json["items"]
    answer = client.post("/v1/check", proposal(founding_name))
    assert (answer.status, answer.media_type) == (200, "application/json")
    verdict = verdict_documents.parse(answer.body)
    assert verdict.decision != "block"
    assert answer.body == canonical_bytes(answer.json)
    assert client.get(f"/v1/events/{founding_name}").json["items"] == before


def test_a_block_is_a_verdict_and_no_error(client, founding_name):
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": [-1, 2, 30]},
    }
    answer = client.post("/v1/check", proposal(founding_name, draft_config=config))
    assert answer.status == 200
    assert answer.json["decision"] == "block"


def test_an_unlisted_build_is_a_verdict(client, founding_name):
    verdict = client.post("/v1/check", proposal(founding_name, "sglang==0.4.0")).json
    assert (verdict["decision"], verdict["remedy"], verdict["outcome"]) == ("block", "unknown", "unknown")


@pytest.mark.parametrize(
    ("changes", "status", "kind"),
    [
        ({"checkpoint": "nobody"}, 404, "not-found"),
        ({"target": "nobody/knows"}, 422, "refused"),
        ({"launch": "'open"}, 422, "invalid"),
        ({"engine": "sglang"}, 422, "invalid-document"),
        ({"runner": "v3"}, 422, "invalid-document"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/check", "/v1/verdicts"])
def test_a_proposal_that_cannot_be_judged_is_a_problem_with_its_place(
    client, founding_name, path, changes, status, kind
):
    found = client.post(path, {**proposal(founding_name), **changes}).problem(status, kind)
    (place,) = changes
    assert found["errors"][0]["pointer"] == f"/{place}"


def test_a_stored_verdict_stays_byte_for_byte_and_says_when_facts_changed(service, client, fresh):
    service.register(fresh, "outcomes/stale")
    made = client.post("/v1/verdicts", proposal("outcomes/stale"))
    assert made.status == 201
    assert made.headers["Location"] == "/v1/verdicts/sha256:" + hashlib.sha256(made.body).hexdigest()
    assert made.body == client.post("/v1/check", proposal("outcomes/stale@1")).body
    kept = client.get(made.headers["Location"])
    assert (kept.body, kept.headers["Roost-Stale"]) == (made.body, "false")
    provenance = {**fresh.provenance, "data": {"samples": 1}}
    client.post("/v1/provenance/outcomes/stale", {"provenance": provenance, "reason": "counted"})
    stale = client.get(made.headers["Location"])
    assert (stale.body, stale.headers["Roost-Stale"]) == (made.body, "true")


def test_an_emission_and_its_files(client, founding_name, case):
    made = client.post("/v1/emissions", request(founding_name))
    assert made.status == 201, made.body
    document = emission_documents.parse(made.body)
    assert client.get(made.headers["Location"]).json == made.json
    for file in document.files:
        answer = client.get(f"/v1/emissions/{document.id}/files/{in_path(file.name)}")
        assert (answer.status, sha256(answer.body), len(answer.body)) == (200, file.sha256, file.size)
    lock = json.loads(client.get(f"/v1/emissions/{document.id}/files/roost.lock.json").body)
    assert lock["checkpoint"] == f"{founding_name}@1"
    again = client.post("/v1/emissions", request(f"{founding_name}@1"))
    assert again.json == made.json


def test_an_emission_that_cannot_be_is_refused_with_its_verdict(client, founding_name):
    found = client.post("/v1/emissions", request(founding_name, "sglang==0.5.9")).problem(422, "refused")
    assert verdict_documents.parse(found["verdict"]).decision == "block"


def test_what_was_never_stored_is_404(client, founding_name):
    absent = sha256(b"never stored")
    client.get(f"/v1/verdicts/{absent}").problem(404, "not-found")
    client.get(f"/v1/emissions/{absent}").problem(404, "not-found")
    client.get(f"/v1/emissions/{absent}/files/config.json").problem(404, "not-found")
    made = client.post("/v1/emissions", request(founding_name))
    for name in ("nothing.json", "../config.json", "%2e%2e/config.json"):
        client.get(f"{made.headers['Location']}/files/{name}").problem(404, "not-found")
    client.get("/v1/verdicts/latest").problem(422, "invalid")
    client.get("/v1/emissions/latest").problem(422, "invalid")


def test_engines_are_listed_and_each_has_its_profile(client):
    rows = client.get("/v1/engines").json["items"]
    assert {"sglang==0.5.9+founding", BUILD} <= {f"{row['engine']}=={row['version']}" for row in rows}
    assert all(row["targets"] > 0 for row in rows)
    profile = client.get("/v1/engines/sglang==0.5.9%2Bfounding").json
    assert (profile["schema"], profile["version"]) == ("roost.engine-profile/1", "0.5.9+founding")
    client.get("/v1/engines/sglang==0.4.0").problem(404, "not-found")
    client.get("/v1/engines/sglang").problem(422, "invalid")


def test_rules_are_listed_and_each_has_its_manual(client):
    listed = client.get("/v1/rules").json
    assert "TAP101" in {rule["code"] for rule in listed["items"]}
    assert client.get("/v1/rules/TAP101").json["manual"].startswith("# TAP101")
    client.get("/v1/rules/XXX999").problem(404, "not-found")
