"""The command line that starts an engine with an emitted directory. Pure."""

import itertools
import json
import shlex
from collections.abc import Sequence
from typing import Final

_STARTS: Final = {
    "sglang": ("python", "-m", "sglang.launch_server", "--model-path"),
    "vllm": ("vllm", "serve"),
}
_DRAFT: Final = "--speculative-draft-model-path"
_JSON: Final = "--speculative-config"
_HERE: Final = "."
"""How emitted options name the directory they lie in: it may be moved."""


def launch_line(*, engine: str, target: str, options: Sequence[str], directory: str) -> str:
    """Return the command, quoted for a POSIX shell, with the directory in place of `.`.

    Args:
        engine: The engine's name.
        target: What the engine is to load as target; a name on the model hub, or a path.
        options: The emitted launch options, in order.
        directory: The emitted directory, absolute.
    """
    start = (*_STARTS[engine], target) if engine in _STARTS else ()
    return shlex.join([*start, *_placed(options, directory)])


def _placed(options: Sequence[str], directory: str) -> list[str]:
    placed = list(options)
    for index, (option, value) in enumerate(itertools.pairwise(options), start=1):
        if option == _DRAFT and value == _HERE:
            placed[index] = directory
        elif option == _JSON:
            placed[index] = _in_json(value, directory)
    return placed


def _in_json(text: str, directory: str) -> str:
    document = json.loads(text)
    if document.get("model") == _HERE:
        document["model"] = directory
    return json.dumps(document)
