"""The command line that starts an engine from inside an emitted directory. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

_STARTS: Final = {
    "sglang": ("python", "-m", "sglang.launch_server", "--model-path"),
    "vllm": ("vllm", "serve"),
}


def launch_line(*, engine: str, target: str, options: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the command, quoted for a POSIX shell.

    Args:
        engine: The engine's name.
        target: What the engine is to load as target; a name on the model hub, or a path.
        options: The emitted launch options, in order; they name the directory they lie in as `.`, so it may be moved.
        environment: The emitted variables.
    """
    start = (*_STARTS[engine], target) if engine in _STARTS else ()
    variables = (f"{name}={shlex.quote(value)}" for name, value in environment.items())
    return " ".join([*variables, shlex.join([*start, *options])])
