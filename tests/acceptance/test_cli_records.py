"""Registering, showing and amending through the real command, and what it refuses."""

import contextlib
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

NAME = "Team/Kimi_K2.5-eagle3"


@pytest.fixture(scope="module")
def registered(roost, target):
    done = roost(
        "register",
        target.case.drafter,
        "--name",
        NAME,
        "--provenance",
        target.case.provenance,
        "--format",
        "json",
        check=True,
    )
    return json.loads(done.stdout)


def register(roost, directory: Path, provenance: Path, *, name: str):
    return roost("register", directory, "--name", name, "--provenance", provenance)


def own_copy(target, tmp_path: Path, **options):
    return target.write(tmp_path / "own", **options)


def test_the_answer_to_a_registration_is_the_checkpoint(registered):
    assert (registered["schema"], registered["ref"], registered["name"]) == ("roost.checkpoint/1", f"{NAME}@1", NAME)
    assert registered["version"] == 1
    assert registered["weights_digest"].startswith("blake3:")
    assert [file["name"] for file in registered["files"]] == ["config.json", "model.safetensors"]


def test_people_get_the_reference_and_every_digest(roost, registered, target):
    done = register(roost, target.case.drafter, target.case.provenance, name=NAME)
    assert f"{NAME}@1" in done.stdout
    assert registered["weights_digest"] in done.stdout
    for file in registered["files"]:
        assert file["sha256"] in done.stdout


def test_the_same_again_is_the_same_version(roost, registered, target):
    done = roost(
        "register",
        target.case.drafter,
        "--name",
        NAME,
        "--provenance",
        target.case.provenance,
        "--format",
        "json",
        check=True,
    )
    assert json.loads(done.stdout)["ref"] == registered["ref"]


def test_other_facts_for_the_same_weights_are_a_conflict_that_shows_the_difference(roost, registered, target, tmp_path):
    case = own_copy(target, tmp_path)
    record = json.loads(case.provenance.read_text())
    record["capture"]["layers"] = [2, 30, 58]
    case.provenance.write_text(json.dumps(record))
    done = register(roost, case.drafter, case.provenance, name=NAME)
    assert done.returncode == 1
    assert "/capture/layers: registered [3, 31, 59], given [2, 30, 58]" in done.stderr
    assert "roost provenance amend" in done.stderr


def test_an_amendment_is_a_new_revision_and_the_old_one_stays(roost, target, tmp_path):
    case = own_copy(target, tmp_path, draft_vocab=64)
    register(roost, case.drafter, case.provenance, name="amended").check_returncode()
    record = json.loads(case.provenance.read_text())
    record["training"]["steps"] = 22000
    case.provenance.write_text(json.dumps(record))
    arguments = ["provenance", "amend", "amended@1", "--provenance", case.provenance, "--reason", "steps were wrong"]
    assert "provenance revision 2" in roost(*arguments, check=True).stdout
    assert "unchanged" in roost(*arguments, check=True).stdout
    history = json.loads(roost("provenance", "show", "amended", "--format", "json", check=True).stdout)
    assert [revision["document"]["training"]["steps"] for revision in history["revisions"]] == [21000, 22000]
    assert history["revisions"][1]["actor"] == "tester"
    assert history["revisions"][1]["reason"] == "steps were wrong"


def test_show_draws_the_ladder(roost, registered):
    text = roost("show", NAME, check=True).stdout
    rows = {line.split()[0]: line for line in text.splitlines() if "──" in line}
    assert {number for number, line in rows.items() if "tap" in line} == {"3", "31", "59"}
    assert "verifier's state" in rows["61"]
    assert "embedding output" in text


def test_lists_hold_what_was_registered(roost, registered):
    drafters = json.loads(roost("list", "--format", "json", check=True).stdout)["items"]
    assert NAME in [drafter["name"] for drafter in drafters]
    versions = json.loads(roost("list", NAME, "--format", "json", check=True).stdout)["items"]
    assert [(version["ref"], version["trained_depths"]) for version in versions] == [(f"{NAME}@1", [3, 31, 59])]


