"""A group of commands that imports a command's module only when that command is run."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One command: where it lives and what `--help` says about it, so that help imports no command."""

    module: str
    """The module; its attribute `command` is the click command."""
    summary: str
    section: str = "Commands"
    """The heading it stands under."""


class LazyGroup(click.Group):
    """A click group over a table of entries."""

    def __init__(self, *, entries: Mapping[str, Entry], **attributes: object) -> None:
        """Take the table; everything else is click's."""
        super().__init__(**attributes)  # type: ignore[arg-type]  # click types each of its keywords on its own
        self.entries = entries

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self.entries)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import and return a command."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        command = import_module(entry.module).command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        name = args[0]
        if name not in self.entries and not name.startswith("-"):
            import difflib  # noqa: PLC0415 - only a mistyped command pays for it

            near = difflib.get_close_matches(name, self.entries, n=1)
            context.fail(f"no such command: {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(context, args)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.entries.items():
            sections.setdefault(entry.section, []).append((name, entry.summary))
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)
