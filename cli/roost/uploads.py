"""Bytes on their way to the registry: what it holds already is not sent again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roost.client import Client
from roost.progress import Bar
from roost.screen import Screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file to send: its name in the document, where it lies, its size and SHA-256."""

    name: str
    path: Path
    size: int
    sha256: str

    @property
    def entry(self) -> dict[str, object]:
        """How a document names it."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256}


def send(client: Client, uploads: Sequence[Upload], *, screen: Screen) -> None:
    """Send every file whose bytes the registry lacks.

    Raises:
        Failure: nothing answers, a file has changed since it was read, or the registry cannot keep it.
    """
    missing = {upload.sha256: upload for upload in uploads if not client.has_blob(upload.sha256)}
    total = sum(upload.size for upload in missing.values())
    with Bar("uploading", screen=screen, total=total) as bar:
        for digest, upload in missing.items():
            client.put_blob(digest, upload.path, size=upload.size, progress=bar.advance)
