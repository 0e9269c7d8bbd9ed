"""An index of modules, classes and functions by name: through imports and base classes, each file parsed on demand."""

import ast
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from registry.engines.scan.limits import Unfollowed
from registry.engines.scan.parsing import dotted, parse_text
from registry.engines.scan.sources import Sources

_NAMES_KEPT: Final = 20_000
_TREES_KEPT: Final = 200
"""Parsed files held at once. A release needs about 220 in all: with 200 kept a scan takes 250 MB and parses hardly any
file twice; with 80 it takes 200 MB and half as long again."""
_LONGEST_LINEAGE: Final = 60

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a name stands for in a module."""

    kind: Literal["class", "function", "value", "module", "external"]
    path: str
    """The module that defines it; for `module` that module itself, for `external` the dotted name."""
    name: str = ""
    node: ast.AST | None = None


@dataclass(kw_only=True)
class ClassInfo:
    """One class as its module writes it."""

    name: str
    path: str
    node: ast.ClassDef
    bases: tuple[str, ...]
    """Dotted names, in order, as written."""
    methods: Mapping[str, FunctionNode]
    values: Mapping[str, ast.expr]
    """Class attributes that are assigned once in the body."""
    earlier: "ClassInfo | None" = None
    """A class of the same name that stood before this one in the module: a base of that name means it."""

    @cached_property
    def at(self) -> str:
        """File and line."""
        return f"{self.path}:{self.node.lineno}"

    def __hash__(self) -> int:
        return hash((self.path, self.node.lineno, self.name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassInfo) and (self.path, self.node.lineno) == (other.path, other.node.lineno)


@dataclass(kw_only=True)
class Module:
    """One parsed file."""

    path: str
    tree: ast.Module
    classes: dict[str, ClassInfo] = field(default_factory=dict)
    functions: dict[str, FunctionNode] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """Local name -> (dotted module, name in it or None for the module itself)."""
    values: dict[str, ast.expr] = field(default_factory=dict)
    """Top-level names that are assigned; the last assignment wins."""


class Index:
    """Names of one build. Files are parsed when something in them is asked for."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.paths = frozenset(sources.paths())
        self.unparsed: dict[str, Unfollowed] = {}
        """Files that could not be read or parsed, each with the reason."""
        self._modules: OrderedDict[str, Module] = OrderedDict()
        self._resolved: dict[tuple[str, str], Found | None] = {}
        self._lineages: dict[ClassInfo, tuple[ClassInfo, ...]] = {}

    def text(self, path: str) -> str:
        """Return the text of a file, or an empty one where it cannot be read; the reason is kept in `unparsed`."""
        try:
            return self.sources.text(path)
        except (KeyError, ValueError) as error:
            self.unparsed.setdefault(path, Unfollowed(path, 0, f"cannot be read: {error}"))
            return ""

    def module(self, path: str) -> Module | None:
        """Return the parsed file, or None where there is none or it cannot be parsed."""
        if path in self._modules:
            self._modules.move_to_end(path)
            return self._modules[path]
        if path not in self.paths or path in self.unparsed:
            return None
        try:
            module = _outlined(path, parse_text(path, self.text(path)))
        except Unfollowed as reason:
            self.unparsed[path] = reason
            return None
        self._modules[path] = module
        if len(self._modules) > _TREES_KEPT:
            self._modules.popitem(last=False)
        return module

    def find_class(self, path: str, name: str) -> ClassInfo | None:
        """Return the class that a dotted name stands for in a module, or None."""
        found = self.resolve(path, name)
        return self._class(found) if found is not None and found.kind == "class" else None

    def _class(self, found: Found) -> ClassInfo | None:
        module = self.module(found.path)
        return module.classes.get(found.name) if module else None

    def resolve(self, path: str, name: str) -> Found | None:
        """Return what a dotted name stands for in a module; None where the module does not say."""
        key = (path, name)
        if key not in self._resolved:
            if len(self._resolved) >= _NAMES_KEPT:
                self._resolved.clear()
            self._resolved[key] = self._resolve(path, name)
        return self._resolved[key]

    def _resolve(self, path: str, name: str) -> Found | None:
        head, _, rest = name.partition(".")
        found = self._resolve_plain(path, head, hops=0)
        while found is not None and rest:
            if found.kind == "external":
                return self._below(f"{found.path}.{rest}")
            if found.kind != "module":
                return None
            head, _, rest = rest.partition(".")
            found = self._resolve_plain(found.path, head, hops=0) or self._submodule(found.path, head)
        return found

    def _below(self, dotted_name: str) -> Found:
        """Return what a dotted name stands for below a package that has no file of its own in the build."""
        module, _, name = dotted_name.rpartition(".")
        path = self.module_path(module) if module else None
        found = self._resolve_plain(path, name, hops=0) if path else None
        return found or Found(kind="external", path=dotted_name)

    def _resolve_plain(self, path: str, name: str, *, hops: int) -> Found | None:
        module = self.module(path)
        if module is None or hops > 10:  # noqa: PLR2004  # re-exports of re-exports; more is a loop
            return None
        if name in module.classes:
            return Found(kind="class", path=path, name=name, node=module.classes[name].node)
        if name in module.functions:
            return Found(kind="function", path=path, name=name, node=module.functions[name])
        if name in module.imports:
            return self._imported(*module.imports[name], hops=hops)
        if name in module.values:
            return Found(kind="value", path=path, name=name, node=module.values[name])
        return None

    def _imported(self, dotted_module: str, name: str | None, *, hops: int) -> Found:
        path = self.module_path(dotted_module)
        whole = f"{dotted_module}.{name}" if name else dotted_module
        if name is None:
            return Found(kind="module", path=path) if path else Found(kind="external", path=whole)
        if path is not None:
            found = self._resolve_plain(path, name, hops=hops + 1)
            if found is not None:
                return found
        submodule = self.module_path(whole)
        return Found(kind="module", path=submodule) if submodule else Found(kind="external", path=whole)

    def _submodule(self, path: str, name: str) -> Found | None:
        if not path.endswith("/__init__.py"):
            return None
        inner = self.module_path(path.removesuffix("/__init__.py").replace("/", ".") + f".{name}")
        return Found(kind="module", path=inner) if inner else None

    def module_path(self, dotted_module: str) -> str | None:
        """Return the path of a module by its dotted name, or None where this build does not have it."""
        stem = dotted_module.replace(".", "/")
        return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in self.paths), None)

    def lineage(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """Return the class and its bases that this build defines, in the order in which attributes are looked up.

        Depth first, each class at its last place: the same as Python's own order wherever bases form a tree or a
        diamond, which is all that model files have.
        """
        if info not in self._lineages:
            order: list[ClassInfo] = []
            self._climb(info, order, depth=0)
            last = {entry: place for place, entry in enumerate(order)}
            self._lineages[info] = tuple(entry for place, entry in enumerate(order) if last[entry] == place)
        return self._lineages[info]

    def _climb(self, info: ClassInfo, order: list[ClassInfo], *, depth: int) -> None:
        if depth > _LONGEST_LINEAGE or len(order) > _LONGEST_LINEAGE:
            return
        order.append(info)
        for base in self.bases(info):
            if base != info:
                self._climb(base, order, depth=depth + 1)

    def bases(self, info: ClassInfo) -> Iterator[ClassInfo]:
        """Yield the direct bases of a class that this build defines."""
        for name in info.bases:
            if name == info.name:
                earlier = info.earlier or self._shadowed(info)
                if earlier is not None:
                    yield earlier
                continue
            base = self.find_class(info.path, name)
            if base is not None:
                yield base

    def _shadowed(self, info: ClassInfo) -> ClassInfo | None:
        """Return the imported class that a class of the same name derives from."""
        module = self.module(info.path)
        if module is None or info.name not in module.imports:
            return None
        found = self._imported(*module.imports[info.name], hops=0)
        return self._class(found) if found.kind == "class" else None

    def external_bases(self, info: ClassInfo) -> bool:
        """Tell whether a class has bases beyond `object` that this build does not define."""
        return any(
            name not in ("object", "ABC") and self.find_class(entry.path, name) is None
            for entry in self.lineage(info)
            for name in entry.bases
        )

    def method(self, info: ClassInfo, name: str) -> tuple[ClassInfo, FunctionNode] | None:
        """Return the class that defines a method for `info`, and the method; None where nothing does."""
        return next(((entry, entry.methods[name]) for entry in self.lineage(info) if name in entry.methods), None)


def _outlined(path: str, tree: ast.Module) -> Module:
    module = Module(path=path, tree=tree)
    for statement in _top_level(tree.body):
        _note(module, statement)
    return module


def _top_level(body: list[ast.stmt], depth: int = 0) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under `if` and `try` too: imports and definitions hide there."""
    for statement in body:
        yield statement
        if depth < 4:  # noqa: PLR2004  # deeper ones are not definitions of a module
            for block in _blocks(statement):
                yield from _top_level(block, depth + 1)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.If):
        yield from (statement.body, statement.orelse)
    elif isinstance(statement, ast.Try):
        yield statement.body
        yield from (handler.body for handler in statement.handlers)
        yield from (statement.orelse, statement.finalbody)


def _note(module: Module, statement: ast.stmt) -> None:
    if isinstance(statement, ast.ClassDef):
        info = _class_info(module.path, statement)
        info.earlier = module.classes.get(statement.name)
        module.classes[statement.name] = info
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        module.functions[statement.name] = statement
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        module.imports.update(imported_names(module.path, statement))
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                module.values[target.id] = statement.value
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        module.values[statement.target.id] = statement.value


def _class_info(path: str, node: ast.ClassDef) -> ClassInfo:
    values: dict[str, ast.expr] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            values.update({target.id: statement.value for target in statement.targets if isinstance(target, ast.Name)})
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            values[statement.target.id] = statement.value
    bases = (dotted(base) for base in node.bases)
    return ClassInfo(
        name=node.name,
        path=path,
        node=node,
        bases=tuple(base for base in bases if base),
        methods={entry.name: entry for entry in node.body if isinstance(entry, FunctionNode)},
        values=values,
    )


def imported_names(path: str, statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Yield the local names that an import binds, each with the dotted module and the name in it."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield (alias.asname, (alias.name, None)) if alias.asname else _package(alias.name)
        return
    base = _absolute(path, statement)
    for alias in statement.names:
        yield alias.asname or alias.name, (base, alias.name)


def _package(name: str) -> tuple[str, tuple[str, None]]:
    head = name.partition(".")[0]
    return head, (head, None)


def _absolute(path: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    folders = path.removesuffix(".py").removesuffix("/__init__").split("/")
    up = statement.level - 1 if path.endswith("/__init__.py") else statement.level
    parent = folders[: len(folders) - up] if up else folders
    return ".".join([*parent, *((statement.module or "").split(".") if statement.module else [])])
