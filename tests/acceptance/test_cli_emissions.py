"""`emit`, `verify` and `preflight`: repeatable, verified, and refused with a reason."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

NAME = "emitted-drafter"
ENGINE = "sglang==0.5.23"


@pytest.fixture(scope="module")
def registered(roost, target):
    roost("register", target.case.drafter, "--name", NAME, "--provenance", target.case.provenance, check=True)
    return NAME


@pytest.fixture(scope="module")
def emission(roost, registered, tmp_path_factory):
    out = tmp_path_factory.mktemp("emissions") / "first"
    done = roost("emit", NAME, "--engine", ENGINE, "--out", out, "--format", "json", check=True)
    return json.loads(done.stdout), out


def test_the_launch_line_holds_wherever_the_directory_is_taken(emission):
    document, out = emission
    words = shlex.split(document["launch_line"])
    assert words[:3] == ["python", "-m", "sglang.launch_server"]
    assert words[words.index("--speculative-draft-model-path") + 1] == "."
    assert str(out) not in document["launch_line"]
    assert "environment" not in document
    assert not (out / "launch.env").exists()


def test_emitting_again_fetches_nothing_and_changes_nothing(roost, emission):
    _, out = emission
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    roost("emit", NAME, "--engine", ENGINE, "--out", out, check=True)
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before


@pytest.mark.parametrize("content", ["another emission", "a foreign file"])
def test_a_directory_with_something_else_is_refused_and_left_alone(roost, registered, tmp_path, content):
    out = tmp_path / "out"
    if content == "another emission":
        roost("emit", NAME, "--engine", "vllm==0.33.0", "--out", out, check=True)
    else:
        out.mkdir()
        (out / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = roost("emit", NAME, "--engine", ENGINE, "--out", out)
    assert done.returncode == 1
    assert str(out) in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_an_interrupted_emission_is_finished_by_the_next(roost, environment, registry_service, registered, tmp_path):
    out = tmp_path / "out"
    command = ["emit", NAME, "--engine", ENGINE, "--out", str(out)]
    for delay in (0.08, 0.12, 0.16, 0.2, 0.24):
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "roost", *command],
            env={**environment, "ROOST_URL": registry_service.url},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as client:
            time.sleep(delay)
            os.kill(client.pid, signal.SIGKILL)
        if (out / "roost.lock.json").exists():
            assert roost("verify", out).returncode == 0
            shutil.rmtree(out)
    roost(*command, check=True)
    assert roost("verify", out).returncode == 0
    assert not (out / ".roost-partial").exists()


def test_verify_names_what_differs_with_both_digests_what_is_missing_and_what_is_extra(bare_roost, emission, tmp_path):
    document, out = emission
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    (copy / "config.json").write_text("{}")
    (copy / "launch.args").unlink()
    (copy / "more.txt").write_text("")
    done = bare_roost("verify", copy, "--format", "json")
    assert done.returncode == 1
    problems = {problem["file"]: problem for problem in json.loads(done.stdout)["problems"]}
    assert {name: problem["kind"] for name, problem in problems.items()} == {
        "config.json": "differs", "launch.args": "missing", "more.txt": "extra",
    }  # fmt: skip
    expected = next(file["sha256"] for file in document["files"] if file["name"] == "config.json")
    assert problems["config.json"]["expected"] == expected
    assert (
        problems["config.json"]["observed"] == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )
    told = bare_roost("verify", copy).stdout
    assert expected in told
    assert problems["config.json"]["observed"] in told


def test_verify_needs_no_registry_and_says_so_with_zero(bare_roost, emission):
    _, out = emission
    done = bare_roost("verify", out, env={"ROOST_URL": "http://127.0.0.1:9"})
    assert done.returncode == 0
    assert "intact" in done.stdout


@pytest.mark.parametrize(("content", "code"), [(None, 3), ("{}", 1), ("no json", 1)])
def test_a_lock_that_is_none_is_refused_and_one_that_is_not_there_could_not_be_read(
    bare_roost, tmp_path, content, code
):
    if content is not None:
        (tmp_path / "roost.lock.json").write_text(content)
    assert bare_roost("verify", tmp_path).returncode == code
    assert bare_roost("preflight", tmp_path, "--engine", ENGINE).returncode == code


def test_a_directory_that_is_not_there_could_not_be_verified(bare_roost, tmp_path):
    done = bare_roost("verify", tmp_path / "nowhere")
    assert done.returncode == 3
    assert "nowhere" in done.stderr


def test_preflight_judges_offline(bare_roost, emission):
    _, out = emission
    offline = {"ROOST_URL": "http://127.0.0.1:9"}
    assert bare_roost("preflight", out, "--engine", ENGINE, env=offline).returncode == 0
    other = bare_roost("preflight", out, "--engine", "sglang==0.5.12.post1", "--format", "json", env=offline)
    assert other.returncode == 1
    assert json.loads(other.stdout)["verdict"]["decision"] == "block"


def test_preflight_of_a_changed_file_judges_nothing(bare_roost, emission, tmp_path):
    _, out = emission
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    (copy / "config.json").write_text("{}")
    done = bare_roost("preflight", copy, "--engine", ENGINE, "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] is None


def test_a_refused_emission_tells_people_why_and_programs_too(roost, registered, tmp_path):
    arguments = ["emit", NAME, "--engine", "sglang==0.5.9", "--out", tmp_path / "out"]
    people = roost(*arguments)
    assert people.returncode == 1
    assert people.stdout.startswith("BLOCK")
    programs = roost(*arguments, "--format", "json")
    assert programs.returncode == 1
    assert json.loads(programs.stdout)["verdict"]["decision"] == "block"


def test_a_runner_that_is_not_the_default_is_picked_by_what_is_emitted(roost, bare_roost, registered, tmp_path):
    out = tmp_path / "out"
    arguments = ["emit", NAME, "--engine", "vllm==0.33.0", "--runner", "v1", "--out", out]
    document = json.loads(roost(*arguments, "--format", "json", check=True).stdout)
    assert document["runner"] == "v1"
    assert document["environment"] == {"VLLM_USE_V2_MODEL_RUNNER": "0"}
    assert document["launch_line"].startswith("VLLM_USE_V2_MODEL_RUNNER=0 vllm serve ")
    assert (out / "launch.env").read_text() == "VLLM_USE_V2_MODEL_RUNNER=0\n"
    assert "VLLM" not in (out / "launch.args").read_text()

    def runner(*launch: str) -> str:
        command = ["preflight", out, "--engine", "vllm==0.33.0", "--format", "json", *launch]
        return str(json.loads(bare_roost(*command).stdout)["verdict"]["runner"])

    # Without a line the lock's own launch is judged; a line stands for itself.
    assert runner() == "v1"
    assert runner("--launch", document["launch_line"]) == "v1"
    assert runner("--launch", "vllm serve org/Model") == "v2"
    assert runner("--launch", "vllm serve org/Model", "--runner", "v1") == "v1"
    told = roost(*arguments, check=True).stdout
    assert "VLLM_USE_V2_MODEL_RUNNER=0 vllm serve" in told
