"""`roost.engine-profile-addition/1`: an engine profile on its way into a registry, and why it comes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from registry.documents import engine_profile, fields
from registry.documents.validation import validated
from registry.domain.digests import Digest
from registry.domain.profile import AddedOrigin, Profile

KIND: Final = "engine-profile-addition"
SCHEMA: Final = f"roost.{KIND}/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileAddition:
    """A profile that somebody, or a node, hands to a registry."""

    profile: Profile
    """Its revision is that of the document; the registry gives it another."""
    reason: str
    origin: AddedOrigin = "added"
    source_digest: Digest | None = None
    """Of the source tree that was scanned, where one was."""


def parse(data: bytes | Mapping[str, object]) -> ProfileAddition:
    """Return the addition in `data`. Whether its profile agrees with itself is not looked at here.

    Raises:
        DocumentError: with every fault.
    """
    document = validated(KIND, data)
    return ProfileAddition(
        profile=engine_profile.parse(fields.part(document, "profile")),
        reason=fields.text(document, "reason"),
        origin=cast("AddedOrigin", fields.maybe_text(document, "origin") or "added"),
        source_digest=fields.maybe_digest(document, "source_digest"),
    )
