"""What differs between two engine builds, fact by fact, and what that asks of checkpoints."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Effect = Literal[
    "nothing", "ids", "option", "ids_and_option", "config", "convert", "stay", "gains", "neither"
]  # fmt: skip
"""What going from one build to another asks of a checkpoint that serves its trained taps on the first.

* `nothing`: its config serves on both; `ids`, `option`, `ids_and_option`: with other ids, or one launch option more;
* `config`: more of its config has to change (`roost emit` writes it); `convert`: its weights have to be rewritten;
* `stay`: the second build cannot serve it;
* `gains`: only the second build serves it; `neither`: none of the two does.
"""

EFFECTS: Final[tuple[Effect, ...]] = get_args(Effect)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One fact that differs. Values are plain JSON; None is a fact that is not there."""

    place: str
    """JSON Pointer into the profile's document; to the part that they share where several classes change alike."""
    what: str
    """The fact, such as `dialect`; `listed` where a class, runner or patch is there in one build only."""
    before: object
    after: object
    sentence: str
    """The change in words."""
    classes: tuple[str, ...] = ()
    """The target classes, or names in a drafter's `architectures`, that change so; empty where it is about neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEffect:
    """What the change asks of one checkpoint, on the target it was trained for."""

    checkpoint: str
    """NAME@N."""
    target: str
    effect: Effect
    facts_equal: bool
    """Whether every fact that matters for it is the same in both builds."""
    ids: tuple[int, ...] | None = None
    """What it is served with on the second build; None where it is not served."""
    pointer: str | None = None
    """JSON Pointer into the draft config where the second build reads them."""
    options: tuple[str, ...] = ()
    """Launch options it takes on the second build."""
    sentence: str
    """The effect in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDiff:
    """The answer to one comparison."""

    before: str
    """ENGINE==VERSION."""
    after: str
    changes: tuple[Change, ...]
    checkpoints: tuple[CheckpointEffect, ...] | None = None
    """A page of them; None where they were not asked for."""
    next: str | None = None
    """Where the next page of checkpoints begins; None at the end."""
    profiles: tuple[str, str]
    """Both profiles as verdicts cite them."""
