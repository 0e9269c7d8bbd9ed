"""Engine profiles that were added: one table of revisions, as immutable as the others.

Deployment rules: `migrations/script.py.mako`. The previous release neither reads nor writes the table.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

TABLE = "profile_revisions"
DIGEST = "^(sha256|blake3):[0-9a-f]{64}$"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        _text("engine"),
        _text("version"),
        sa.Column("revision", sa.Integer, nullable=False),
        _text("origin"),
        _text("source_digest", nullable=True),
        _text("digest"),
        sa.Column("document", JSONB, nullable=False),
        _text("actor"),
        _text("reason"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{TABLE}")),
        sa.UniqueConstraint("engine", "version", "revision", name=op.f(f"uq_{TABLE}_engine_version_revision")),
        _is_digest("source_digest"),
        _is_digest("digest"),
        sa.CheckConstraint("origin IN ('added', 'node')", name=op.f(f"ck_{TABLE}_origin_is_known")),
        sa.CheckConstraint("revision >= 1", name=op.f(f"ck_{TABLE}_revision_from_1")),
    )
    # The function is that of 0001. ALWAYS: a session in replica mode does not slip past it either.
    op.execute(
        f"CREATE TRIGGER immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
        "FOR EACH STATEMENT EXECUTE FUNCTION roost_refuse_change()"
    )
    op.execute(f"ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER immutable")


def downgrade() -> None:
    op.drop_table(TABLE)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(collation="C"), nullable=nullable)


def _is_digest(column: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} ~ '{DIGEST}'", name=op.f(f"ck_{TABLE}_{column}_is_digest"))
