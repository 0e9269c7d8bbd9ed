"""The matrix: one checkpoint and config against every known build of an engine, equal neighbors in one row."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from registry.domain.findings import Remedy
from registry.domain.taps import Taps
from registry.domain.verdict import Decision

Takes = Literal[
    "nothing", "option", "ids", "ids_and_option", "config", "convert", "engine", "other_target", "retrain", "reject",
    "unknown",
]  # fmt: skip
"""What it takes to serve the trained taps, beginning with what was proposed.

* `nothing`: it serves as proposed; `option`: the launch options of the row; `ids`: the ids of the row;
* `config`: more of the config than its ids has to change (`roost emit` writes it);
* the others are remedies: no config of this build serves the trained taps, and `obstacle` says why.
"""

TAKES: Final[tuple[Takes, ...]] = get_args(Takes)

SERVES: Final[frozenset[Takes]] = frozenset({"nothing", "option", "ids", "ids_and_option", "config"})
"""What a config and launch options can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """Consecutive releases of one engine that take the same, or one fork."""

    engine: str
    first: str
    last: str
    """Equal to `first` for a single build; a fork is always alone."""
    builds: int = 1
    """How many known builds there are from `first` to `last`."""
    upstream: str | None = None
    """For a fork: the release it was made from."""
    same_as: str | None = None
    """For a fork: a release whose facts are the same for this case."""
    decision: Decision
    """Of the verdict on what was proposed."""
    remedy: Remedy
    """Of the same verdict."""
    takes: Takes
    ids: tuple[int, ...] | None = None
    """The ids that serve the trained taps here: those proposed where they do. None: none do."""
    pointer: str | None = None
    """JSON Pointer into the draft config where these builds read them."""
    settings: tuple[tuple[str, object], ...] = ()
    """Further top-level keys of the draft config, with the values that these builds need."""
    options: tuple[str, ...] = ()
    """The launch options it takes, given already or not."""
    runner: str | None = None
    obstacle: str = ""
    """Why nothing helps, in a few words; empty where something does."""

    @property
    def serves(self) -> bool:
        """Whether the builds of this row can serve the trained taps at all."""
        return self.takes in SERVES


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The answer to one matrix request. It holds no time, so the same question has the same bytes as answer."""

    checkpoint: str
    """NAME@N."""
    target: str | None
    trained_taps: Taps | None
    proposed: bool
    """Whether a draft config was proposed; else the one stored with the checkpoint was judged."""
    rows: tuple[MatrixRow, ...]
    """By engine; releases oldest first, then forks."""
    profiles: str
    """Digest of the set of profiles."""
    rules: str
    """The version of the rule set."""
