"""Faults of files that are not what they claim, as values. The rules of family ART turn them into findings."""

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What is wrong with a file. Each kind is judged by one rule of family ART."""

    LFS_POINTER = "lfs-pointer"
    TRUNCATED = "truncated"
    HEADER_LENGTH = "header-length"
    HEADER_MALFORMED = "header-malformed"
    OVERLAP_OR_HOLE = "overlap-or-hole"
    DUPLICATE_KEY = "duplicate-key"
    SIZE_MISMATCH = "size-mismatch"
    MISSING_SHARD = "missing-shard"
    INDEX_MALFORMED = "index-malformed"
    INDEX_DISAGREES = "index-disagrees"
    PATH_ESCAPE = "path-escape"
    SYMLINK = "symlink"
    PICKLE = "pickle"
    CONFIG_MISSING = "config-missing"
    CONFIG_MALFORMED = "config-malformed"
    WEIGHTS_MISSING = "weights-missing"
    VOCAB_MAP_MALFORMED = "vocab-map-malformed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactFault:
    """One fault: the file, where in it, what was seen and what was expected."""

    kind: FaultKind
    file: str
    where: str = ""
    """A tensor name, a JSON Pointer or a byte range; empty for the whole file."""
    observed: str
    expected: str
