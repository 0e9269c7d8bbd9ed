"""Whether configured ids hold in decode graphs: which comes first, setting the ids or capturing the graphs."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from registry.engines.scan.capture_runs import SETTER
from registry.engines.scan.classes import FunctionNode, Index
from registry.engines.scan.limits import Unfollowed

_EXECUTOR: Final = "sglang/srt/model_executor/"
_ORDERING: Final = (
    "sglang/srt/model_executor/model_runner.py",
    "sglang/srt/managers/tp_worker.py",
    "sglang/srt/managers/scheduler.py",
)
"""Files whose functions say in which order things are set up, from the innermost to the outermost."""
_GRAPHS: Final = re.compile(r"^(?:init_device_graphs|init_cuda_graphs|capture_cuda_graphs|init_decode_cuda_graph)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOrder:
    """What was found about the order."""

    ids_hold: bool | None
    """None where it is not established."""
    at: str = ""
    default_at: str = ""
    """Where the setter is called without ids before graphs are captured; empty where it is not."""
    problem: Unfollowed | None = None


def scan_graphs(index: Index) -> GraphOrder:
    """Return whether ids that a config asks for are in place when decode graphs are captured."""
    files = [*_executor_files(index), *(path for path in _ORDERING[1:] if path in index.paths)]
    functions = [(path, node) for path in files for node in _functions(index, path)]
    sites = [(path, call) for path, node in functions for call in _calls(node, {SETTER})]
    default = next((f"{path}:{call.lineno}" for path, call in sites if not call.args and "graph" in path), "")
    with_ids = [(path, call) for path, call in sites if call.args or call.keywords]
    if not with_ids:
        at = f"{sites[0][0]}:{sites[0][1].lineno}" if sites else ""
        return GraphOrder(ids_hold=False if sites else None, at=at, default_at=default)
    direct = {name for _, node in functions for name in map(_called, _calls(node, None)) if _GRAPHS.match(name)}
    capturing = _capturing(functions, direct)
    for setting, level in _levels(functions):
        for path, node in _ordered(level):
            first_ids = _first(node, {SETTER, *setting} - {node.name})
            # A direct call decides; names alone can mean a method of something else.
            first_graphs = _first(node, direct) or _first(node, capturing - setting - {node.name})
            if first_ids is not None and first_graphs is not None:
                hold = first_ids < first_graphs and not default
                return GraphOrder(ids_hold=hold, at=f"{path}:{first_ids}", default_at=default)
    reason = Unfollowed(with_ids[0][0], with_ids[0][1].lineno, "no function sets the ids and captures graphs")
    return GraphOrder(ids_hold=None, at=f"{with_ids[0][0]}:{with_ids[0][1].lineno}", default_at=default, problem=reason)


def _executor_files(index: Index) -> Iterator[str]:
    for path in sorted(index.paths):
        if path.startswith(_EXECUTOR) and (path == _ORDERING[0] or SETTER in index.text(path)):
            yield path


def _functions(index: Index, path: str) -> Iterator[FunctionNode]:
    module = index.module(path)
    if module is None:
        return
    yield from module.functions.values()
    for info in module.classes.values():
        yield from info.methods.values()


def _ordered(functions: "_Functions") -> "_Functions":
    """Return the functions of the files that order things, innermost first."""
    return sorted((entry for entry in functions if entry[0] in _ORDERING), key=lambda entry: _ORDERING.index(entry[0]))


_Functions = list[tuple[str, FunctionNode]]


def _levels(functions: _Functions) -> Iterator[tuple[set[str], _Functions]]:
    """Yield functions that come to set ids, the nearest to the setter first, with the names of all nearer ones."""
    nearer: set[str] = set()
    while True:
        level = [
            (path, node)
            for path, node in functions
            if node.name not in nearer and _first(node, {SETTER, *nearer}) is not None
        ]
        if not level:
            return
        yield set(nearer), level
        nearer |= {node.name for _, node in level if not node.name.startswith("__")}
        if all(node.name.startswith("__") for _, node in level):
            return


def _capturing(functions: _Functions, direct: set[str]) -> set[str]:
    """Return the names of functions that come to capture graphs, by themselves or through others."""
    names = set(direct)
    while True:
        more = {
            node.name
            for _, node in functions
            if node.name not in names and not node.name.startswith("__") and _first(node, names) is not None
        }
        if not more:
            return names
        names |= more


def _first(node: FunctionNode, names: set[str]) -> int | None:
    """Return the first line that calls one of the names; the setter itself only counts with ids."""
    calls = _calls(node, names)
    return min((call.lineno for call in calls if _called(call) != SETTER or call.args or call.keywords), default=None)


def _calls(node: ast.AST, names: set[str] | None) -> Iterator[ast.Call]:
    found = (entry for entry in ast.walk(node) if isinstance(entry, ast.Call))
    return (call for call in found if names is None or _called(call) in names)


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def methods_called_on_targets(index: Index) -> frozenset[str]:
    """Return which methods serving calls on a target model, from how the speculative workers name what they call."""
    pattern = re.compile(r"target_(?:worker\.model_runner\.)?model\.(\w+_embed_and_head)\(")
    files = (path for path in index.paths if path.startswith("sglang/srt/speculative/"))
    return frozenset({SETTER, *(name for path in files for name in pattern.findall(index.text(path)))})
