"""Launch options from what people really write: one bare option, several, or a whole command line.

Only the options that a reading needs are looked at; everything else on the line is not judged. POSIX shell quoting.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from registry.domain.errors import Invalid
from registry.domain.proposal import Launch
from registry.domain.shell_words import ASSIGNMENT, shell_words
from registry.engines.speculation import is_elsewhere, server_of, speculation_of

_SETS_ENVIRONMENT: Final = frozenset({"env", "export", "-i"})
"""Words after which a line may still set variables for its command."""

_PASSES_VARIABLE: Final = frozenset({"-e", "--env"})
"""Options of container tools whose value is a variable."""

_LAUNCHERS: Final = frozenset(
    {"sglang.launch_server", "launch_server.py", "serve", "vllm.entrypoints.openai.api_server"}
)
"""Last parts of the word that starts an engine: a `--` before it belongs to whatever starts that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options and environment variables of one engine that its readings need."""

    flags: frozenset[str]
    """Long names that take no value."""
    valued: frozenset[str]
    """Long names that take one value, after a space or `=`."""
    environment: frozenset[str]


ALGORITHM: Final = frozenset({"--speculative-algorithm", "--speculative-algo"})
"""SGLang's two names of the option that selects the algorithm; the last on the line counts."""

KNOWN: Final[Mapping[str, Options]] = {
    "sglang": Options(
        flags=frozenset({"--disable-cuda-graph", "--skip-server-warmup"}),
        valued=ALGORITHM,
        environment=frozenset(),
    ),
    "vllm": Options(
        flags=frozenset({"--enforce-eager"}),
        valued=frozenset({"--speculative-config", "--speculative_config", "-sc"}),
        environment=frozenset({"VLLM_USE_V2_MODEL_RUNNER"}),
    ),
}
"""What each engine's readings look at. Another engine's lines are taken whole and nothing on them is judged."""

_NOTHING = Options(flags=frozenset(), valued=frozenset(), environment=frozenset())


def parse_launch(text: str, engine: str) -> Launch:
    """Read the launch options that `engine`'s readings need from `text`.

    Raises:
        Invalid: the text is not one command in POSIX shell quoting, a flag that takes no value was given one, or a
            variable that matters stands where it does not reach the engine.
    """
    words = _split(text)
    known = KNOWN.get(engine, _NOTHING)
    options: dict[str, str | None] = {}
    for name, value in _options(_of_engine(words), known):
        options.pop(name, None)  # the last of several counts, and lies last
        options[name] = value
    return Launch(
        text=text,
        options=options,
        environment=dict(_environment(words, known)),
        starts=server_of(words),
        speculation=speculation_of(_of_engine(words), engine),
        elsewhere=is_elsewhere(_of_engine(words)),
    )


def _split(text: str) -> tuple[str, ...]:
    try:
        return shell_words(text)
    except ValueError as error:
        raise Invalid(
            f"the launch text cannot be split into words: {error}",
            hint="Give the options, or the one command that starts the engine, quoted as in a POSIX shell.",
            pointer="/launch",
        ) from error


def _of_engine(words: Sequence[str]) -> Sequence[str]:
    """Return the words that the engine takes for options: none after its own `--`."""
    start = next((place for place, word in enumerate(words) if word.rpartition("/")[2] in _LAUNCHERS), 0)
    return words[: words.index("--", start)] if "--" in words[start:] else words


def _environment(words: Sequence[str], known: Options) -> Iterator[tuple[str, str]]:
    """Yield the variables that reach the engine: those before the command, and those handed to a container."""
    before_command, previous = True, ""
    for word in words:
        passed = word.removeprefix("--env=")
        if ASSIGNMENT.match(passed):
            name, _, value = passed.partition("=")
            reaches = before_command or passed != word or previous in _PASSES_VARIABLE
            if name in known.environment and not reaches:
                message = f"{name} stands behind the command's name, where it is no variable of its environment"
                raise Invalid(message, pointer="/launch", hint="Put it in front of the command, or name the runner.")
            if name in known.environment:
                yield name, value
        elif word not in _SETS_ENVIRONMENT:
            before_command = False
        previous = word


def _options(words: Sequence[str], known: Options) -> Iterator[tuple[str, str | None]]:
    for word, after in pairwise((*words, "")):
        name, equals, value = word.partition("=")
        if name in known.flags:
            if equals:
                raise Invalid(
                    f"{name} takes no value, but was given {value!r}", pointer="/launch", hint=f"Write {name}."
                )
            yield name, None
        elif name in known.valued:
            yield name, value if equals else after
