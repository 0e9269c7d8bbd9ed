"""The entry point: every ending has its code and its sentence, and no traceback."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click
import pytest

from registry.domain.errors import Invalid
from roost import main
from roost.failures import Failure, Misused, Refused
from roost.lazy_group import Entry

Run = Callable[..., int]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command `probe` that raises or returns what it is given."""

    def start(ending: BaseException | int | None, *arguments: str) -> int:
        @click.command()
        @click.option("--format")
        def probe(format: str | None) -> int | None:  # noqa: A002 - the option's name
            if isinstance(ending, BaseException):
                raise ending
            return ending

        monkeypatch.setattr(main.cli, "get_command", lambda _context, _name: probe)
        monkeypatch.setitem(main.cli.entries, "probe", Entry(module="none", summary="none"))
        return main.run(["probe", *arguments])

    return start


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (None, 0), (0, 0), (1, 1), (3, 3), (Failure("x"), 3), (Refused("x"), 1), (Misused("x"), 2),
        (KeyboardInterrupt(), 130), (RuntimeError("x"), 3), (Invalid("x"), 3), (click.UsageError("x"), 2),
        (PermissionError(13, "Permission denied", "/x"), 3),
    ],
)  # fmt: skip
def test_every_ending_has_its_code(run: Run, ending: BaseException | int | None, code: int) -> None:
    assert run(ending) == code


def test_a_failure_is_a_message_its_details_and_a_hint(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run(Failure("it is broken", details=["here", "and here"], hint="mend it"))
    assert capsys.readouterr() == ("", "error: it is broken\n  here\n  and here\nhint: mend it\n")


def test_of_many_details_the_first_are_printed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run(Failure("broken", details=[str(number) for number in range(9)]))
    assert capsys.readouterr().err.splitlines()[1:] == ["  0", "  1", "  2", "  3", "  4", "  and 4 more"]
    run(Failure("broken", details=[str(number) for number in range(6)]))
    assert "more" not in capsys.readouterr().err


def test_json_gets_the_document_of_a_failure(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run(Refused("no", document={"title": "no"}), "--format", "json")
    assert capsys.readouterr().out == '{\n  "title": "no"\n}\n'


def test_an_error_that_nobody_foresaw_is_one_line(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROOST_DEBUG", raising=False)
    run(ValueError("several\nlines"))
    assert capsys.readouterr().err == (
        "error: unexpected ValueError: several lines\nhint: ROOST_DEBUG=1 shows where it came from.\n"
    )


def test_debugging_shows_where_it_came_from(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOST_DEBUG", "1")
    run(ValueError("x"))
    assert "Traceback" in capsys.readouterr().err


def test_errors_of_the_registry_keep_their_words(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run(Invalid("bad launch text", hint="quote it", pointer="/launch"))
    assert capsys.readouterr().err == "error: bad launch text (at /launch)\nhint: quote it\n"


def test_a_mistyped_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["chekc"]) == 2
    assert "Did you mean 'check'?" in capsys.readouterr().err


def test_no_arguments_show_help_and_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([]) == 2
    assert "register" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(main.COMMANDS))
def test_every_command_is_there_and_help_explains_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = import_module(main.COMMANDS[name].module).command
    assert command.name == name
    assert main.run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: roost {name}")


@pytest.mark.parametrize("name", sorted(main.COMMANDS))
def test_every_command_that_ends_takes_format(name: str) -> None:
    command = import_module(main.COMMANDS[name].module).command
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for leaf in leaves:
        takes = any("--format" in parameter.opts for parameter in leaf.params)
        assert takes or leaf.name == "completion"


@pytest.mark.parametrize("name", sorted(main.COMMANDS))
def test_help_shows_no_markup_and_cuts_no_summary(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main.run([name, "--help"])
    text = capsys.readouterr().out
    assert "\\b" not in text
    assert not [line for line in text.splitlines() if line.startswith("  ") and line.endswith("...")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["register", ".", "--name", "bad name!", "--provenance", "x"], "Invalid value for '--name'"),
        (["provenance", "amend", "K@1", "--provenance", "x", "--reason", " "], "Invalid value for '--reason'"),
        (["provenance", "amend", "K@x", "--provenance", "x", "--reason", "r"], "Invalid value for 'NAME@N'"),
        (["check", "K@x", "--engine", "sglang==0.5.23"], "Invalid value for 'NAME[@N]'"),
        (["check", "K", "--engine", "sglang==0.5.23", "--target", "a b"], "Invalid value for '--target'"),
        (["check", "K", "--engine", "sglang==v0.5.23"], "did you mean sglang==0.5.23?"),
        (["show", "blake3:12"], "is not a digest"),
        (["list", "a//b"], "is not a name"),
        (["target", "add", "bad name!", "."], "is not a name"),
        (["target", "add", "x", ".", "--revision", "a b"], "is not a revision"),
    ],
)
def test_what_was_typed_is_a_usage_error_in_the_words_of_its_option(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "document" not in said


@pytest.mark.parametrize("command", [["check", "K"], ["preflight", "."]])
def test_a_launch_line_that_no_shell_takes_is_a_usage_error(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run([*command, "--engine", "sglang==0.5.23", "--launch", "it's"]) == 2
    assert "--launch: the launch text cannot be split" in capsys.readouterr().err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_streams_that_were_closed_by_the_caller_are_no_fault(closed: str) -> None:
    command = [sys.executable, "-P", "-m", "roost", "rule", "TAP101"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
