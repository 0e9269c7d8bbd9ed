"""The entry point: every ending has its code and its sentence, and no traceback."""

from collections.abc import Callable
from importlib import import_module

import click
import pytest

from registry.domain.errors import Invalid
from roost import main
from roost.failures import Failure, Misused, Refused
from roost.lazy_group import Entry

Run = Callable[..., int]


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