@pytest.mark.parametrize("arguments", [["show", "nobody"], ["list", "nobody"], ["check", "nobody", "--engine", "a==1"]])
def test_a_name_that_is_not_there_could_not_be_run(roost, registry_service, arguments):
    done = roost(*arguments)
    assert (done.returncode, done.stdout) == (3, "")
    assert "nobody" in done.stderr


@pytest.mark.parametrize("format_", ["human", "json", "quiet"])
def test_a_version_that_is_not_there_names_the_newest(roost, registered, format_):
    done = roost("show", f"{NAME}@7", "--format", format_)
    assert done.returncode == 3
    assert f"{NAME}@1" in done.stderr


@pytest.mark.parametrize("engine", ["sglang", "==0.5.9", "sglang=="])
@pytest.mark.parametrize("command", [["check", NAME], ["emit", NAME, "--out", "out"], ["preflight", "."]], ids=str)
def test_what_is_no_build_at_all_is_a_usage_error(bare_roost, command, engine):
    done = bare_roost(*command, "--engine", engine)
    assert done.returncode == 2
    assert f"{engine!r} is not an engine build" in done.stderr


def test_quiet_says_nothing_but_how_it_ended(roost, registered):
    done = roost("check", NAME, "--engine", "sglang==0.5.23", "--format", "quiet")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_nothing_is_colored_off_a_terminal(roost, registered):
    assert "\x1b" not in roost("check", NAME, "--engine", "sglang==0.5.23").stdout


def test_the_verdict_for_people_says_all_of_it(roost, registered):
    text = roost("check", NAME, "--engine", "sglang==0.5.23").stdout
    assert text.startswith(f"BLOCK  {NAME} on sglang==0.5.23")
    for words in ("remedy    config", "taps 3, 31, 59", "taps 2, 30, 58", "TAP101", "fix       set", "[3, 31, 59]"):
        assert words in text


def test_a_target_that_is_not_registered_is_refused_before_anything_is_sent(roost, target, tmp_path):
    case = own_copy(target, tmp_path)
    record = json.loads(case.provenance.read_text())
    record["target"] = {"name": "nobody/Model"}
    case.provenance.write_text(json.dumps(record))
    done = register(roost, case.drafter, case.provenance, name="targetless")
    assert done.returncode == 1
    assert "roost target add nobody/Model" in done.stderr


def test_another_config_for_the_same_target_is_a_conflict(roost, target, tmp_path):
    config = json.loads(target.case.target_config.read_text())
    config["text_config"]["num_hidden_layers"] = 60
    (tmp_path / "config.json").write_text(json.dumps(config))
    done = roost(
        "target", "add", target.target_name, "--config", tmp_path / "config.json", "--revision", target.target_revision
    )
    assert done.returncode == 1
    assert "num_hidden_layers" in done.stderr


def test_a_provenance_file_with_several_faults_names_all_of_them(roost, target, tmp_path):
    case = own_copy(target, tmp_path)
    record = json.loads(case.provenance.read_text())
    record["capture"]["layrs"] = record["capture"].pop("layers")
    record["training"]["steps"] = "many"
    case.provenance.write_text(json.dumps(record))
    done = register(roost, case.drafter, case.provenance, name="faulty")
    assert done.returncode == 1
    assert "layers" in done.stderr
    assert "/training/steps" in done.stderr


@pytest.mark.parametrize("kind", ["absent", "link", "outside"])
def test_only_a_plain_file_beside_the_record_is_ever_sent_as_source(roost, target, tmp_path, kind):
    case = own_copy(target, tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    case.dump_patch.unlink()
    if kind == "link":
        case.dump_patch.symlink_to(secret)
    if kind == "outside":
        record = json.loads(case.provenance.read_text())
        record["capture"]["source"] = "../secret"
        case.provenance.write_text(json.dumps(record))
    done = register(roost, case.drafter, case.provenance, name="leaky")
    assert done.returncode == 1
    assert "source" in done.stderr


def lfs_pointer(path: Path) -> None:
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def header_of_2_64(path: Path) -> None:
    path.write_bytes(struct.pack("<Q", 2**64 - 1) + b"{}")


def pickle_under_another_name(path: Path) -> None:
    path.write_bytes(b"\x80\x04K\x01.")


def link_out(path: Path) -> None:
    other = path.parent.parent / "elsewhere.safetensors"
    path.rename(other)
    path.symlink_to(other)


def overlapping(path: Path) -> None:
    header = json.dumps({
        "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
        "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]},
    }).encode()  # fmt: skip
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 6)


