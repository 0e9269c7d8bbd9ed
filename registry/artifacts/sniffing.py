"""Recognizes, by their first bytes, files that are not what their name says: Git LFS pointers, pickles, zip archives.

Nothing is unpickled or unpacked; `pickletools` only names opcodes.
"""

import io
import pickletools
import re

from registry.domain.artifact_faults import ArtifactFault, FaultKind

HEAD = 4096
"""Bytes of a file's beginning that are enough to recognize it."""

_LFS = b"version https://git-lfs.github.com/spec/"
_LFS_CAP = 1024  # the LFS specification: pointer files are smaller than this
_LFS_SIZE = re.compile(rb"^size (\d{1,20})$", re.MULTILINE)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_LENGTH_PREFIX = 8
_PROTO = 0x80  # the opcode that every pickle of protocol 2 on begins with
_PICKLE_PROTOCOLS = range(2, 6)
_OPCODES_OF_A_PICKLE = 32

_SAFETENSORS = "safetensors: convert it in isolation with a weights-only loader and register the result"


def disguise(head: bytes, *, file: str, size: int, weights: bool = False) -> ArtifactFault | None:
    """Return the fault of a file that pretends to be another kind of file; None where nothing is recognized.

    Args:
        head: the first `HEAD` bytes, or all of a shorter file.
        file: its name, for the message.
        size: its size in bytes.
        weights: the file should hold weights: text pickles (protocols 0 and 1) are looked for too, which other text
            could be mistaken for.
    """
    if head.startswith(_LFS) and size < _LFS_CAP:
        return _lfs_pointer(head, file=file, size=size)
    what = pickle_kind(head, size=size, text=weights)
    if what is None:
        return None
    return ArtifactFault(
        kind=FaultKind.PICKLE,
        file=file,
        observed=f"{what}, whatever its suffix: loading one can run code",
        expected=_SAFETENSORS if weights else "a file of the kind its name says",
    )


def pickle_kind(head: bytes, *, size: int, text: bool = False) -> str | None:
    """Return in words what kind of pickle (or archive of pickles) begins with `head`, or None."""
    if head.startswith(_ZIP):
        return "a zip archive as torch.save writes it" if b"data.pkl" in head else "a zip archive"
    if len(head) > 1 and head[0] == _PROTO:
        binary = head[1] in _PICKLE_PROTOCOLS and not _is_length_prefix(head)
        return f"a Python pickle (protocol {head[1]})" if binary else None
    if text and not _is_length_prefix(head) and _decodes_as_pickle(head, whole=len(head) == size):
        return "a Python pickle (protocol 0 or 1)"
    return None


def _is_length_prefix(head: bytes) -> bool:
    # A safetensors header of 640 bytes begins with 80 02, as a pickle does; the `{` after its length tells them apart.
    length = int.from_bytes(head[:_LENGTH_PREFIX], "little")
    return length < 1 << 32 and head[_LENGTH_PREFIX : _LENGTH_PREFIX + 1] == b"{"


def _decodes_as_pickle(head: bytes, *, whole: bool) -> bool:
    seen = 0
    try:
        for opcode, _, _ in pickletools.genops(io.BytesIO(head)):
            seen += 1
            if opcode.name == "STOP":
                return whole and seen > 1
    except Exception:  # noqa: BLE001  # genops raises whatever its argument readers raise
        return not whole and seen >= _OPCODES_OF_A_PICKLE
    return False


def _lfs_pointer(head: bytes, *, file: str, size: int) -> ArtifactFault:
    found = _LFS_SIZE.search(head)
    stands_for = f" that stands for {int(found[1])} bytes" if found else ""
    return ArtifactFault(
        kind=FaultKind.LFS_POINTER,
        file=file,
        observed=f"a Git LFS pointer of {size} bytes{stands_for}",
        expected="the file itself: fetch it with `git lfs pull`",
    )
