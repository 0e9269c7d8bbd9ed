"""Which classes a build registers as models: the `EntryClass` of every file under `models/`."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from registry.engines.scan.classes import ClassInfo, Index
from registry.engines.scan.parsing import dotted

MODELS: Final = "sglang/srt/models/"
_ENTRY: Final = re.compile(r"^EntryClass\b", re.MULTILINE)
_HEADERS: Final = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]{0,2000})\)", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_DRAFTS: Final = re.compile(r"NextN|MTP|Eagle|DFlash|DSpark|Draft|Assistant")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryClass:
    """One registered class."""

    info: ClassInfo
    file: str
    """The file that registers it, which may not be the one that defines it."""


def model_files(index: Index) -> tuple[str, ...]:
    """Return the files that can hold model classes, sorted."""
    return tuple(sorted(path for path in index.paths if path.startswith(MODELS)))


def is_draft_name(name: str) -> bool:
    """Tell by its name whether a class is a draft model rather than a target."""
    return _DRAFTS.search(name) is not None


def entry_classes(index: Index, files: tuple[str, ...]) -> Iterator[EntryClass]:
    """Yield the registered classes of some files."""
    for path in files:
        module = index.module(path) if _ENTRY.search(index.text(path)) else None
        if module is None or "EntryClass" not in module.values:
            continue
        for name in _names(module.values["EntryClass"]):
            info = index.find_class(path, name)
            if info is not None:
                yield EntryClass(info=info, file=path)


def entry_names(text: str) -> tuple[str, ...]:
    """Return the names that a file registers, from its text alone."""
    match = re.search(r"^EntryClass\b[^=\n]*=\s*(\[[^\]]*\]|\([^)]*\)|\w+)", text, re.MULTILINE)
    return tuple(_WORD.findall(re.sub(r"#[^\n]*", "", match[1]))) if match else ()


def _names(node: ast.expr) -> list[str]:
    nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    return [name for name in (dotted(entry) for entry in nodes) if name]


def concerned(index: Index, files: tuple[str, ...], word: str) -> tuple[str, ...]:
    """Return the files whose classes may have a method: it is written there, or a base of a class there has it.

    By text alone, so that only these need to be parsed. Names of classes decide; a class of the same name elsewhere
    makes one file too many, never one too few.
    """
    bases = {path: list(_HEADERS.findall(index.text(path))) for path in files}
    chosen = {path for path in files if word in index.text(path)}
    names = {name for path in chosen for name, _ in bases[path]}
    while True:
        more = {
            path for path in set(files) - chosen if any(names & set(_WORD.findall(base)) for _, base in bases[path])
        }
        if not more:
            return tuple(sorted(chosen))
        chosen |= more
        names |= {name for path in more for name, _ in bases[path]}
