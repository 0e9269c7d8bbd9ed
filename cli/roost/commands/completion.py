"""`roost completion`: a script that teaches a shell the commands and options."""

from typing import Final

import click

_SHELLS: Final = ("bash", "zsh", "fish")


_HELP: Final = """Print a completion script for your shell.

\b
bash   eval "$(roost completion bash)"   in ~/.bashrc
zsh    eval "$(roost completion zsh)"    in ~/.zshrc
fish   roost completion fish > ~/.config/fish/completions/roost.fish
"""
"""Click keeps the lines after a backspace as they are."""


@click.command(name="completion", help=_HELP)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print the script."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - only this command needs it

    from roost.main import cli  # noqa: PLC0415 - main imports commands by name, so this goes the other way round

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    print(kind(cli, {}, "roost", "_ROOST_COMPLETE").source())
