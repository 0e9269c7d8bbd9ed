"""`provenance.json` and the source of the dump patch beside it, as a registration or an amendment sends them."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roost.failures import Refused
from roost.inputs import document_fault_lines, unreadable
from roost.uploads import Upload

_LARGEST: Final = 64 << 20
"""Bytes of a dump patch's source: it is text that people wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceFile:
    """A provenance document that is well formed, and the files it names."""

    document: Mapping[str, Any]
    sources: tuple[Upload, ...]


def read(path: Path) -> ProvenanceFile:
    """Read and check a provenance file.

    Raises:
        Failure: it cannot be read.
        Refused: it is not a provenance document, or names a source that may not be sent.
    """
    from registry.documents.validation import validated  # noqa: PLC0415 - jsonschema, and only where a file is named
    from registry.domain.errors import Invalid  # noqa: PLC0415 - as above

    try:
        document = validated("provenance", path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except Invalid as error:
        raise refused_document(path, error) from None
    capture: Any = document["capture"]
    name = capture.get("source")
    sources = () if name is None else (_source(path, name),)
    return ProvenanceFile(document=document, sources=sources)


def refused_document(path: Path, error: Exception) -> Refused:
    """Put a document's faults into words, each with its place; JSON has all of them."""
    faults = getattr(error, "faults", ())
    document = {
        "type": "urn:roost:problem:invalid-document",
        "title": "What was sent is not what it must be",
        "status": 422,
        "detail": f"{path} is not a provenance document",
        "errors": [{"pointer": fault.pointer, "message": fault.message, "hint": fault.hint} for fault in faults],
    }
    message = f"{path} is not a provenance document" + ("" if faults else f": {error}")
    return Refused(message, details=document_fault_lines(faults), document=document)


def _source(path: Path, name: str) -> Upload:
    """Return the dump patch's source as it is sent."""
    beside = source_beside(path, name, place=f"{path}: /capture/source names {name!r}")
    from registry.artifacts.hashing import digest_file  # noqa: PLC0415 - only where there is a source

    digest, size = digest_file(beside)
    return Upload(name=name, path=beside, size=size, sha256=digest)


def source_beside(path: Path, name: str, *, place: str) -> Path:
    """Return the dump patch's source; only a plain file in the folder of the provenance file is ever sent.

    Args:
        path: The provenance file, which need not be there yet.
        name: What it calls the source.
        place: Where the name was given, for the message.

    Raises:
        Refused: there is no such file beside it, or none that may be sent.
    """
    beside = path.parent / name
    if "/" in name or "\\" in name or name in {"", ".", ".."}:
        raise Refused(f"{place}, which is not a plain file name", hint="put the file beside the provenance file.")
    try:
        found = beside.lstat()
    except OSError:
        raise Refused(
            f"{place}, and there is no such file beside it", hint="put it there, or leave `source` out."
        ) from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a regular file"
        raise Refused(f"{place}, which is {kind}", hint="put a copy of the file itself beside the provenance file.")
    if found.st_size > _LARGEST:
        raise Refused(f"{place}, which has {found.st_size} bytes; at most {_LARGEST} are taken")
    return beside
