"""The few functions from outside an engine whose results are known: they only pass values on or rewrite a name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from registry.engines.scan.values import Value

UNKNOWN: Final = object()

_LITERAL: Final = re.compile(r"^(\^?)((?:[\w/-]|\\\.)+)$")
_PLAIN: Final = re.compile(r"^[\w./-]*$")


def answer(label: str, args: list[Value]) -> Any:
    """Return the result of a call, or `UNKNOWN`.

    Only patterns that are a literal, perhaps at the start, are rewritten: a regular expression of unknown origin can
    run for ever.
    """
    name = label.rpartition(".")[2]
    if name == "cast" and len(args) == 2:  # noqa: PLR2004  # a type and a value
        return args[1]
    if name in ("deepcopy", "copy") and len(args) == 1 and hasattr(args[0], "attrs") and hasattr(args[0], "cls"):
        return replace(args[0], attrs=dict(args[0].attrs))
    if label == "re.sub" and len(args) == 3 and all(isinstance(arg, str) for arg in args):  # noqa: PLR2004
        return _rewritten(*args)
    return UNKNOWN


def _rewritten(pattern: str, new: str, text: str) -> Any:
    literal = _LITERAL.match(pattern)
    if literal is None or not _PLAIN.match(new) or len(text) + len(new) > 1000:  # noqa: PLR2004  # a tensor's name
        return UNKNOWN
    old = literal[2].replace("\\.", ".")
    if not literal[1]:
        return text.replace(old, new) if len(new) <= len(old) * 4 else UNKNOWN
    return new + text.removeprefix(old) if text.startswith(old) else text
