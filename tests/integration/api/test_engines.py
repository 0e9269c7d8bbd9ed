"""Engine profiles over HTTP: corrections, history, refusals, and several processes of one service."""

import copy
from collections.abc import Iterator

import pytest
from fakes import sample_documents
from fakes.service_process import Service, running

from registry.documents.engine_profile import digest_of

BUILD = "sglang==0.5.14"
KIMI = "KimiK25ForConditionalGeneration"


@pytest.fixture(scope="module")
def database(make_database, migrated_template):
    return make_database("engines", migrated_template)


@pytest.fixture(scope="module")
def own(database, tmp_path_factory, case) -> Iterator[Service]:
    """A service of its own: what is corrected here would change the verdicts of other tests."""
    with running(database.service_url, tmp_path_factory.mktemp("data")) as started:
        assert started.client.post("/v1/targets", case.target).status == 201
        assert started.register(case.with_weights(1), "engines/kimi").status == 201
        yield started


@pytest.fixture(scope="module")
def other(database, own, tmp_path_factory) -> Iterator[Service]:
    """A second process on the same database."""
    with running(database.service_url, own.data) as started:
        yield started


def fork(version, **changes):
    return {**copy.deepcopy(sample_documents.engine_profile_document()), "version": version, **changes}


def addition(profile, **members):
    return {"profile": profile, "reason": "read in the source again", **members}


def with_dialect(client, dialect):
    profile = client.get(f"/v1/engines/{BUILD}").json
    profile["targets"][KIMI]["dialect"] = dialect
    return addition(profile)


def check(service, build=BUILD):
    proposal = {"schema": "roost.proposal/1", "checkpoint": "engines/kimi", "engine": build}
    return service.client.post("/v1/check", proposal).json


def test_a_correction_changes_the_verdict_the_ranges_and_what_is_cited_in_every_process(own, other):
    before = check(own)
    assert check(other) == before
    assert before["decision"] == "block"
    assert before["profile"].startswith(f"{BUILD} rev 1 ")
    assert "0.5.13 to 0.5.23 with ids [3,31,59]" in before["headline"]
    proposal = {"schema": "roost.proposal/1", "checkpoint": "engines/kimi", "engine": BUILD}
    kept = own.client.post("/v1/verdicts", proposal).headers["Location"]

    made = own.client.post("/v1/engines", with_dialect(own.client, "plus_one"), {"Roost-Actor": "ada"})

    assert made.status == 201, made.body
    assert made.headers["Location"] == f"/v1/engines/{BUILD}"
    assert (made.json["revision"], made.json["origin"], made.json["actor"]) == (2, "added", "ada")
    assert made.json["changes"] == [
        {"pointer": f"/targets/{KIMI}/dialect", "before": "first_is_one", "after": "plus_one"}
    ]
    after = check(other)
    assert check(own) == after
    assert after["decision"] != "block"
    assert after["profile"].startswith(f"{BUILD} rev 2 ")
    assert "0.5.14 as is" in after["headline"]
    assert "0.5.13 with ids" in after["headline"]
    assert "0.5.23 with ids" in after["headline"]
    assert own.client.get(kept).headers["Roost-Stale"] == "true"
    assert own.client.get(f"/v1/engines/{BUILD}").json["revision"] == 2

    again = other.client.post("/v1/engines", with_dialect(own.client, "plus_one"))
    assert (again.status, again.json["revision"]) == (200, 2)
    assert again.json == made.json
    history = other.client.get(f"/v1/engine-revisions/{BUILD}").json
    assert history["build"] == BUILD
    assert [(one["revision"], one["origin"], one["in_force"]) for one in history["revisions"]] == [
        (1, "shipped", False),
        (2, "added", True),
    ]
    assert history["revisions"][1] == made.json

    back = own.client.post("/v1/engines", with_dialect(own.client, "first_is_one"))
    assert (back.status, back.json["revision"]) == (201, 3)
    restored = check(other)
    assert restored["profile"].startswith(f"{BUILD} rev 3 ")
    for part in ("decision", "headline", "effective_taps"):
        assert restored[part] == before[part]


def test_a_nodes_build_is_listed_and_judged_and_is_in_no_range(own, other):
    digest = "sha256:" + "ab" * 32
    build = "sglang==0.5.9+local.abababababab"
    sent = addition(fork(build.partition("==")[2]), origin="node", source_digest=digest)
    made = own.client.post("/v1/engines", sent)
    assert (made.status, made.json["source_digest"]) == (201, digest)
    rows = {f"{row['engine']}=={row['version']}": row for row in other.client.get("/v1/engines").json["items"]}
    assert (rows[build]["origin"], rows[build]["upstream"]) == ("node", "0.5.9")
    assert rows["sglang==0.5.9"]["origin"] == "shipped"
    escaped = build.replace("+", "%2B")
    assert made.headers["Location"] == f"/v1/engines/{escaped}"
    found = other.client.get(f"/v1/engines/{escaped}").json
    assert digest_of(found) == made.json["digest"]
    verdict = check(other, build)
    assert verdict["profile"].startswith(f"{build} rev 1 ")
    assert "local" not in verdict["headline"].partition("; ")[2]


def test_what_contradicts_itself_is_refused_with_every_fault_and_nothing_is_stored(own):
    profile = fork("0.5.9+broken", upstream="0.5.77")
    profile["targets"][KIMI]["probes"][0]["depths"] = [3, 31, 59]
    found = own.client.post("/v1/engines", addition(profile)).problem(422, "invalid-document")
    assert [error["pointer"] for error in found["errors"]] == [
        f"/profile/targets/{KIMI}/probes/0", "/profile/upstream",
    ]  # fmt: skip
    profile["targets"][KIMI]["dialect"] = "plus_two"
    found = own.client.post("/v1/engines", addition(profile)).problem(422, "invalid-document")
    assert [error["pointer"] for error in found["errors"]] == [f"/profile/targets/{KIMI}/dialect"]
    own.client.get("/v1/engines/sglang==0.5.9%2Bbroken").problem(404, "not-found")
    own.client.get("/v1/engine-revisions/sglang==0.5.9%2Bbroken").problem(404, "not-found")


def test_history_is_asked_for_by_build(own):
    own.client.get("/v1/engine-revisions/sglang").problem(422, "invalid")
    entries = own.client.get("/v1/engine-revisions/sglang==0.5.11").json["revisions"]
    assert [(one["revision"], one["origin"], one["in_force"], one["changes"]) for one in entries] == [
        (1, "shipped", True, [])
    ]
