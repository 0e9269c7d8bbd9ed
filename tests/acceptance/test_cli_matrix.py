"""`roost matrix` and `roost engines diff` through the real command: the founding case as ranges, and its upgrade."""

import json

import pytest

NAME = "matrix/kimi-k25-eagle3"
NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"


@pytest.fixture(scope="module")
def registered(roost, target):
    """The founding case under a name of this file."""
    roost("register", target.case.drafter, "--name", NAME, "--provenance", target.case.provenance, check=True)
    return NAME


@pytest.fixture
def write_config(target, tmp_path):
    def write(ids):
        config = json.loads((target.case.drafter / "config.json").read_text())
        config["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": ids, "use_aux_hidden_state": True}
        path = tmp_path / "proposed.json"
        path.write_text(json.dumps(config))
        return path

    return write


def rows(done, engine="sglang"):
    return {row["first"]: row for row in json.loads(done.stdout)["rows"] if row["engine"] == engine}


def test_the_founding_matrix_as_ranges(roost, registered):
    done = roost("matrix", registered, "--engine", "sglang", "--format", "json")
    assert done.returncode == 0
    found = rows(done)
    ranges = [(row["first"], row["last"], row["takes"]) for row in found.values() if not row["upstream"]]
    assert ranges == [
        ("0.5.9", "0.5.9", "engine"),
        ("0.5.10", "0.5.10.post1", "option"),
        ("0.5.11", "0.5.12.post1", "nothing"),
        ("0.5.13", "0.5.23", "ids"),
    ]
    assert (found["0.5.13"]["ids"], found["0.5.13"]["pointer"]) == ([3, 31, 59], NESTED)
    assert found["0.5.10"]["options"] == ["--disable-cuda-graph"]
    assert [found[first]["decision"] for first in ("0.5.9", "0.5.10", "0.5.11", "0.5.13")] == [
        "block", "block", "pass", "block",
    ]  # fmt: skip


def test_people_see_a_narrow_table(roost, registered):
    done = roost("matrix", registered)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    table = {line.split("  ")[0]: " ".join(line.split()) for line in lines if line.startswith(("sglang ", "vllm "))}
    assert "block engine -" in table["sglang 0.5.9"]
    assert table["sglang 0.5.10 to 0.5.10.post1"].endswith("block option nested 2,30,58 --disable-cuda-graph")
    assert table["sglang 0.5.11 to 0.5.12.post1"].endswith("pass as is nested 2,30,58")
    assert table["sglang 0.5.13 to 0.5.23"].endswith("block ids nested 3,31,59")
    assert any(line.startswith("sglang 0.5.9: ") and "set_eagle3_layers_to_capture" in line for line in lines)


def test_the_service_gives_the_same_bytes(roost, registered, registry_service):
    done = roost("matrix", registered, "--engine", "sglang", "--format", "json")
    body = {"schema": "roost.matrix-request/1", "checkpoint": registered, "engine": "sglang"}
    status, _, answer = registry_service.request("POST", "/v1/matrix", json.dumps(body).encode())
    assert (status, answer) == (200, done.stdout.strip().encode())


def test_a_proposed_config_has_a_matrix_of_its_own(roost, registered, write_config):
    found = rows(roost("matrix", registered, "--draft-config", write_config([3, 31, 59]), "--format", "json"))
    assert [(row["last"], row["takes"]) for row in found.values() if not row["upstream"]] == [
        ("0.5.9", "engine"), ("0.5.10.post1", "ids_and_option"), ("0.5.12.post1", "ids"), ("0.5.23", "nothing"),
    ]  # fmt: skip


def test_an_option_given_and_a_runner_asked_for_count(roost, registered):
    launched = rows(roost("matrix", registered, "--launch", "--disable-cuda-graph", "--format", "json"))
    assert launched["0.5.10"]["takes"] == "nothing"
    asked = rows(roost("matrix", registered, "--engine", "vllm", "--runner", "v2", "--format", "json"), "vllm")
    assert all(row["runner"] == "v2" for row in asked.values())


def test_what_cannot_be_answered_exits_with_3_and_what_makes_no_sense_with_2(roost, registered, tmp_path):
    unknown = roost("matrix", "nobody")
    assert unknown.returncode == 3
    assert "No drafter is called nobody" in unknown.stderr
    engine = roost("matrix", registered, "--engine", "nothing")
    assert engine.returncode == 3
    assert "sglang" in engine.stderr
    build = roost("matrix", registered, "--engine", "sglang==0.5.23")
    assert build.returncode == 2
    assert "roost check" in build.stderr
    missing = roost("matrix", registered, "--draft-config", tmp_path / "absent.json")
    assert missing.returncode == 3


def test_the_upgrade_that_changed_how_ids_count_is_said_in_words(roost, registered):
    done = roost("engines", "diff", "sglang==0.5.12.post1", "sglang==0.5.13")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "DeepseekV3ForCausalLM" in said
    assert "KimiK25ForConditionalGeneration" in said
    assert "before, id k is the output of layer k: depth k+1 (`plus_one`)" in said
    assert "now, ids are depths, unless the first id is 1: then depth k+1 (`first_is_one`)" in said
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("sglang==0.5.12.post1", "sglang==0.5.13", "other ids: sglang==0.5.13 needs ids [3,31,59]"),
        ("sglang==0.5.10", "sglang==0.5.10.post1", "nothing: every fact that matters for it is the same"),
        ("sglang==0.5.11", "sglang==0.5.10", "option: sglang==0.5.10 needs --disable-cuda-graph"),
        ("sglang==0.5.12.post1", "sglang==0.5.9", "stay: stay on sglang==0.5.12.post1"),
    ],
)
def test_what_a_change_asks_of_the_checkpoint(roost, registered, before, after, word):
    done = roost("engines", "diff", before, after, "--checkpoints")
    assert f"{registered}@1 {word}" in " ".join(done.stdout.split())


def test_builds_that_do_the_same_say_so(roost, registered):
    done = roost("engines", "diff", "sglang==0.5.10", "sglang==0.5.10.post1")
    assert "no fact differs" in done.stdout


def test_the_comparison_is_the_service_s_bytes(roost, registered, registry_service):
    done = roost("engines", "diff", "sglang==0.5.13", "sglang==0.5.14", "--format", "json")
    status, _, answer = registry_service.request("GET", "/v1/engine-diff?from=sglang==0.5.13&to=sglang==0.5.14")
    assert (status, answer) == (200, done.stdout.strip().encode())
    assert json.loads(answer)["checkpoints"] is None


def test_a_build_that_is_not_known_names_the_nearest(roost):
    done = roost("engines", "diff", "sglang==0.5.13", "sglang==0.5.20")
    assert done.returncode == 3
    assert "sglang==0.5.23" in done.stderr