def index_that_escapes(path: Path) -> None:
    (path.parent / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../x.safetensors"}}))
    path.unlink()


def config_that_is_no_json(path: Path) -> None:
    path.with_name("config.json").write_text("{")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lfs_pointer, "ART101"),
        (truncated, "ART102"),
        (header_of_2_64, "ART103"),
        (overlapping, "ART105"),
        (index_that_escapes, "ART110"),
        (link_out, "ART111"),
        (pickle_under_another_name, "ART112"),
        (config_that_is_no_json, "ART113"),
    ],
)
def test_a_file_that_is_not_what_it_claims_is_refused_and_nothing_is_stored(roost, target, tmp_path, spoil, code):
    case = own_copy(target, tmp_path)
    spoil(case.drafter / "model.safetensors")
    done = register(roost, case.drafter, case.provenance, name=f"bad-{code}")
    assert done.returncode == 1
    assert code in done.stderr
    told = json.loads(
        roost("register", case.drafter, "--name", "bad", "--provenance", case.provenance, "--format", "json").stdout
    )
    assert code in [finding["code"] for finding in told["findings"]]
    assert roost("show", f"bad-{code}").returncode == 3


def test_killed_at_any_moment_a_registration_leaves_no_half_and_the_repeat_succeeds(
    roost, environment, registry_service, target, tmp_path
):
    case = own_copy(target, tmp_path, draft_vocab=256)
    command = ["register", str(case.drafter), "--name", "killed", "--provenance", str(case.provenance)]
    own = {**environment, "ROOST_URL": registry_service.url}
    for delay in (0.05, 0.15, 0.2, 0.25, 0.3, 0.35):
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "roost", *command],
            env=own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as client:
            time.sleep(delay)
            os.kill(client.pid, signal.SIGKILL)
        listed = json.loads(roost("list", "--format", "json", check=True).stdout)["items"]
        if "killed" in [drafter["name"] for drafter in listed]:
            assert json.loads(roost("show", "killed", "--format", "json", check=True).stdout)["tensors"] == 15
    assert "killed@1" in roost(*command, check=True).stdout


def test_adding_a_target_again_says_what_was_added(roost, founding):
    add = ["target", "add", "again/Target", "--config", founding.case.target_config]
    assert roost(*add, check=True).stdout.startswith("added again/Target")
    assert roost(*add, check=True).stdout.startswith("unchanged, registered already: again/Target")
    digests = ["--digests", founding.case.digests, "--tokenizer", founding.case.tokenizer]
    assert roost(*add, *digests, check=True).stdout.startswith("digest, tokenizer, chat template added to again/Target")
    assert roost(*add, *digests, check=True).stdout.startswith("unchanged")


