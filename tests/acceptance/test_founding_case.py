"""The founding case, row by row, through the real command against the real service.

A drafter for a 61-layer Kimi-K2.5 was trained at depths 3, 31, 59. Its config said `[2, 30, 58]`, then `[-1, 2, 30]`,
then `[2, 30, 58]` again. Every row below is one build with one config: what it captures per phase, what it takes to
mend it, and what the verdict must say.
"""

import json
from dataclasses import dataclass

import pytest

TRAINED = [3, 31, 59]
DEFAULT = [2, 30, 58]


@dataclass(frozen=True, kw_only=True)
class Row:
    engine: str
    ids: tuple[int, ...]
    key: str = "nested"
    launch: str | None = None
    runner: str | None = None
    decision: str
    remedy: str
    prefill: list[int] | None
    decode: list[int] | None
    outcome: str
    codes: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    suggests: tuple[str, ...] = ()
    shown_runner: str | None = None

    def __str__(self):
        options = f" {self.launch}" if self.launch else ""
        return f"{self.engine}{options} {self.key} {list(self.ids)}"


ROWS = [
    Row(
        engine="sglang==0.5.9", ids=(2, 30, 58), decision="block", remedy="engine", prefill=None, decode=None,
        outcome="refuses", codes=("ENG102",),
        says=(
            "set_eagle3_layers_to_capture", "get_embed_and_head", "set_embed_and_head", "two",
            "0.5.10", "0.5.11",
        ),
    ),
    Row(
        engine="sglang==0.5.9+founding", ids=(-1, 2, 30), decision="block", remedy="config",
        prefill=[0, 3, 31], decode=DEFAULT, outcome="serves", codes=("TAP101", "TAP102"),
        says=("depth 0 is the embedding output", "never captured in training", "no retraining"),
        suggests=("/eagle_config/eagle_aux_hidden_state_layer_ids", "[2, 30, 58]", "--disable-cuda-graph"),
    ),
    Row(
        engine="sglang==0.5.9+founding", ids=(2, 30, 58), launch="--disable-cuda-graph", decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves", codes=("ENG104",), says=("dormant",),
    ),
    Row(
        engine="sglang==0.5.10.post1", ids=(2, 30, 58), decision="block", remedy="config",
        prefill=TRAINED, decode=DEFAULT, outcome="serves", codes=("ENG105",),
        says=("decode graphs", "default", "--disable-cuda-graph", "slower", "0.5.11 to 0.5.12.post1 as is"),
        suggests=("--disable-cuda-graph",),
    ),
    Row(
        engine="sglang==0.5.10.post1", ids=(2, 30, 58), launch="--disable-cuda-graph", decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves",
    ),
    Row(
        engine="sglang==0.5.11", ids=(2, 30, 58), decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves",
    ),
    Row(
        engine="sglang==0.5.12.post1", ids=(2, 30, 58), decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves",
    ),
    Row(
        engine="sglang==0.5.12.post1", ids=(2, 30, 58), key="top", decision="block", remedy="config",
        prefill=DEFAULT, decode=DEFAULT, outcome="defaults", codes=("TAP105", "TAP101"),
        says=("does not read", "without a word"), suggests=("/eagle_config",),
    ),
    Row(
        engine="sglang==0.5.12.post1", ids=(-1, 2, 30), decision="block", remedy="config",
        prefill=[0, 3, 31], decode=[0, 3, 31], outcome="refuses", codes=("TAP101", "TAP102"),
        says=("depth 0", "fails when it captures depth 0"), suggests=("[2, 30, 58]",),
    ),
    Row(
        engine="sglang==0.5.14", ids=(2, 30, 58), decision="block", remedy="config",
        prefill=DEFAULT, decode=DEFAULT, outcome="serves", codes=("TAP101",),
        says=("from 0.5.13", "read as depths unless the first is 1"), suggests=("[3, 31, 59]",),
    ),
    Row(
        engine="sglang==0.5.23", ids=(2, 30, 58), decision="block", remedy="config",
        prefill=DEFAULT, decode=DEFAULT, outcome="serves", codes=("TAP101",),
        says=("from 0.5.13", "read as depths unless the first is 1"), suggests=("[3, 31, 59]",),
    ),
    Row(
        engine="sglang==0.5.23", ids=(3, 31, 59), decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves",
    ),
    Row(
        engine="vllm==0.33.0", ids=(3, 31, 59), key="top", decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves", shown_runner="v2",
    ),
    Row(
        engine="vllm==0.33.0", ids=(3, 31, 59), decision="block", remedy="config",
        prefill=DEFAULT, decode=DEFAULT, outcome="defaults", shown_runner="v2", codes=("TAP105",),
        says=("ignored by this runner", "with V1 they are read as depths"),
        suggests=("/eagle_aux_hidden_state_layer_ids", "[3, 31, 59]"),
    ),
    Row(
        engine="vllm==0.33.0", ids=(3, 31, 59), runner="v1", decision="pass", remedy="none",
        prefill=TRAINED, decode=TRAINED, outcome="serves", shown_runner="v1",
    ),
    Row(
        engine="vllm==0.33.0", ids=(2, 30, 58), key="top", decision="block", remedy="config",
        prefill=DEFAULT, decode=DEFAULT, outcome="serves", shown_runner="v2", codes=("TAP101",),
        says=("vLLM counts depths", "SGLang before 0.5.13 counted layers"), suggests=("[3, 31, 59]",),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def registered(roost, founding, registry_service):
    """The founding case, registered by the command."""
    case = founding.case
    identity = ["--revision", founding.target_revision, "--digests", case.digests, "--tokenizer", case.tokenizer]
    roost("target", "add", founding.target_name, "--config", case.target_config, *identity, check=True)
    record = ["--name", "kimi-k25-eagle3", "--provenance", case.provenance]
    done = roost("register", case.drafter, *record, "--format", "json", check=True)
    return json.loads(done.stdout)


def draft_config(founding, row):
    config = json.loads((founding.case.drafter / "config.json").read_text())
    config.pop("eagle_config", None)
    if row.key == "nested":
        config["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": list(row.ids), "use_aux_hidden_state": True}
    else:
        config["eagle_aux_hidden_state_layer_ids"] = list(row.ids)
    return config


def check(roost, founding, tmp_path, row, *more):
    proposed = tmp_path / "proposed.json"
    proposed.write_text(json.dumps(draft_config(founding, row)))
    arguments = ["check", "kimi-k25-eagle3", "--engine", row.engine, "--draft-config", proposed]
    if row.launch:
        arguments += ["--launch", row.launch]
    if row.runner:
        arguments += ["--runner", row.runner]
    return roost(*arguments, *more)


def depths(verdict, phase):
    effective = verdict["effective_taps"]
    return None if effective is None else [tap["depth"] for tap in effective[phase]]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_row(roost, founding, registered, tmp_path, row):
    done = check(roost, founding, tmp_path, row, "--format", "json")
    verdict = json.loads(done.stdout)
    assert (verdict["decision"], verdict["remedy"]) == (row.decision, row.remedy), verdict
    assert done.returncode == (1 if row.decision == "block" else 0)
    assert depths(verdict, "prefill") == row.prefill
    assert depths(verdict, "decode") == row.decode
    assert [tap["depth"] for tap in verdict["trained_taps"]] == TRAINED
    assert verdict["outcome"] == row.outcome
    assert verdict["runner"] == row.shown_runner
    assert set(row.codes) <= {finding["code"] for finding in verdict["findings"]}
    said = verdict["headline"] + " " + " ".join(finding["message"] for finding in verdict["findings"])
    for words in row.says:
        assert words in said
    suggested = json.dumps([finding["suggested"] for finding in verdict["findings"] if finding["suggested"]])
    for words in row.suggests:
        assert words in suggested


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_is_suggested_passes(roost, founding, registered, tmp_path, row):
    """Every suggested edit, applied by hand, no longer blocks."""
    verdict = json.loads(check(roost, founding, tmp_path, row, "--format", "json").stdout)
    edits = {json.dumps(f["suggested"], sort_keys=True) for f in verdict["findings"] if f["suggested"]}
    assert bool(edits) == (row.remedy == "config")
    for text in edits:
        edit = json.loads(text)
        config = draft_config(founding, row)
        for operation in edit["draft_config"]:
            place, *keys = config, *operation["path"].split("/")[1:]
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = operation["value"]
        edited = tmp_path / "edited.json"
        edited.write_text(json.dumps(config))
        launch = " ".join([*([row.launch] if row.launch else []), *edit["launch"]])
        arguments = ["--launch", launch] if launch else []
        done = roost("check", "kimi-k25-eagle3", "--engine", row.engine, "--draft-config", edited, *arguments,
                     "--format", "json")  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_the_service_gives_the_same_bytes(roost, founding, registered, registry_service, tmp_path):
    row = ROWS[1]
    done = check(roost, founding, tmp_path, row, "--format", "json")
    body = {
        "schema": "roost.proposal/1",
        "checkpoint": "kimi-k25-eagle3",
        "engine": row.engine,
        "draft_config": draft_config(founding, row),
    }
    status, _, answer = registry_service.request("POST", "/v1/check", json.dumps(body).encode())
    assert status == 200
    assert answer == done.stdout.strip().encode()


PASSABLE = [
    "sglang==0.5.9+founding", "sglang==0.5.10", "sglang==0.5.10.post1", "sglang==0.5.11", "sglang==0.5.12",
    "sglang==0.5.12.post1", "sglang==0.5.13", "sglang==0.5.14", "sglang==0.5.23",
    "vllm==0.18.0", "vllm==0.28.0", "vllm==0.33.0",
]  # fmt: skip


@pytest.mark.parametrize("engine", PASSABLE)
def test_what_is_emitted_reads_back_as_trained(roost, registered, tmp_path, engine):
    out = tmp_path / "out"
    done = roost("emit", "kimi-k25-eagle3", "--engine", engine, "--out", out, "--format", "json")
    assert done.returncode == 0, done.stderr
    lock = json.loads((out / "roost.lock.json").read_text())
    for phase in ("prefill", "decode"):
        assert [tap["depth"] for tap in lock["effective_taps"][phase]] == TRAINED
    needs_option = engine in ("sglang==0.5.9+founding", "sglang==0.5.10", "sglang==0.5.10.post1")
    assert ("--disable-cuda-graph" in lock["launch"]) == needs_option
    assert roost("verify", out).returncode == 0
    ahead = roost("preflight", out, "--engine", engine, "--format", "json")
    assert ahead.returncode == 0, ahead.stderr
    # The emitted config, proposed as it stands, is judged as it was emitted.
    options = ["--launch", "--disable-cuda-graph"] if needs_option else []
    again = roost("check", "kimi-k25-eagle3", "--engine", engine, "--draft-config", out / "config.json", *options)
    assert again.returncode == 0, again.stdout


def test_nothing_is_emitted_for_the_build_without_the_methods(roost, registered, tmp_path):
    done = roost("emit", "kimi-k25-eagle3", "--engine", "sglang==0.5.9", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "set_eagle3_layers_to_capture" in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()


def test_another_build_than_the_emitted_one_is_blocked_before_launch(roost, registered, tmp_path):
    out = tmp_path / "out"
    roost("emit", "kimi-k25-eagle3", "--engine", "sglang==0.5.12.post1", "--out", out, check=True)
    done = roost("preflight", out, "--engine", "sglang==0.5.23", "--format", "json")
    assert done.returncode == 1


def test_registration_that_forgets_the_verifier_is_refused_with_both_explanations(
    roost, founding, registered, tmp_path
):
    document = json.loads(founding.case.provenance.read_text())
    document["capture"]["layers"] = [3, 31, 59, 61]
    del document["capture"]["verifier_state"]
    (tmp_path / "dump.patch").write_bytes(founding.case.dump_patch.read_bytes())
    path = tmp_path / "provenance.json"
    path.write_text(json.dumps(document))
    done = roost("register", founding.case.drafter, "--name", "forgetful", "--provenance", path)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert "v1" in said
    assert "verifier_state" in said
    assert "four taps" in said
    assert roost("show", "forgetful").returncode != 0


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_headline_is_a_range(roost, founding, registered, tmp_path, row):
    verdict = json.loads(check(roost, founding, tmp_path, row, "--format", "json").stdout)
    if row.engine.startswith("sglang"):
        assert "0.5.13 to 0.5.23" in verdict["headline"]
        assert "ahead: tensor naming `midlayer.*` is a legacy name since 0.5.12" in verdict["headline"]
    else:
        assert "works unmodified on vllm 0." in verdict["headline"]
        assert "not on 0.11.2" in verdict["headline"]


def test_an_unlisted_build_is_a_verdict(roost, registered):
    done = roost("check", "kimi-k25-eagle3", "--engine", "sglang==0.5.20", "--format", "json")
    verdict = json.loads(done.stdout)
    assert done.returncode == 1
    assert (verdict["decision"], verdict["remedy"], verdict["outcome"]) == ("block", "unknown", "unknown")
    assert verdict["effective_taps"] is None
    said = " ".join(finding["message"] for finding in verdict["findings"])
    assert "0.5.14" in said
    assert "0.5.23" in said


LINES = [
    ("sglang==0.5.10.post1", "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --disable-cuda-graph"),
    (
        "sglang==0.5.10.post1",
        "sglang serve --tp 8 --speculative-algorithm EAGLE3 --speculative-draft-model-path draft --disable-cuda-graph",
    ),
    ("sglang==0.5.11", "--tp 8 --mem-fraction-static 0.85"),
]


@pytest.mark.parametrize(("engine", "launch"), LINES)
def test_whole_lines_and_bare_options_pass_alike(roost, founding, registered, tmp_path, engine, launch):
    row = Row(
        engine=engine, ids=(2, 30, 58), launch=launch, decision="pass", remedy="none", prefill=TRAINED, decode=TRAINED,
        outcome="serves",
    )  # fmt: skip
    verdict = json.loads(check(roost, founding, tmp_path, row, "--format", "json").stdout)
    assert (verdict["decision"], verdict["remedy"]) == ("pass", "none")
    assert any(part.startswith("launch --") for part in verdict["not_judged"]) == (
        "--tp" in launch or "--model" in launch
    )
