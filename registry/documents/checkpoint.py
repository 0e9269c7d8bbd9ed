"""`roost.checkpoint/1`: one registered version of a drafter, as answers show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from registry.documents import fields, provenance
from registry.documents.canonical import plain
from registry.documents.fields import Fields, present
from registry.documents.validation import validated
from registry.domain.digests import Digest
from registry.domain.provenance import Provenance
from registry.domain.refs import Ref, parse_ref
from registry.domain.taps import Taps
from registry.domain.tensors import StoredFile

SCHEMA: Final = "roost.checkpoint/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDocument:
    """A checkpoint as answers show it."""

    name: str
    version: int
    weights_digest: Digest
    files: tuple[StoredFile, ...]
    tensors: int
    """How many tensors it holds."""
    trained_taps: Taps | None
    why_unknown: str = ""
    """Why the taps are not known; empty where they are."""
    provenance_revision: int
    target: str
    """The name of the target it was trained for."""
    warnings: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    """NAME@N of the same weights under other drafters."""
    target_revision: str | None = None
    layers: int | None = None
    """Decoder layers of the target."""
    created: bool | None = None
    """In the answer to a registration: False if it was there before."""
    created_at: str | None = None
    """RFC 3339, UTC."""
    provenance: Provenance | None = None
    config: Mapping[str, object] | None = None
    """`config.json` as found."""

    @property
    def ref(self) -> str:
        """NAME@N."""
        return str(Ref(name=self.name, version=self.version))


def parse(data: bytes | Mapping[str, object]) -> CheckpointDocument:
    """Return the checkpoint in `data`.

    Raises:
        DocumentError: with every fault.
    """
    return _from_fields(validated("checkpoint", data))


def render(checkpoint: CheckpointDocument) -> dict[str, object]:
    """Return the document of `checkpoint`; parts that are None are left out, except unknown taps, which are null."""
    document = {
        "schema": SCHEMA,
        "ref": checkpoint.ref,
        "name": checkpoint.name,
        "version": checkpoint.version,
        "weights_digest": checkpoint.weights_digest,
        "files": [_render_file(entry) for entry in checkpoint.files],
        "tensors": checkpoint.tensors,
        "trained_taps": fields.render_taps(checkpoint.trained_taps),
        "why_unknown": checkpoint.why_unknown,
        "provenance_revision": checkpoint.provenance_revision,
        "target": checkpoint.target,
        "warnings": list(checkpoint.warnings),
        "linked": list(checkpoint.linked),
    }
    optional = (
        ("target_revision", checkpoint.target_revision),
        ("layers", checkpoint.layers),
        ("created", checkpoint.created),
        ("created_at", checkpoint.created_at),
        ("provenance", None if checkpoint.provenance is None else provenance.render(checkpoint.provenance)),
    )
    config = {} if checkpoint.config is None else {"config": plain(checkpoint.config)}
    return {**document, **present(optional), **config}


def _from_fields(document: Fields) -> CheckpointDocument:
    ref = parse_ref(fields.text(document, "ref"))
    record = fields.maybe_part(document, "provenance")
    return CheckpointDocument(
        name=ref.name,
        version=fields.whole(document, "version"),
        weights_digest=fields.digest(document, "weights_digest"),
        files=tuple(map(_file, fields.parts(document, "files"))),
        tensors=fields.whole(document, "tensors"),
        trained_taps=fields.maybe_taps(document, "trained_taps"),
        why_unknown=fields.text(document, "why_unknown"),
        provenance_revision=fields.whole(document, "provenance_revision"),
        target=fields.text(document, "target"),
        warnings=fields.texts(document, "warnings"),
        linked=fields.texts(document, "linked"),
        target_revision=fields.maybe_text(document, "target_revision"),
        layers=fields.maybe_whole(document, "layers"),
        created=fields.maybe_flag(document, "created"),
        created_at=fields.maybe_text(document, "created_at"),
        provenance=None if record is None else provenance.from_fields(record),
        config=fields.maybe_part(document, "config"),
    )


def _render_file(entry: StoredFile) -> dict[str, object]:
    return {"name": entry.name, "size": entry.size, "sha256": entry.sha256, "role": entry.role}


def _file(entry: Fields) -> StoredFile:
    return StoredFile(
        name=fields.text(entry, "name"),
        size=fields.whole(entry, "size"),
        sha256=fields.digest(entry, "sha256"),
        role=fields.text(entry, "role"),
    )
