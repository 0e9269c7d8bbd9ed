"""Launch options from what people really write: one bare option, several, or a whole command line.

Only the options that a reading needs are looked at; everything else on the line is not judged. POSIX shell quoting.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from registry.domain.errors import Invalid
from registry.domain.proposal import Launch

_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options and environment variables of one engine that its readings need."""

    flags: frozenset[str]
    """Long names that take no value."""
    valued: frozenset[str]
    """Long names that take one value, after a space or `=`."""
    environment: frozenset[str]


KNOWN: Final[Mapping[str, Options]] = {
    "sglang": Options(
        flags=frozenset({"--disable-cuda-graph", "--skip-server-warmup"}),
        valued=frozenset({"--speculative-algorithm", "--speculative-algo"}),
        environment=frozenset(),
    ),
    "vllm": Options(
        flags=frozenset({"--enforce-eager"}),
        valued=frozenset(),
        environment=frozenset({"VLLM_USE_V2_MODEL_RUNNER"}),
    ),
}
"""What each engine's readings look at. Another engine's lines are taken whole and nothing on them is judged."""

_NOTHING = Options(flags=frozenset(), valued=frozenset(), environment=frozenset())


def parse_launch(text: str, engine: str) -> Launch:
    """Read the launch options that `engine`'s readings need from `text`.

    Raises:
        Invalid: the quoting of `text` is broken, or a flag that takes no value was given one.
    """
    words = _split(text)
    known = KNOWN.get(engine, _NOTHING)
    environment = {
        name: value
        for name, _, value in (word.partition("=") for word in words if _ASSIGNMENT.match(word))
        if name in known.environment
    }
    return Launch(text=text, options=dict(_options(words, known)), environment=environment)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=False, posix=True)
    except ValueError as error:
        raise Invalid(
            f"the launch text cannot be split into words: {error}",
            hint="Quote it as a POSIX shell would.",
            pointer="/launch",
        ) from error


def _options(words: list[str], known: Options) -> Iterator[tuple[str, str | None]]:
    following = iter([*words[1:], ""])
    for word, after in zip(words, following, strict=True):
        name, equals, value = word.partition("=")
        if name in known.flags:
            if equals:
                raise Invalid(
                    f"{name} takes no value, but was given {value!r}", pointer="/launch", hint=f"Write {name}."
                )
            yield name, None
        elif name in known.valued:
            yield name, value if equals else after
