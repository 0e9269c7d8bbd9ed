"""The tables, as SQLAlchemy sees them. Migrations create them; a test keeps the two from drifting apart.

Text is collated as "C", so that names sort by code point on every server and as they do in Python.
"""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.domain.digests import PATTERN
from registry.domain.refs import LONGEST_NAME, NAME_PATTERN

NAMING_CONVENTION: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""How constraints are named: errors are told apart by constraint name, so every constraint has one."""

FILE_ROLES: Final = ("config", "weights", "index", "tokenizer", "template")
PROFILE_ORIGINS: Final = ("added", "node")
EVENT_KINDS: Final = ("checkpoint.registered", "provenance.amended", "verdict.stored", "emission.stored")

metadata = MetaData(naming_convention=NAMING_CONVENTION)


def _text(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, Text(collation="C"), nullable=nullable)


def _instant(name: str) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=False)


def _id() -> Column[int]:
    # ALWAYS: the service can insert without rights on a sequence, and nobody chooses an id.
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


def _is_digest(column: str) -> CheckConstraint:
    return CheckConstraint(f"{column} ~ '{PATTERN}'", name=f"{column}_is_digest")


def _is_one_of(column: str, choices: Iterable[str]) -> CheckConstraint:
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_is_known")


targets = Table(
    "targets",
    metadata,
    _id(),
    _text("name"),
    _text("revision", nullable=True),
    Column("config", JSONB, nullable=False),
    _text("digest", nullable=True),
    _text("tokenizer_digest", nullable=True),
    _text("chat_template_digest", nullable=True),
    Column("edition", Integer, nullable=False),
    _text("actor"),
    _instant("created_at"),
    UniqueConstraint("name", "revision", postgresql_nulls_not_distinct=True),
    _is_digest("digest"),
    _is_digest("tokenizer_digest"),
    _is_digest("chat_template_digest"),
    CheckConstraint("edition >= 1", name="edition_from_1"),
)
"""Target models. `edition` grows when a missing digest is filled in; nothing else changes."""

drafters = Table(
    "drafters",
    metadata,
    _id(),
    _text("name"),
    Column("versions", Integer, nullable=False),
    _instant("created_at"),
    UniqueConstraint("name"),
    CheckConstraint(f"name ~ '{NAME_PATTERN}' AND length(name) <= {LONGEST_NAME}", name="name_is_name"),
    CheckConstraint("versions >= 0", name="versions_from_0"),
)
"""Drafters. `versions` is the highest version given out; who raises it holds the row's lock."""

checkpoints = Table(
    "checkpoints",
    metadata,
    _id(),
    Column("drafter_id", BigInteger, ForeignKey("drafters.id"), nullable=False),
    Column("version", Integer, nullable=False),
    _text("weights_digest"),
    Column("inventory", JSONB, nullable=False),
    _text("actor"),
    _instant("created_at"),
    UniqueConstraint("drafter_id", "version"),
    UniqueConstraint("drafter_id", "weights_digest"),
    Index(None, "weights_digest"),
    _is_digest("weights_digest"),
    CheckConstraint("version >= 1", name="version_from_1"),
)
"""Checkpoints: never changed. One drafter holds the same weights once."""

