"""`roost.emission/1`: the immutable set of files written for one proposal, as answers show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from registry.documents import fields, verdict
from registry.documents.fields import Fields
from registry.documents.lock import repeated_names
from registry.documents.validation import validated
from registry.domain.digests import Digest
from registry.domain.proposal import Build, parse_build
from registry.domain.refs import Ref, parse_ref
from registry.domain.verdict import Verdict

SCHEMA: Final = "roost.emission/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedFile:
    """One file of an emission."""

    name: str
    size: int
    """Bytes."""
    sha256: Digest
    source: str | None = None
    """Where the bytes come from, such as a file of the checkpoint; None: written for this emission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmissionDocument:
    """An emission as answers show it."""

    id: Digest
    """SHA-256 of the lock file's bytes."""
    checkpoint: Ref
    build: Build
    runner: str | None
    target: str
    files: tuple[SourcedFile, ...]
    lock_digest: Digest
    verdict: Verdict
    options: tuple[str, ...]
    """The launch options that were written, in order."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that were written beside them; mostly none."""


def parse(data: bytes | Mapping[str, object]) -> EmissionDocument:
    """Return the emission in `data`.

    Raises:
        DocumentError: with every fault.
    """
    return _from_fields(validated("emission", data, further=lambda document: repeated_names(document, "files")))


def render(emission: EmissionDocument) -> dict[str, object]:
    """Return the document of `emission`; `environment` is left out where there is none."""
    environment = {"environment": dict(emission.environment)} if emission.environment else {}
    return {
        "schema": SCHEMA,
        "id": emission.id,
        "checkpoint": str(emission.checkpoint),
        "engine": str(emission.build),
        "runner": emission.runner,
        "target": emission.target,
        "files": [_render_file(entry) for entry in emission.files],
        "lock_digest": emission.lock_digest,
        "verdict": verdict.render(emission.verdict),
        "options": list(emission.options),
        **environment,
    }


def _from_fields(document: Fields) -> EmissionDocument:
    return EmissionDocument(
        id=fields.digest(document, "id"),
        checkpoint=parse_ref(fields.text(document, "checkpoint")),
        build=parse_build(fields.text(document, "engine")),
        runner=fields.maybe_text(document, "runner"),
        target=fields.text(document, "target"),
        files=tuple(map(_file, fields.parts(document, "files"))),
        lock_digest=fields.digest(document, "lock_digest"),
        verdict=verdict.from_fields(fields.part(document, "verdict")),
        options=fields.texts(document, "options"),
        environment=fields.text_values(document, "environment"),
    )


def _render_file(entry: SourcedFile) -> dict[str, object]:
    source = {} if entry.source is None else {"source": entry.source}
    return {"name": entry.name, "size": entry.size, "sha256": entry.sha256, **source}


def _file(entry: Fields) -> SourcedFile:
    return SourcedFile(
        name=fields.text(entry, "name"),
        size=fields.whole(entry, "size"),
        sha256=fields.digest(entry, "sha256"),
        source=fields.maybe_text(entry, "source"),
    )
