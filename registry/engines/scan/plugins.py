"""How a build takes code from outside: packages of models, and entry points."""

import re
from collections.abc import Iterator
from typing import Final

from registry.engines.scan.classes import Index

_MODELS: Final = "SGLANG_EXTERNAL_MODEL_PACKAGE"
_REGISTRY: Final = "sglang/srt/models/registry.py"
_GROUP: Final = re.compile(r"""["'](sglang\.srt\.plugins)["']""")


def scan_plugins(index: Index) -> Iterator[dict[str, str]]:
    """Yield each mechanism: its kind, the name that it goes by, file and line."""
    for path in (_REGISTRY, "sglang/srt/environ.py"):
        at = _line(index, path, re.compile(_MODELS))
        if at:
            yield {"kind": "model_package", "name": _MODELS, "at": at}
            break
    for path in sorted(path for path in index.paths if path.startswith("sglang/srt/plugins/")):
        at = _line(index, path, _GROUP)
        if at:
            yield {"kind": "entry_points", "name": "sglang.srt.plugins", "at": at}
            return


def _line(index: Index, path: str, pattern: re.Pattern[str]) -> str:
    if path not in index.paths:
        return ""
    for number, line in enumerate(index.text(path).split("\n"), start=1):
        if pattern.search(line):
            return f"{path}:{number}"
    return ""
