"""Writing profiles: one file per build, and the index with their digests."""

import json
from pathlib import Path
from typing import Any

from registry.documents.engine_profile import digest_of, render
from registry.domain.profile import Profile
from tools.profiles_from_facts import overlay, sglang_facts, vllm_facts
from tools.profiles_from_facts.rows import read_rows

INDEX = "index.json"
_INDEX_SCHEMA = "roost.engine-profile-index/1"
_WIDTH = 118


def every_profile(facts: Path) -> tuple[Profile, ...]:
    """Return the profile of every shipped build, made from the facts in a folder.

    Raises:
        FactsError: a row contradicts its own examples, or a needed row is missing.
    """
    sglang = sglang_facts.profiles(read_rows(facts / "sglang.json"))
    vllm = vllm_facts.profiles(read_rows(facts / "vllm.json"))
    return (*overlay.complete(sglang), *vllm)


def write(profiles: tuple[Profile, ...], out: Path) -> dict[str, int]:
    """Write the profiles and their index to `out`; return the number of target classes per build."""
    out.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    for profile in profiles:
        document = render(profile)
        file = f"{profile.engine}-{profile.version}.json"
        (out / file).write_text(_text(document) + "\n", encoding="utf-8")
        line = {"engine": profile.engine, "version": profile.version, "file": file, "digest": digest_of(document)}
        lines.append(line | ({"upstream": profile.upstream} if profile.upstream else {}))
    index = {"schema": _INDEX_SCHEMA, "set_digest": digest_of({"profiles": lines}), "profiles": lines}
    (out / INDEX).write_text(_text(index) + "\n", encoding="utf-8")
    return {profile.build: len(profile.targets) for profile in profiles}


def _text(value: Any, indent: int = 0) -> str:
    """Lay JSON out for reading and for diffs: what fits on a line stays on it."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= _WIDTH or not isinstance(value, dict | list):
        return line
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        inner = ",\n".join(f"{pad}{json.dumps(key)}: {_text(held, indent + 1)}" for key, held in value.items())
        return f"{{\n{inner}\n{' ' * indent}}}"
    inner = ",\n".join(pad + _text(held, indent + 1) for held in value)
    return f"[\n{inner}\n{' ' * indent}]"