def test_a_target_that_looks_like_none_is_added_with_a_warning(roost, founding, tmp_path):
    (tmp_path / "empty.json").write_text("{}")
    empty = roost("target", "add", "odd/Empty", "--config", tmp_path / "empty.json", "--revision", "main", check=True)
    assert "does not say its class, layer count, hidden size" in empty.stderr
    assert "'main' is no whole commit" in empty.stderr
    drafter = roost("target", "add", "odd/Drafter", "--config", founding.case.drafter / "config.json", check=True)
    assert "looks like the class of a drafter" in drafter.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["target", "add", "x", "--config", "nothere"], 3),
        (["target", "add", "x", "nothere"], 3),
        (["target", "add", "x", "--config", "{target_config}", "--digests", "nothere"], 3),
        (["target", "add", "x", "--config", "{target_config}", "--tokenizer", "nothere"], 3),
        (["register", "nothere", "--name", "x", "--provenance", "{provenance}"], 3),
        (["register", "{drafter}", "--name", "x", "--provenance", "nothere"], 3),
        (["check", NAME, "--engine", "sglang==0.5.23", "--draft-config", "nothere"], 3),
        (["provenance", "amend", f"{NAME}@1", "--reason", "r", "--provenance", "nothere"], 3),
        (["verify", "nothere"], 3),
        (["preflight", "nothere", "--engine", "sglang==0.5.23"], 3),
        (["target", "add", "x", "--config", "{dump_patch}"], 1),
        (["target", "add", "x", "--config", "{target_config}", "--digests", "{dump_patch}"], 1),
        (["register", "{drafter}", "--name", "x", "--provenance", "{target_config}"], 1),
        (["check", NAME, "--engine", "sglang==0.5.23", "--draft-config", "{dump_patch}"], 1),
        (["check", NAME, "--engine", "sglang==0.5.23", "--target", "nobody"], 1),
        (["emit", NAME, "--engine", "sglang==0.5.23", "--target", "nobody", "--out", "out"], 1),
        (["check", NAME, "--engine", "sglang==0.5.23", "--launch", "it's"], 2),
        (["check", f"{NAME}@x", "--engine", "sglang==0.5.23"], 2),
        (["register", "{drafter}", "--name", "bad name", "--provenance", "{provenance}"], 2),
    ],
)
def test_the_exit_code_tells_unreadable_from_refused_from_misused(roost, registered, target, tmp_path, arguments, code):
    places = {name: getattr(target.case, name) for name in ("target_config", "provenance", "drafter", "dump_patch")}
    done = roost(*(str(argument).format(**places) for argument in arguments), cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) <= 9


def test_a_file_that_is_another_kind_of_document_is_said_to_be_that_and_nothing_else(roost, target):
    done = register(roost, target.case.drafter, target.case.drafter / "config.json", name="x")
    assert done.stderr.splitlines() == [
        f"error: {target.case.drafter / 'config.json'} is not a provenance document",
        '  /schema: is missing; expected "roost.provenance/1"',
    ]


def test_an_answer_that_cannot_stand_is_asked_for_again_and_no_answer_is_lost(environment, target, tmp_path):
    out = tmp_path / "provenance.json"
    (tmp_path / "dump.patch").write_text("patch")
    said = [
        "", "bad name!", "org/Model", "", "sha256:zz", "", "dump", "1.0", "nothere.patch", "dump.patch", "sideways",
        "before_layer", "", "3,x", "3,31,-1", "3,31,59", "last", "61", "some", "final", "standardize_data_v1",
    ]  # fmt: skip
    text = answered(
        ["provenance", "init", str(target.case.drafter), "--out", str(out)], [*said, *[""] * 16], environment
    )
    assert "--" not in text.partition("next:")[0]
    assert text.count("How it counts layers") == 2
    assert "fc takes 3 taps" in text
    assert "['" not in text
    record = json.loads(out.read_text())
    assert record["target"] == {"name": "org/Model"}
    assert record["capture"] == {
        "tool": "dump", "version": "1.0", "source": "dump.patch", "counting": "before_layer", "layers": [3, 31, 59],
        "verifier_state": {"layer": 61, "norm": "final"},
    }  # fmt: skip


def answered(arguments: list[str], answers: list[str], environment: dict[str, str]) -> str:
    """Run a command on a terminal, type the answers, and return all that the terminal showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-P", "-m", "roost", *arguments], environment)  # noqa: S606 - our own command
    os.write(terminal, "".join(f"{answer}\n" for answer in answers).encode())
    shown = b""
    # A terminal whose other side is closed is an error of the system.
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 4096):
            shown += chunk
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, shown.decode()
    return shown.decode()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--counting", "sideways"], 2, "--counting: "),
        (["--target-digest", "sha256:zz"], 2, "--target-digest: "),
        (["--layers", "before"], 2, "--layers 'before': expected whole numbers"),
        (["--source", "nothere.patch"], 1, "no such file beside it"),
        (["--verifier-layer", "separate", "--verifier-norm", "final"], 2, "--verifier-norm"),
    ],
)
def test_an_option_that_cannot_stand_is_named_before_anything_is_asked(
    bare_roost, target, tmp_path, options, code, words
):
    done = bare_roost("provenance", "init", target.case.drafter, "--out", tmp_path / "p.json", "--yes", *options)
    assert done.returncode == code
    assert words in done.stderr
    assert not (tmp_path / "p.json").exists()