checkpoint_files = Table(
    "checkpoint_files",
    metadata,
    Column("checkpoint_id", BigInteger, ForeignKey("checkpoints.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _text("name"),
    Column("size", BigInteger, nullable=False),
    _text("sha256"),
    _text("role"),
    UniqueConstraint("checkpoint_id", "name"),
    Index(None, "sha256"),
    _is_digest("sha256"),
    _is_one_of("role", FILE_ROLES),
    CheckConstraint("size >= 0", name="size_from_0"),
)
"""Which bytes a checkpoint holds; the bytes are blobs."""

provenance_revisions = Table(
    "provenance_revisions",
    metadata,
    Column("checkpoint_id", BigInteger, ForeignKey("checkpoints.id"), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("target_id", BigInteger, ForeignKey("targets.id"), nullable=False),
    Column("document", JSONB, nullable=False),
    _text("digest"),
    Column("trained_depths", ARRAY(BigInteger), nullable=True),
    _text("actor"),
    _text("reason"),
    _instant("created_at"),
    Index(None, "target_id"),
    _is_digest("digest"),
    CheckConstraint("revision >= 1", name="revision_from_1"),
)
"""Provenance: appended, never changed. `digest` is the SHA-256 of the document's canonical bytes."""

verdicts = Table(
    "verdicts",
    metadata,
    Column("id", Text(collation="C"), primary_key=True),
    Column("body", LargeBinary, nullable=False),
    CheckConstraint("id = 'sha256:' || encode(sha256(body), 'hex')", name="id_is_sha256_of_body"),
)
"""Verdicts: canonical bytes under their SHA-256."""

judgments = Table(
    "judgments",
    metadata,
    _id(),
    Column("verdict_id", Text(collation="C"), ForeignKey("verdicts.id"), nullable=False),
    Column("checkpoint_id", BigInteger, nullable=False),
    Column("provenance_revision", Integer, nullable=False),
    _text("actor"),
    _instant("created_at"),
    UniqueConstraint("verdict_id", "checkpoint_id", "provenance_revision"),
    ForeignKeyConstraint(
        ["checkpoint_id", "provenance_revision"],
        ["provenance_revisions.checkpoint_id", "provenance_revisions.revision"],
    ),
    Index(None, "checkpoint_id", "provenance_revision"),
)
"""What was judged. A verdict names no checkpoint, so twins, or two revisions of one record, can get the same bytes."""

emissions = Table(
    "emissions",
    metadata,
    Column("id", Text(collation="C"), primary_key=True),
    Column("checkpoint_id", BigInteger, ForeignKey("checkpoints.id"), nullable=False),
    _text("engine"),
    _text("runner", nullable=True),
    _text("target"),
    Column("document", JSONB, nullable=False),
    _text("actor"),
    _instant("created_at"),
    Index(None, "checkpoint_id"),
    _is_digest("id"),
)
"""Emissions under the SHA-256 of their lock file."""

emission_files = Table(
    "emission_files",
    metadata,
    Column("emission_id", Text(collation="C"), ForeignKey("emissions.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _text("name"),
    Column("size", BigInteger, nullable=False),
    _text("sha256"),
    UniqueConstraint("emission_id", "name"),
    Index(None, "sha256"),
    _is_digest("sha256"),
    CheckConstraint("size >= 0", name="size_from_0"),
)
"""Which bytes an emission holds; the bytes are blobs."""

events = Table(
    "events",
    metadata,
    Column("drafter_id", BigInteger, ForeignKey("drafters.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    _text("kind"),
    _text("actor"),
    Column("body", JSONB, nullable=False),
    _text("digest"),
    _instant("created_at"),
    _is_digest("digest"),
    _is_one_of("kind", EVENT_KINDS),
    CheckConstraint("sequence >= 1", name="sequence_from_1"),
)
"""What happened to a drafter, in order; each digest covers the one before it (`chain`)."""

profile_revisions = Table(
    "profile_revisions",
    metadata,
    _id(),
    _text("engine"),
    _text("version"),
    Column("revision", Integer, nullable=False),
    _text("origin"),
    _text("source_digest", nullable=True),
    _text("digest"),
    Column("document", JSONB, nullable=False),
    _text("actor"),
    _text("reason"),
    _instant("created_at"),
    UniqueConstraint("engine", "version", "revision"),
    _is_digest("source_digest"),
    _is_digest("digest"),
    _is_one_of("origin", PROFILE_ORIGINS),
    CheckConstraint("revision >= 1", name="revision_from_1"),
)
"""Engine profiles that were added: appended, never changed. `digest` is the SHA-256 of the document's canonical bytes.
Who adds holds an advisory lock, so that ids become visible in their order."""

IMMUTABLE: Final = (
    checkpoints,
    checkpoint_files,
    provenance_revisions,
    verdicts,
    judgments,
    emissions,
    emission_files,
    events,
    profile_revisions,
)
"""Tables whose rows Postgres refuses to change, to remove or to truncate, whoever asks."""
