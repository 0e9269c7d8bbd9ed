"""From text to a syntax tree, for texts of any origin: what cannot be parsed is an `Unfollowed`, never a crash."""

import ast
import warnings

from registry.engines.scan.limits import LARGEST_TEXT, Unfollowed


def parse_text(path: str, text: str) -> ast.Module:
    """Return the tree of one file.

    Python's parser bounds its own depth and refuses what is nested beyond it; that refusal is caught here.

    Raises:
        Unfollowed: the text is too large, nested too deeply, or not Python.
    """
    if len(text) > LARGEST_TEXT:
        raise Unfollowed(path, 0, f"the file has {len(text)} characters; at most {LARGEST_TEXT} are parsed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in somebody else's docstrings
            return ast.parse(text)
    except SyntaxError as error:
        raise Unfollowed(path, error.lineno or 0, f"not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unfollowed(path, 0, f"cannot be parsed: {type(error).__name__}: nested too deeply or malformed") from None


def dotted(node: ast.expr) -> str | None:
    """Return `a.b.c` for a chain of names and attributes, or None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))
