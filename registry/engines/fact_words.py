"""Facts of profiles in words: what each value means to somebody who runs the build. No comparison happens here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from registry.domain.dialects import MEANING, UNRESOLVED

_MOST_NAMES: Final = 3
"""Names that are written out of many."""

_NOT_ESTABLISHED: Final = "is not established"

TARGET: Final[Mapping[str, Mapping[object, str]]] = {
    "default": {
        "early_middle_late": "without ids, depths 2, N//2, N-3 are captured",
        "early_middle_late_plus_one": "without ids, depths 3, N//2+1, N-2 are captured",
        "unresolved": f"what is captured without ids {_NOT_ESTABLISHED}",
    },
    "captures": {
        "listed": "the depths asked for are captured",
        "nothing": "nothing is captured, whatever the ids",
        "unresolved": f"what is captured {_NOT_ESTABLISHED}",
    },
    "stream": {
        "residual": "hidden state plus residual is captured (stream residual)",
        "branch": "the layer's output without the residual is captured (stream branch)",
    },
    "depth_zero": {
        "captured": "depth 0, the embedding output, is captured when asked for",
        "raises": "asking for depth 0, the embedding output, fails on the forward pass",
        "unresolved": f"what happens at depth 0 {_NOT_ESTABLISHED}",
    },
    "depth_n": {
        "captured": "depth N, the last layer's output, is captured when asked for",
        "dropped": "depth N, the last layer's output, is never captured",
        "unresolved": f"what happens at depth N {_NOT_ESTABLISHED}",
    },
    "out_of_range": {
        "dropped": "a depth that does not exist is dropped",
        "raises": "a depth that does not exist makes the setter raise",
    },
    "negative": {
        "dropped": "a negative depth is dropped",
        "from_end": "a negative depth counts from the last layer",
    },
    "accumulates": {
        True: "a second call of the setter adds to the first",
        False: "a second call of the setter replaces the first",
    },
    "refused": {"": "it is not refused"},
    "last_pipeline_rank_only": {
        True: "states are returned on the last pipeline rank only",
        False: "states are returned on every pipeline rank",
    },
    "delegates_to": {None: "its own setter is called"},
}
"""Facts of target classes: field -> value -> words."""

DRAFT: Final[Mapping[str, Mapping[object, str]]] = {
    "model_prefix": {
        "accepted": "tensor names may start with `model.`",
        "doubled": "tensor names that start with `model.` are not found",
    },
    "unknown_tensor": {
        "dropped": "tensors it does not know are dropped without a word",
        "warned": "tensors it does not know are dropped with a warning",
        "refused": "tensors it does not know are refused at the start",
    },
    "missing_tensor": {
        "untouched": "parameters that no tensor fills keep what they were built with",
        "refused": "parameters that no tensor fills are refused at the start",
    },
    "many_layers": {True: "several decoder layers are taken", False: "exactly one decoder layer is taken"},
    "head_shared": {
        "null_draft_vocab": "the target's head is used where draft_vocab_size is null",
        "absent": "the target's head is used where the drafter has none",
        "never": "the target's head is never used",
    },
    "embedding_shared": {
        "always": "the target's embedding is used, unless widths differ",
        "absent_or_equal": "the target's embedding is used where the drafter has none, or the same",
    },
    "fc_bypass": {
        True: "`fc` is skipped without a word where what is captured is as wide as the embedding",
        False: "`fc` always runs",
    },
    "missing_d2t": {"identity": "without d2t, draft ids are taken as target ids"},
}
"""Facts of draft classes."""

RUNNER: Final[Mapping[str, Mapping[object, str]]] = {
    "default_for": {
        "all": "it is the default for every target",
        "none": "it is the default for no target but those listed",
        "dense": "it is the default for dense targets",
    },
    "empty_ids": {
        "default": "an empty list of ids means the default",
        "nothing": "an empty list of ids captures nothing",
    },
    "startup_runs_fc": {
        True: "a wrong number of taps fails the start",
        False: "a wrong number of taps fails a request, after a healthy start",
    },
    "capture_off": {None: "no flag of the config turns capturing off"},
}
"""Facts of model runners."""

GRAPHS: Final[Mapping[str, Mapping[object, str]]] = {
    "ids_hold": {
        True: "configured ids hold in them",
        False: "they keep the class's default, whatever ids are configured",
    },
    "disable_option": {None: "no option turns them off"},
}
"""Facts of decode graphs."""

LAUNCH: Final[Mapping[str, Mapping[object, str]]] = {
    "startup_pass": {
        True: "a forward pass runs before it reports itself healthy",
        False: "it reports itself healthy without a forward pass",
    },
    "skip_startup_pass": {None: "no option skips that pass"},
}
"""Facts of launching."""


def words(table: Mapping[str, Mapping[object, str]], what: str, value: object) -> str:
    """Return what `value` of the fact `what` means; a fact without words of its own is named with its value."""
    known = table.get(what, {}).get(value) if isinstance(value, str | bool | None) else None
    if known is not None:
        return known
    saying = _SAYING.get(what)
    return saying(value) if saying else f"{what} is {plainly(value)}"


def plainly(value: object) -> str:
    """Spell a value that has no words of its own."""
    if value is None or value in ((), [], ""):
        return "nothing"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plainly(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plainly, value))
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def names(listed: Sequence[str], *, noun: str = "") -> str:
    """Spell names: all of a few, the first of many with how many there are."""
    if len(listed) <= _MOST_NAMES:
        return ", ".join(listed)
    head = f"{len(listed)} {noun}".rstrip()
    return f"{head} ({', '.join(listed[:_MOST_NAMES])} and {len(listed) - _MOST_NAMES} more)"


def _dialect(name: str) -> str:
    if name == UNRESOLVED:
        return f"how its ids are read {_NOT_ESTABLISHED}"
    return f"{MEANING.get(name, 'ids are read another way')} (`{name}`)"


def _methods(value: object) -> str:
    lacks = value if isinstance(value, Mapping) else {}
    missing, needed = list(lacks.get("missing", ())), list(lacks.get("needed", ()))
    if not missing:
        return "it has every method that EAGLE-3 calls"
    if missing == needed:
        return f"it lacks {', '.join(missing)}, which serving needs"
    serving = f"of them serving needs {', '.join(needed)}" if needed else "serving needs none of them"
    return f"it lacks {', '.join(missing)}; {serving}"


def _in_order(value: object) -> str:
    sources = {"nested": "the ids in eagle_config", "top_level": "the ids at the top level"}
    listed = [sources.get(str(source), str(source)) for source in value] if isinstance(value, list | tuple) else []
    return ", then ".join([*listed, "3"])


def _keys(value: object) -> str:
    entries = value if isinstance(value, list | tuple) else ()
    return ", then ".join(_key(entry) for entry in entries if isinstance(entry, Mapping)) or "nowhere"


def _key(entry: Mapping[str, object]) -> str:
    dialect = str(entry["dialect"])
    return str(entry["pointer"]) if dialect == "identity" else f"{entry['pointer']} (`{dialect}` first)"


_SAYING: Final[Mapping[str, Callable[[object], str]]] = {
    "dialect": lambda value: _dialect(str(value)),
    "methods": _methods,
    "refused": lambda value: f"it is refused: {value}",
    "delegates_to": lambda value: f"the setter of {value} is called",
    "capture_off": lambda value: f"{value} false turns capturing off",
    "disable_option": lambda value: f"{value} turns them off",
    "skip_startup_pass": lambda value: f"{value} skips that pass",
    "algorithm": lambda value: f"{value} selects EAGLE-3",
    "default_draft_steps": lambda value: f"{value} draft steps are the default",
    "tap_count": lambda value: f"the width of `fc` comes from {_in_order(value)}",
    "keys": lambda value: f"ids are read from {_keys(value)}",
}
"""Facts whose values are not a few: field -> how a value is said."""
