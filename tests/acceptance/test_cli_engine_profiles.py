"""Correcting and adding engine profiles through the real command, on a registry of its own."""

import hashlib
import json

import pytest

NAME = "kimi"
BUILD = "sglang==0.5.14"
KIMI = "KimiK25ForConditionalGeneration"


@pytest.fixture(scope="module")
def roost(own_roost):
    return own_roost


@pytest.fixture(scope="module")
def registered(roost, founding):
    case = founding.case
    identity = ["--revision", founding.target_revision, "--digests", case.digests, "--tokenizer", case.tokenizer]
    roost("target", "add", founding.target_name, "--config", case.target_config, *identity, check=True)
    roost("register", case.drafter, "--name", NAME, "--provenance", case.provenance, check=True)


def profile_of(roost, build):
    return json.loads(roost("engines", "show", build, "--format", "json", check=True).stdout)


def add(roost, tmp_path, profile, *more, reason="read in its source again"):
    path = tmp_path / "profile.json"
    path.write_text(profile if isinstance(profile, str) else json.dumps(profile))
    return roost("engines", "add", path, "--reason", reason, *more)


def check(roost, build=BUILD):
    done = roost("check", NAME, "--engine", build, "--format", "json")
    return done.returncode, json.loads(done.stdout)


def additions(roost):
    items = json.loads(roost("engines", "list", "--format", "json", check=True).stdout)["items"]
    return {f"{item['engine']}=={item['version']}": item["profile"] for item in items}


def test_a_corrected_profile_changes_the_verdict_which_cites_it(roost, registered, tmp_path):
    code, before = check(roost)
    assert (code, before["decision"]) == (1, "block")
    assert before["profile"].startswith(f"{BUILD} rev 1 ")
    assert "0.5.13 to 0.5.23 with ids [3,31,59]" in before["headline"]
    profile = profile_of(roost, BUILD)
    profile["targets"][KIMI]["dialect"] = "plus_one"

    done = add(roost, tmp_path, profile)

    assert done.returncode == 0, done.stderr
    assert f"added {BUILD}, revision 2 (added)" in done.stdout
    assert "tester: read in its source again" in done.stdout
    assert f'/targets/{KIMI}/dialect: "first_is_one" -> "plus_one"' in done.stdout
    code, after = check(roost)
    assert (code, after["decision"]) == (0, "pass")
    assert after["profile"].startswith(f"{BUILD} rev 2 ")
    assert "0.5.14 as is" in after["headline"]
    assert "0.5.13 with ids [3,31,59]" in after["headline"]
    assert "0.5.13 to 0.5.23" not in after["headline"]

    again = add(roost, tmp_path, profile, reason="once more")
    assert again.returncode == 0
    assert f"unchanged, these facts are known: {BUILD}, revision 2" in again.stdout
    shown = roost("engines", "show", BUILD, "--revisions", check=True).stdout
    assert shown.startswith("revision 1 (shipped, not in force)\n\nrevision 2 (added)  ")
    history = json.loads(roost("engines", "show", BUILD, "--revisions", "--format", "json", check=True).stdout)
    assert [(one["revision"], one["origin"]) for one in history["revisions"]] == [(1, "shipped"), (2, "added")]


def test_what_is_emitted_for_an_added_build_brings_its_profile_to_the_node(roost, registered, tmp_path):
    build = "sglang==0.5.23+mine"
    profile = {**profile_of(roost, "sglang==0.5.23"), "version": "0.5.23+mine", "upstream": "0.5.23"}
    profile["targets"][KIMI]["dialect"] = "plus_one"
    add(roost, tmp_path, profile).check_returncode()
    out = tmp_path / "out"
    roost("emit", NAME, "--engine", build, "--out", out, check=True)
    lock = json.loads((out / "roost.lock.json").read_text())
    assert lock["profile"].startswith(f"{build} rev 1 ")
    carried = (out / "roost.profile.json").read_bytes()
    assert f"sha256:{hashlib.sha256(carried).hexdigest()}" == lock["profile_digest"]
    config = json.loads((out / "config.json").read_text())
    assert config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] == [2, 30, 58]
    assert roost("verify", out).returncode == 0
    away = {"ROOST_URL": "http://127.0.0.1:1"}
    ahead = roost("preflight", out, "--engine", build, "--format", "json", env=away)
    assert ahead.returncode == 0, ahead.stdout + ahead.stderr
    (out / "roost.profile.json").write_bytes(carried.replace(b"plus_one", b"identity"))
    assert roost("preflight", out, "--engine", build, env=away).returncode == 1


def test_a_fork_is_listed_with_where_it_comes_from(roost, registered, tmp_path):
    profile = {**profile_of(roost, "sglang==0.5.12"), "version": "0.5.12+mine", "upstream": "0.5.12"}
    profile["patches"] = [{"name": "logging", "purpose": "debug", "summary": "prints norms"}]
    done = add(roost, tmp_path, profile, "--format", "json")
    assert json.loads(done.stdout)["revision"] == 1
    rows = [line.split() for line in roost("engines", "list", check=True).stdout.splitlines()]
    assert rows[0][:5] == ["ENGINE", "VERSION", "KIND", "ORIGIN", "TARGETS"]
    assert [row[2:6] for row in rows if row[1] == "0.5.12+mine"] == [["fork", "of", "0.5.12", "added"]]
    assert [row[2:4] for row in rows if row[1] == "0.5.12"] == [["release", "shipped"]]
    _, verdict = check(roost, "sglang==0.5.12+mine")
    assert verdict["profile"].startswith("sglang==0.5.12+mine rev 1 ")
    assert "+mine" not in verdict["headline"].partition("; ")[2]


def broken(profile, kind):
    facts = profile["targets"][KIMI]
    match kind:
        case "not json":
            return "{"
        case "a list":
            return []
        case "another document":
            return {"schema": "roost.proposal/1", "checkpoint": "a", "engine": "sglang==1"}
        case "unknown dialect":
            facts["dialect"] = "plus_two"
        case "no runners":
            profile["runners"] = []
        case "unknown key":
            facts["dialct"] = "plus_one"
        case "no such upstream":
            return {**profile, "version": "0.5.99+x", "upstream": "0.5.99"}
        case "unknown engine":
            profile["engine"] = "slang"
        case "against its probe table":
            facts["probes"] = [{"ids": [2, 30, 58], "layers": 61, "depths": [3, 31, 59]}]
    return profile


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("not json", "not JSON"),
        ("a list", "expected"),
        ("another document", "this is a document of kind proposal"),
        ("unknown dialect", f"/targets/{KIMI}/dialect"),
        ("no runners", "/runners"),
        ("unknown key", "did you mean 'dialect'?"),
        ("no such upstream", "no release of sglang is called 0.5.99"),
        ("unknown engine", "no engine is called slang"),
        ("against its probe table", "depths [3, 31, 59] in the table, depths [2, 30, 58] by the facts"),
    ],
)
def test_garbage_could_not_be_added_and_nothing_is_stored(roost, registered, tmp_path, kind, words):
    before = additions(roost)
    done = add(roost, tmp_path, broken(profile_of(roost, "sglang==0.5.13"), kind))
    assert (done.returncode, done.stdout) == (3, "")
    assert words in done.stderr
    assert additions(roost) == before


def test_a_file_that_is_not_there_could_not_be_read(roost, tmp_path):
    done = roost("engines", "add", tmp_path / "none.json", "--reason", "x")
    assert done.returncode == 3
    assert "none.json" in done.stderr


def test_a_reason_must_be_given(bare_roost, tmp_path):
    assert bare_roost("engines", "add", tmp_path / "none.json").returncode == 2
