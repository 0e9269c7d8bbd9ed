"""The other setters of targets: DFlash and DSpark count layers in their own way on the same class."""

from typing import Any, Final

from registry.domain import dialects
from registry.engines.scan.capture_runs import Captures, Ids, settled
from registry.engines.scan.classes import ClassInfo
from registry.engines.scan.entry_classes import concerned, entry_classes, is_draft_name, model_files
from registry.engines.scan.limits import Unfollowed
from registry.engines.scan.probes import LAYERS

METHODS: Final = ("set_dflash_layers_to_capture", "set_dspark_layers_to_capture")
_COUNTINGS: Final = ("plus_one", "identity", "first_is_one")
"""Countings that were ever seen in these setters; none of them looks at the largest id."""
_PROBES: Final[tuple[tuple[int, ...], ...]] = ((1, 29, 57), (2, 30, 58), (0, 29, 57))


def scan_block_setters(captures: Captures) -> dict[str, dict[str, Any]]:
    """Return, by class and method, how ids become depths there, or why that is not established."""
    index = captures.index
    found: dict[str, dict[str, Any]] = {}
    for method in METHODS:
        for entry in entry_classes(index, concerned(index, model_files(index), method)):
            if index.method(entry.info, method) and not is_draft_name(entry.info.name):
                found.setdefault(entry.info.name, {})[method] = _setter(captures, entry.info, method)
    return dict(sorted(found.items()))


def _setter(captures: Captures, info: ClassInfo, method: str) -> dict[str, Any]:
    owner = captures.index.method(info, method)
    at = f"{owner[0].path}:{owner[1].lineno}" if owner else info.at
    try:
        first = _captured(captures, info, _PROBES[0], method)
        alike = (method, owner[0] if owner else info, *first)
        if alike in captures.judged:
            known: dict[str, Any] = captures.judged[alike]
            return known | {"at": at}
        rest = [(ids, _captured(captures, info, ids, method)[-1]) for ids in _PROBES[1:]]
        _, without = captures.set_ids(info, None, layers=LAYERS, method=method)
    except Unfollowed as reason:
        return {"dialect": dialects.UNRESOLVED, "at": at, "unresolved_because": str(reason)}
    runs = [(_PROBES[0], first[-1]), *rest]
    fitted = _fitted(runs, at, raises_without=bool(without.raised))
    captures.judged[alike] = fitted
    return fitted


def _fitted(runs: list[tuple[tuple[int, ...], tuple[int, ...]]], at: str, *, raises_without: bool) -> dict[str, Any]:
    fitting = [name for name in _COUNTINGS if all(_reads(name, ids, depths) for ids, depths in runs)]
    if len(fitting) != 1:
        seen = "; ".join(f"{list(ids)} gave {list(depths)}" for ids, depths in runs)
        return {"dialect": dialects.UNRESOLVED, "at": at, "unresolved_because": seen}
    return {"dialect": fitting[0], "at": at, "without_ids": "raises" if raises_without else "default"}


def _reads(name: str, ids: tuple[int, ...], depths: tuple[int, ...]) -> bool:
    return dialects.read(name, ids, layers=LAYERS) == depths


def _captured(captures: Captures, info: ClassInfo, ids: Ids, method: str) -> tuple[Any, ...]:
    """Return the model's body, its switches and, last, the depths that a pass captures.

    Raises:
        Unfollowed: the setter or the pass is not followed, or raises.
    """
    stub, setting = captures.set_ids(info, ids, layers=LAYERS, method=method)
    if setting.unfollowed is not None:
        raise setting.unfollowed
    if setting.raised:
        raise Unfollowed(info.path, info.node.lineno, f"{method} raises {setting.raised}")
    done = captures.run_pass(stub)
    if done.unfollowed is not None or done.raised:
        raise done.unfollowed or Unfollowed(info.path, info.node.lineno, f"the pass raises {done.raised}")
    return done.body, settled(stub.model), done.depths
