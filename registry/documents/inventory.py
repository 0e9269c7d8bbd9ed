"""An inventory as the store keeps it: plain JSON, written by `render` and read by `parse`.

This is a stored shape and never a document that somebody sends, so it has no schema: the registry wrote every value
from bytes that it read itself.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from registry.domain.digests import Digest
from registry.domain.tensors import Inventory, StoredFile, Tensor, VocabMap


def render(inventory: Inventory) -> dict[str, object]:
    """Return an inventory as JSON values; `parse` gives it back equal."""
    return {
        "files": [_render_file(file) for file in inventory.files],
        "ignored": list(inventory.ignored),
        "tensors": [_render_tensor(tensor) for tensor in inventory.tensors],
        "config": dict(inventory.config),
        "vocab_map": None if inventory.vocab_map is None else asdict(inventory.vocab_map),
        "weights_digest": inventory.weights_digest,
        "tokenizer_digest": inventory.tokenizer_digest,
        "chat_template_digest": inventory.chat_template_digest,
        "python_files": list(inventory.python_files),
    }


def parse(document: Mapping[str, object]) -> Inventory:
    """Read what `render` wrote.

    Raises:
        KeyError: a member is missing that `render` always writes.
    """
    stored = cast("Mapping[str, Any]", document)
    vocab_map = stored["vocab_map"]
    return Inventory(
        files=tuple(StoredFile(**file) for file in stored["files"]),
        ignored=tuple(stored["ignored"]),
        tensors=tuple(_parse_tensor(*row) for row in stored["tensors"]),
        config=stored["config"],
        vocab_map=None if vocab_map is None else VocabMap(**vocab_map),
        weights_digest=stored["weights_digest"],
        tokenizer_digest=stored["tokenizer_digest"],
        chat_template_digest=stored["chat_template_digest"],
        python_files=tuple(stored["python_files"]),
    )


def _render_file(file: StoredFile) -> dict[str, object]:
    return {"name": file.name, "size": file.size, "sha256": file.sha256, "role": file.role}


def _render_tensor(tensor: Tensor) -> list[object]:
    # A row instead of an object: a checkpoint can have thousands of tensors, and their keys would be most of the bytes.
    return [tensor.name, tensor.dtype, list(tensor.shape), tensor.digest, tensor.file]


def _parse_tensor(name: str, dtype: str, shape: list[int], digest: Digest | None, file: str) -> Tensor:
    return Tensor(name=name, dtype=dtype, shape=tuple(shape), digest=digest, file=file)
