"""References to checkpoints: `NAME`, the newest version of a drafter, or `NAME@N`, exactly one."""

import re
from dataclasses import dataclass
from typing import Final

from registry.domain.errors import Invalid

LONGEST_NAME: Final = 200

NAME_PATTERN: Final = r"^(?!(.*/)?\.{1,2}(/|$))[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$"
"""The written form of a name, as JSON Schema and Postgres check it; its length is bounded apart."""

NAME_IN_WORDS: Final = (
    f"a name: letters, digits, '.', '_' and '-', in parts separated by single '/', "
    f"no part '.' or '..', at most {LONGEST_NAME} characters"
)

_NAME = re.compile(NAME_PATTERN.removesuffix("$") + r"\Z")
_VERSION = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A reference to a checkpoint."""

    name: str
    version: int | None = None
    """None: the newest."""

    def __str__(self) -> str:
        """Return `NAME` or `NAME@N`."""
        return self.name if self.version is None else f"{self.name}@{self.version}"


def parse_ref(text: str) -> Ref:
    """Parse `NAME` or `NAME@N`.

    Raises:
        Invalid: `text` is neither; the message says what is expected.
    """
    name, separator, version = text.partition("@")
    if separator and not _VERSION.fullmatch(version):
        detail = f"{text!r} is not a checkpoint: after '@' expected a version number from 1, found {version!r}."
        raise Invalid(detail, hint="Write NAME@N, or NAME alone for the newest version.")
    return Ref(name=parse_name(name), version=int(version) if separator else None)


def parse_name(text: str) -> str:
    """Return `text` if it is a name without a version.

    Raises:
        Invalid: it is none; the message says what is expected.
    """
    if len(text) > LONGEST_NAME:
        raise Invalid(f"{text[:40] + '...'!r} is not a name: {len(text)} characters, expected at most {LONGEST_NAME}.")
    if not _NAME.match(text):
        raise Invalid(f"{text!r} is not a name.", hint=f"Expected {NAME_IN_WORDS}.")
    return text
