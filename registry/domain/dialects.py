"""Dialects: how one reader spells taps as layer ids.

A dialect is one of a small closed set of functions, chosen by data in the profile. `read` goes from ids to depths;
`candidates` proposes ids for depths, and whoever emits them reads them back before believing them. A name that is
not in the set is `unresolved`: it reads nothing and spells nothing.

Sources: SGLang setters executed from 36 wheels, vLLM readers executed from 8; see `docs/concepts.md`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

Depths = tuple[int, ...]

UNRESOLVED: Final = "unresolved"
"""The dialect of a class whose behavior is not established. It reads as unknown, never as a guess."""


def _plus_one(ids: Sequence[int], _layers: int) -> Depths:
    return tuple(number + 1 for number in ids)


def _identity(ids: Sequence[int], _layers: int) -> Depths:
    return tuple(ids)


def _first_is_one(ids: Sequence[int], layers: int) -> Depths:
    return _plus_one(ids, layers) if ids and ids[0] == 1 else _identity(ids, layers)


def _max_is_depth(ids: Sequence[int], layers: int) -> Depths:
    return _identity(ids, layers) if ids and max(ids) == layers else _plus_one(ids, layers)


READERS: Final[Mapping[str, Callable[[Sequence[int], int], Depths]]] = {
    "plus_one": _plus_one,
    "identity": _identity,
    "first_is_one": _first_is_one,
    "max_is_depth": _max_is_depth,
}
"""Every dialect that takes ids. The two conditional ones look at the whole list, so order can matter:

* `plus_one`: id k is the output of layer k (SGLang, SpecForge, Model-Optimizer).
* `identity`: id k is the state entering layer k (vLLM, speculators from 0.5.0).
* `first_is_one`: plus one if the first id is 1, else identity (SGLang's DeepSeek family from 0.5.13).
* `max_is_depth`: identity if the largest id is N, else plus one (SGLang's GPT-OSS from 0.5.17).
"""

FIXED_DEFAULT: Final = "fixed_default"
"""The reader takes no ids: it always captures its default."""

NAMES: Final = frozenset({*READERS, FIXED_DEFAULT, UNRESOLVED})

MEANING: Final[Mapping[str, str]] = {
    "plus_one": "id k is the output of layer k: depth k+1",
    "identity": "id k is the state entering layer k: depth k",
    "first_is_one": "ids are depths, unless the first id is 1: then depth k+1",
    "max_is_depth": "depth k+1, unless the largest id is the layer count: then ids are depths",
    FIXED_DEFAULT: "ids are not taken: the default always holds",
    UNRESOLVED: "not established",
}
"""Each dialect in words, for messages."""


def read(dialect: str, ids: Sequence[int], *, layers: int) -> Depths | None:
    """Return the depths that `ids` ask for on a target of `layers` layers, or None if the dialect takes no ids.

    The result keeps the order of `ids` and may hold depths that do not exist (negative, or above `layers`): what a
    class then does with them is a fact of its profile.

    Raises:
        KeyError: `dialect` is not in `NAMES`.
    """
    if dialect in (FIXED_DEFAULT, UNRESOLVED):
        return None
    return READERS[dialect](ids, layers)


def candidates(dialect: str, depths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield id lists that may spell `depths`, the plainest first.

    Both offsets are tried, and every rotation that puts another id first: an unsorted list can be the only spelling
    (`first_is_one` can reach depth 1 only with another id in front of it). A candidate is a proposal, not an answer.
    """
    if dialect in (FIXED_DEFAULT, UNRESOLVED):
        return
    offsets = (0, -1) if dialect in ("identity", "first_is_one") else (-1, 0)
    for offset in offsets:
        ids = tuple(depth + offset for depth in depths)
        yield ids
        for first in range(1, len(ids)):
            yield (ids[first], *ids[:first], *ids[first + 1 :])


def default_depths(default: str, *, layers: int) -> Depths | None:
    """Return the depths a class captures when it is given no ids, or None where that is not established.

    `early_middle_late` is (2, N//2, N-3) in every engine and version that was executed; SGLang's
    MiniMaxM3SparseForConditionalGeneration reads that list as ids and adds one.
    """
    depths = (2, layers // 2, layers - 3)
    if default == "early_middle_late":
        return depths
    if default == "early_middle_late_plus_one":
        return tuple(depth + 1 for depth in depths)
    return None


DEFAULTS: Final = frozenset({"early_middle_late", "early_middle_late_plus_one", UNRESOLVED})
