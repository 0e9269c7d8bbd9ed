"""Where the speculative workers ask for hidden states, and how many: `CaptureHiddenMode` by function."""

import ast
from collections.abc import Iterator
from typing import Final

from registry.engines.scan.classes import FunctionNode, Index

_FOLDER: Final = "sglang/srt/speculative/"
_ENUM: Final = "CaptureHiddenMode"


def scan_hidden_modes(index: Index) -> list[dict[str, str]]:
    """Return the modes that functions of the EAGLE workers name: function, mode, file and line."""
    found = [
        {"function": name, "mode": mode, "at": f"{path}:{line}"}
        for path in sorted(index.paths)
        if path.startswith(f"{_FOLDER}eagle") and _ENUM in index.text(path)
        for name, node in _functions(index, path)
        for mode, line in _modes(node)
    ]
    unique = {(entry["function"], entry["mode"]): entry for entry in reversed(found)}
    return [unique[key] for key in sorted(unique)]


def _functions(index: Index, path: str) -> Iterator[tuple[str, FunctionNode]]:
    module = index.module(path)
    if module is None:
        return
    yield from module.functions.items()
    for info in module.classes.values():
        yield from ((f"{info.name}.{name}", node) for name, node in info.methods.items())


def _modes(node: FunctionNode) -> Iterator[tuple[str, int]]:
    for entry in ast.walk(node):
        if isinstance(entry, ast.Attribute) and isinstance(entry.value, ast.Name) and entry.value.id == _ENUM:
            yield entry.attr, entry.lineno
