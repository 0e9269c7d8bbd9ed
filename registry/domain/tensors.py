"""What a drafter's files hold, as facts: tensors by name, dtype and shape, and what its vocabulary map says.

Only the values of `d2t` and `t2d` are ever interpreted; every other tensor is a name, a dtype, a shape and a digest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.domain.digests import Digest

DTYPE_BITS: Mapping[str, int] = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64, "C64": 64,
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
"""Bits per element of each safetensors dtype (safetensors 0.8 `Dtype`); sub-byte types pack without padding."""


def bare_name(name: str) -> str:
    """Return a tensor's name without the `model.` that some exporters put before it."""
    return name.removeprefix("model.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor of a checkpoint."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: Digest | None = None
    """BLAKE3 of the tensor's bytes; None where only headers were read."""
    file: str = ""
    """The file that holds it, relative to the drafter directory; not part of the weights' identity."""

    @property
    def bare_name(self) -> str:
        """The name without the `model.` that some exporters put before it."""
        return bare_name(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabMap:
    """What the values of `d2t` and `t2d` say. `rows` is the length of `d2t`.

    `d2t` holds offsets: target id = draft id + d2t[draft id] (SGLang 0.4.5 on, vLLM, SafeAILab EAGLE-3).
    """

    rows: int
    offset_min: int
    """Smallest target id when read as offsets."""
    offset_max: int
    """Largest target id when read as offsets."""
    offset_increasing: bool
    """Target ids strictly increase when read as offsets."""
    absolute_min: int
    absolute_max: int
    absolute_increasing: bool
    """The values themselves strictly increase: an absolute table, unless they are read as offsets too."""
    all_zero: bool
    """Every offset is 0: draft id k is target id k."""
    t2d_rows: int | None = None
    t2d_true: int | None = None
    """Entries of `t2d` that are true."""
    t2d_agrees: bool | None = None
    """The true entries of `t2d` are exactly the target ids of `d2t` read as offsets; None where there is no t2d."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One file of a checkpoint: its name relative to the directory, size in bytes and SHA-256."""

    name: str
    size: int
    sha256: Digest
    role: str
    """`config`, `weights`, `index`, `tokenizer` or `template`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Everything read from a drafter directory, with no judgment in it."""

    files: tuple[StoredFile, ...]
    ignored: tuple[str, ...] = ()
    """Names that are not taken: not config, weights, index, tokenizer or template."""
    tensors: tuple[Tensor, ...] = ()
    """Sorted by name."""
    config: Mapping[str, object] = field(default_factory=dict)
    """`config.json` as found."""
    vocab_map: VocabMap | None = None
    weights_digest: Digest | None = None
    tokenizer_digest: Digest | None = None
    chat_template_digest: Digest | None = None
    python_files: tuple[str, ...] = ()
    """Names of .py files beside the config: code that `auto_map` could name."""

    def find(self, name: str) -> Tensor | None:
        """Return the tensor whose bare name is `name`, or None."""
        return next((tensor for tensor in self.tensors if tensor.bare_name == name), None)

    @property
    def stored_layers(self) -> int:
        """How many decoder layers the tensors make up."""
        names = [tensor.bare_name for tensor in self.tensors]
        numbered = {name.split(".")[1] for name in names if name.startswith("layers.")}
        return len(numbered) or int(any(name.startswith("midlayer.") for name in names))
