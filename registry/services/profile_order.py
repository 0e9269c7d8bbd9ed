"""Which of several revisions of one build's profile is in force, and when a new one says nothing new. Pure."""

from collections.abc import Mapping, Sequence

from registry.documents.engine_profile import digest_of
from registry.services.records import NewProfile, ProfileRevision


def in_force(revisions: Sequence[ProfileRevision]) -> ProfileRevision | None:
    """Return the revision that counts: the newest that somebody added, else the newest that a node scanned.

    A node scans again whenever it starts. What a person corrected, with a reason, must not be undone by that.
    """
    return max(revisions, key=lambda one: (one.origin == "added", one.revision), default=None)


def same_facts(known: Sequence[ProfileRevision], new: NewProfile) -> ProfileRevision | None:
    """Return the revision that says the same already: the one in force, or the newest one of the same origin.

    Going back to the facts of an older revision is a revision of its own: otherwise it would have no effect.
    """
    candidates = (in_force(known), in_force([one for one in known if one.origin == new.origin]))
    return next(
        (one for one in candidates if one is not None and numbered_digest(new.document, one) == one.digest), None
    )


def numbered_digest(document: Mapping[str, object], revision: ProfileRevision) -> str:
    """Return the digest that `document` would have as this revision: equal digests are equal facts."""
    return digest_of({**document, "revision": revision.revision})
