"""What a launch line says of speculative decoding: whose server it starts, and which method it asks for."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from registry.domain.proposal import Speculation

_SERVERS: Final[Mapping[str, str]] = {
    "sglang.launch_server": "sglang",
    "launch_server.py": "sglang",
    "vllm.entrypoints.openai.api_server": "vllm",
}
"""Last part of the word that starts a server -> its engine."""

_SERVE: Final = frozenset({"sglang", "vllm"})
"""Commands that start a server with `serve` behind them."""

_ALGORITHM: Final = "--speculative-al"
"""How SGLang's option begins, in both its names and every abbreviation that its parser takes."""

_CONFIG: Final = "--speculative-config"
_FILE: Final = "--config"


def server_of(words: Sequence[str]) -> str | None:
    """Return the engine whose server the line starts; None for bare options, or a launcher that is not known."""
    for before, word in pairwise(("", *words)):
        name, command = word.rpartition("/")[2], before.rpartition("/")[2]
        if name in _SERVERS:
            return _SERVERS[name]
        if word == "serve" and command in _SERVE:
            return command
    return None


def is_elsewhere(words: Sequence[str]) -> bool:
    """Tell whether options may come from what is not here: a file of options, or a variable of the shell."""
    return any(word.partition("=")[0] == _FILE or word.startswith("$") for word in words)


def speculation_of(words: Sequence[str], engine: str) -> Speculation | None:
    """Return how the line asks for speculative decoding; None where it does not, or the engine is not known."""
    if engine == "sglang":
        return _algorithm(words)
    return _configured(words) if engine == "vllm" else None


def _valued(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every word as an option, with its value after `=` or in the next word."""
    for word, after in pairwise((*words, "")):
        name, equals, value = word.partition("=")
        yield name, value if equals else after


def _algorithm(words: Sequence[str]) -> Speculation | None:
    """Read SGLang's option: the last one counts, and its value is upper-cased there."""
    found = [(name, value) for name, value in _valued(words) if name.startswith(_ALGORITHM)]
    if not found:
        return None
    option, value = found[-1]
    if not value or value.startswith("--"):
        return Speculation(option=option, broken="it is given no value")
    return Speculation(option=option, method=value.upper())


def _configured(words: Sequence[str]) -> Speculation | None:
    """Read vLLM's JSON, whole or by its members (`--speculative-config.method eagle3`)."""
    written, members = None, {}
    for name, value in _valued(words):
        option, dot, member = name.replace("_", "-").partition(".")
        if name == "-sc" or (option == _CONFIG and not dot):
            written = value
        elif option == _CONFIG:
            members[member] = value
    if written is None and not members:
        return None
    return _of_json(written, members)


def _of_json(written: str | None, members: Mapping[str, Any]) -> Speculation:
    try:
        config = json.loads("{}" if written is None else written)
    except ValueError as error:
        return Speculation(option=_CONFIG, broken=f"its value is no JSON: {error}")
    if not isinstance(config, dict):
        return Speculation(option=_CONFIG, broken="its value is no JSON object")
    method = {**config, **members}.get("method")
    if method is not None and not isinstance(method, str):
        return Speculation(option=_CONFIG, broken=f"its method is {json.dumps(method)}, expected a text")
    return Speculation(option=_CONFIG, method=method)
