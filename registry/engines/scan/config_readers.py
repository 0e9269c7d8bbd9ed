"""Where the target's runner reads layer ids from a draft config, and what it makes of malformed ones.

The statements around the key are followed on probe configs: a `try` that decides by exceptions, in every version seen.
"""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from registry.engines.scan.classes import Index
from registry.engines.scan.evaluator import Evaluator
from registry.engines.scan.limits import Budget, Raised, Unfollowed
from registry.engines.scan.scope import Scope
from registry.engines.scan.values import Instance, Opaque, Value

_KEY: Final = "eagle_aux_hidden_state_layer_ids"
_SWITCH: Final = "use_aux_hidden_state"
_PLACES: Final = ("sglang/srt/model_executor/model_runner.py", "sglang/srt/model_executor/model_runner_components/")

NESTED: Final = f"/eagle_config/{_KEY}"
TOP_LEVEL: Final = f"/{_KEY}"
_IDS: Final = [4, 9, 20]
_OTHERS: Final = [5, 10, 21]

MALFORMED: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"eagle_config": None},
    {"eagle_config": [1, 2]},
    {"eagle_config": {}},
    {"eagle_config": {_KEY: None}},
    {"eagle_config": {_KEY: "1,2"}},
    {"eagle_config": {"eagle_aux_hidden_state_layers_ids": _IDS}},
    {"eagle_config": {_KEY: _IDS, _SWITCH: "false"}},
)
"""Configs that hold no ids, or not as they should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReader:
    """What a build's runner reads."""

    pointers: tuple[str, ...] = ()
    """Where ids are looked for, in order of precedence."""
    capture_off: str | None = None
    empty_ids: str = "default"
    at: str = ""
    malformed: tuple[dict[str, Any], ...] = ()
    """Per malformed config, the ids and the switch that the runner ends up with, or what it raises."""
    problem: Unfollowed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    path: str
    line: int
    statements: list[ast.stmt]


def scan_config_reader(index: Index) -> ConfigReader:
    """Return where ids are read; a reader without pointers where the build reads none."""
    block = next(_blocks(index), None)
    if block is None:
        return ConfigReader(at=_PLACES[0] if _PLACES[0] in index.paths else "")
    at = f"{block.path}:{block.line}"
    try:
        return _read(index, block, at)
    except Unfollowed as reason:
        return ConfigReader(at=at, problem=reason)


def _read(index: Index, block: _Block, at: str) -> ConfigReader:
    def result(config: dict[str, Any]) -> dict[str, Any]:
        return _run(index, block, config)

    nested: dict[str, Any]
    top: dict[str, Any]
    nested, top = {"eagle_config": {_KEY: _IDS}}, {_KEY: _OTHERS}
    used = [
        name for name, config in ((NESTED, nested), (TOP_LEVEL, top)) if result(config).get("ids") in (_IDS, _OTHERS)
    ]
    if len(used) > 1 and result(nested | top).get("ids") == _OTHERS:
        used.reverse()
    off = (
        (f"/eagle_config/{_SWITCH}", {"eagle_config": {_KEY: _IDS, _SWITCH: False}}),
        (f"/{_SWITCH}", nested | {_SWITCH: False}),
    )
    empty = result({"eagle_config": {_KEY: []}}) if NESTED in used else result({_KEY: []})
    return ConfigReader(
        pointers=tuple(used),
        capture_off=next((pointer for pointer, config in off if result(config).get("capture") is False), None),
        empty_ids="nothing" if empty.get("ids") == [] else "default",
        at=at,
        malformed=tuple({"config": config, **result(config)} for config in MALFORMED),
    )


def _blocks(index: Index) -> Iterator[_Block]:
    """Yield the statements that read the key: a `try` and, before it, the assignments that it corrects."""
    for path in sorted(index.paths):
        if not path.startswith(_PLACES) or _KEY not in index.text(path):
            continue
        module = index.module(path)
        for holder in ast.walk(module.tree) if module else ():
            yield from (_Block(path=path, line=line, statements=found) for line, found in _trying(holder))


def _trying(holder: ast.AST) -> Iterator[tuple[int, list[ast.stmt]]]:
    blocks = (getattr(holder, "body", None), getattr(holder, "orelse", None))
    for body in (block for block in blocks if isinstance(block, list)):
        for place, statement in enumerate(body):
            if isinstance(statement, ast.Try) and any(_names_key(entry) for entry in statement.body):
                before = [entry for entry in body[:place] if isinstance(entry, ast.Assign) and _sets_flag(entry)]
                yield statement.lineno, [*before, statement]


def _names_key(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and any(
        isinstance(entry, ast.Constant) and entry.value == _KEY for entry in ast.walk(statement)
    )


def _sets_flag(statement: ast.Assign) -> bool:
    return isinstance(statement.value, ast.Constant) and any(
        isinstance(target, ast.Attribute) and target.attr.endswith(_SWITCH) for target in statement.targets
    )


def _run(index: Index, block: _Block, config: dict[str, Any]) -> dict[str, Any]:
    """Follow the statements on one draft config.

    Raises:
        Unfollowed: something in them is not followed.
    """
    result = Instance(label="runner", rest="open")
    held = Instance(label="draft config", attrs=deepcopy(config))
    draft = Instance(label="draft model config", attrs={"hf_config": held}, rest="open")
    names: dict[str, Value] = {}
    for statement in block.statements:
        for entry in ast.walk(statement):
            if isinstance(entry, ast.Attribute) and isinstance(entry.value, ast.Name):
                names.setdefault(entry.value.id, draft if entry.attr == "hf_config" else result)
    local = {"eagle_config", "logger"}
    scope = Scope(path=block.path, names={name: value for name, value in names.items() if name not in local})
    scope.names["logger"] = Opaque("logger")
    try:
        Evaluator(index, budget=Budget(steps=5_000)).run_statements(deepcopy(block.statements), scope)
    except Raised as raised:
        return {"raises": str(raised)}
    held_names = {**scope.names, **result.attrs}
    ids = next((value for name, value in held_names.items() if name.endswith(_KEY)), None)
    capture = next((value for name, value in held_names.items() if name.endswith(_SWITCH)), True)
    return {"ids": ids, "capture": bool(capture) if not isinstance(capture, Opaque) else True}
