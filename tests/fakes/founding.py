"""The founding case as requests: what a client uploads and sends to register it."""

import copy
import hashlib
import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

_ONES = b"\x80\x3f" * 16
"""Sixteen times 1.0 in BF16."""

_PATH = Path(__file__).parents[2] / "tools" / "founding_case.py"


def founding_tool() -> ModuleType:
    """Return `tools/founding_case.py`, which is a script and not part of a package."""
    if "founding_case" not in sys.modules:
        spec = importlib.util.spec_from_file_location("founding_case", _PATH)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["founding_case"] = module
        spec.loader.exec_module(module)
    return sys.modules["founding_case"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Founding:
    """Everything that registering the founding case takes."""

    target: dict[str, Any]
    """The body of POST /v1/targets."""
    provenance: dict[str, Any]
    files: Mapping[str, bytes]
    """The drafter's files by name."""
    sources: Mapping[str, bytes]
    """The dump patch."""

    @property
    def blobs(self) -> tuple[bytes, ...]:
        return (*self.files.values(), *self.sources.values())

    def body(self, name: str, **changes: Any) -> dict[str, Any]:
        """Return the body of POST /v1/checkpoints; `changes` replace members."""
        made = {
            "schema": "roost.registration/1",
            "name": name,
            "provenance": copy.deepcopy(self.provenance),
            "files": entries(self.files),
            "sources": entries(self.sources),
        }
        return {**made, **changes}

    def with_file(self, name: str, data: bytes) -> "Founding":
        """Return the same case with one file more, or another content in its place."""
        return Founding(
            target=self.target, provenance=self.provenance, files={**self.files, name: data}, sources=self.sources
        )

    def with_weights(self, salt: int) -> "Founding":
        """Return the same case with other weights: two scales of a norm, all of them 1.0, differ."""
        weights = bytearray(self.files["model.safetensors"])
        place = weights.index(_ONES)
        weights[place : place + 4] = (0x3F003F00 + salt).to_bytes(4, "little")
        return self.with_file("model.safetensors", bytes(weights))


def founding(directory: Path, **shape: Any) -> Founding:
    """Write the founding case below `directory` and return what a client would send of it."""
    case = founding_tool().write_founding_case(directory, **shape)
    provenance = json.loads(case.provenance.read_text())
    target = {
        "schema": "roost.target/1",
        "name": provenance["target"]["name"],
        "revision": provenance["target"]["revision"],
        "digest": provenance["target"]["digest"],
        "tokenizer_digest": provenance["tokenizer_digest"],
        "chat_template_digest": provenance["chat_template_digest"],
        "config": json.loads(case.target_config.read_text()),
    }
    return Founding(
        target=target,
        provenance=provenance,
        files={path.name: path.read_bytes() for path in sorted(case.drafter.iterdir())},
        sources={case.dump_patch.name: case.dump_patch.read_bytes()},
    )


def entries(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return files as documents list them."""
    return [{"name": name, "size": len(data), "sha256": sha256(data)} for name, data in files.items()]


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
