"""Records that cannot be right or become unknown, strangers with the same weights, and lines that draft nothing."""

import json

import pytest

BUILD = ("--engine", "sglang==0.5.12.post1")


@pytest.fixture(scope="module")
def own(roost, target, tmp_path_factory):
    """A drafter of its own weights, registered as `honest`."""
    case = target.write(tmp_path_factory.mktemp("own") / "case", draft_vocab=72)
    roost("register", case.drafter, "--name", "honest", "--provenance", case.provenance, check=True)
    return case


def written(case, folder, **capture):
    record = json.loads(case.provenance.read_text())
    record["capture"] |= capture
    record["capture"].pop("source", None)
    path = folder / "provenance.json"
    path.write_text(json.dumps(record))
    return path


def test_a_layer_that_the_target_does_not_have_is_refused_at_registration(roost, own, tmp_path):
    path = written(own, tmp_path, layers=[3, 31, 99])
    done = roost("register", own.drafter, "--name", "impossible", "--provenance", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "TAP109" in done.stderr
    assert "99 (depth 99)" in done.stderr
    assert "0 to 61" in done.stderr
    assert roost("show", "impossible").returncode == 3


def test_and_at_an_amendment(roost, own, tmp_path):
    path = written(own, tmp_path, counting="sglang==0.5.9+founding", layers=[2, 30, 61])
    done = roost("provenance", "amend", "honest@1", "--provenance", path, "--reason", "a guess")
    assert done.returncode == 1
    assert "TAP109" in done.stderr
    assert json.loads(roost("show", "honest", "--format", "json", check=True).stdout)["provenance_revision"] == 1


def test_an_amendment_that_makes_the_taps_unknown_says_so(roost, target, tmp_path):
    case = target.write(tmp_path / "case", draft_vocab=80)
    roost("register", case.drafter, "--name", "unsure", "--provenance", case.provenance, check=True)
    path = written(case, tmp_path, counting="sglang==9.9.9")
    arguments = ["provenance", "amend", "unsure@1", "--provenance", path, "--reason", "another build"]
    done = roost(*arguments, check=True)
    assert "taps unknown: the counting 'sglang==9.9.9' is not known here" in done.stdout
    assert "warning: the trained taps are unknown, so every check will block" in done.stderr
    answer = json.loads(roost(*arguments, "--format", "json", check=True).stdout)
    assert answer["trained_taps"] is None
    assert any("trained taps are unknown" in warning for warning in answer["warnings"])
    sound = ["provenance", "amend", "unsure@1", "--provenance", case.provenance, "--reason", "it was right"]
    assert "taps 3, 31, 59" in roost(*sound, check=True).stdout


def test_a_stranger_warns_only_where_the_record_contradicts_ours(roost, own, tmp_path):
    def findings():
        found = json.loads(roost("check", "honest", *BUILD, "--format", "json", check=True).stdout)["findings"]
        return [finding for finding in found if finding["code"] == "TRN101"]

    state = {"layer": 60, "norm": "none"}
    same = written(own, tmp_path, counting="after_layer", layers=[2, 30, 58], verifier_state=state)
    roost("register", own.drafter, "--name", "stranger/same", "--provenance", same, check=True)
    assert {finding["severity"] for finding in findings()} == {"info"}
    other = written(own, tmp_path, layers=[4, 31, 59])
    done = roost("register", own.drafter, "--name", "stranger/other", "--provenance", other, check=True)
    assert "warning: TRN101: honest@1 has the same weights as stranger/other" in done.stderr
    warned = next(finding for finding in findings() if finding["severity"] == "warning")
    assert "stranger/other@1 has the same weights as honest@1" in warned["message"]
    assert "trained on taps 4, 31, 59, not 3, 31, 59" in warned["message"]


@pytest.mark.parametrize(
    ("launch", "code", "exit_code"),
    [
        ("--speculative-algorithm EAGLE", "LCH101", 1),
        ("vllm serve x --enforce-eager", "LCH102", 1),
        ("python -m sglang.launch_server --model-path x", "LCH103", 0),
    ],
)
def test_a_line_that_does_not_use_the_drafter_is_told(roost, own, launch, code, exit_code):
    done = roost("check", "honest", *BUILD, "--launch", launch, "--format", "json")
    assert done.returncode == exit_code
    assert code in {finding["code"] for finding in json.loads(done.stdout)["findings"]}


def test_a_wrong_size_comes_with_its_right_value(roost, own, tmp_path):
    config = json.loads((own.drafter / "config.json").read_text()) | {"draft_vocab_size": 7}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    done = roost("check", "honest", *BUILD, "--draft-config", path, "--format", "json")
    found = {finding["code"]: finding for finding in json.loads(done.stdout)["findings"]}
    for code in ("VOC107", "WGT104"):
        operations = found[code]["suggested"]["draft_config"]
        assert operations == [{"op": "replace", "path": "/draft_vocab_size", "value": 72}]
