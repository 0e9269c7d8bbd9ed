"""Launch options of speculative decoding with their defaults, and what starting up does."""

import ast
import re
from collections.abc import Iterator
from typing import Any, Final

from registry.domain.profile import LaunchFacts
from registry.engines.scan.classes import Index
from registry.engines.scan.parsing import dotted

_PLACES: Final = ("sglang/srt/arg_groups/fields/spec.py", "sglang/srt/server_args.py")
_SERVER: Final = "sglang/srt/entrypoints/http_server.py"


def scan_options(index: Index) -> dict[str, dict[str, Any]]:
    """Return the options whose name begins with `speculative`: default, choices where listed, file and line."""
    options: dict[str, dict[str, Any]] = {}
    for path in _PLACES:
        for name, entry in _fields(index, path):
            options.setdefault(name, entry)
    for name, choices in _choices(index):
        if name in options:
            options[name]["choices"] = choices
    return dict(sorted(options.items()))


def _fields(index: Index, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    module = index.module(path) if path in index.paths else None
    for info in module.classes.values() if module else ():
        for node in info.node.body:
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            name = node.target.id
            if name.startswith("speculative_"):
                entry = {"default": _default(node.value), "at": f"{path}:{node.lineno}"}
                yield "--" + name.replace("_", "-"), entry | _named_algorithms(name, node)


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return "required"
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | int | float | bool)):
        return node.value
    return f"computed: {dotted(node) or type(node).__name__}"


def _named_algorithms(name: str, node: ast.AnnAssign) -> dict[str, list[str]]:
    """Return the algorithms that the option's help names, where there is no list of choices."""
    if name != "speculative_algorithm":
        return {}
    texts = [entry.value for entry in ast.walk(node.annotation) if isinstance(entry, ast.Constant)]
    named = [word for text in texts if isinstance(text, str) for word in re.findall(r"\b[A-Z][A-Z0-9]{2,}\b", text)]
    return {"named": list(dict.fromkeys(named))} if named else {}


def _choices(index: Index) -> Iterator[tuple[str, list[str]]]:
    module = index.module(_PLACES[1]) if _PLACES[1] in index.paths else None
    for node in ast.walk(module.tree) if module else ():
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "add_argument" or not node.args:
            continue
        option = node.args[0]
        listed = next((entry.value for entry in node.keywords if entry.arg == "choices"), None)
        if isinstance(option, ast.Constant) and isinstance(option.value, str) and isinstance(listed, ast.List):
            values = [entry.value for entry in listed.elts if isinstance(entry, ast.Constant)]
            yield option.value, [value for value in values if isinstance(value, str)]


def scan_launch(index: Index) -> tuple[LaunchFacts, str]:
    """Return what launching needs, and where the pass before healthy was found (empty where there is none)."""
    warmup = _ending_warmup(index)
    skips = any("skip_server_warmup" in index.text(path) for path in _with_options(index))
    facts = LaunchFacts(
        algorithm="EAGLE3",
        startup_pass=bool(warmup),
        skip_startup_pass="--skip-server-warmup" if warmup and skips else None,
    )
    return facts, warmup


def _with_options(index: Index) -> Iterator[str]:
    return (path for path in index.paths if path == _PLACES[1] or path.startswith("sglang/srt/arg_groups/fields/"))


def _ending_warmup(index: Index) -> str:
    """Return where a warm-up request is made whose failure ends the process."""
    module = index.module(_SERVER) if _SERVER in index.paths else None
    for node in module.functions.values() if module else ():
        if "warmup" in node.name and any(
            isinstance(entry, ast.Call) and (dotted(entry.func) or "").endswith("kill_process_tree")
            for entry in ast.walk(node)
        ):
            return f"{_SERVER}:{node.lineno}"
    return ""


def eager_option(index: Index) -> tuple[str | None, str]:
    """Return the option that turns decode graphs off, and where it is defined."""
    word = "--disable-cuda-graph"
    path = _PLACES[1]
    for number, line in enumerate(index.text(path).split("\n") if path in index.paths else (), start=1):
        if f'"{word}"' in line:
            return word, f"{path}:{number}"
    return None, ""
