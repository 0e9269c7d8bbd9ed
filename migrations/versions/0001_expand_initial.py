"""The first tables: targets, drafters, checkpoints, provenance, verdicts, emissions, events.

Deployment rules: `migrations/script.py.mako`. This revision starts from an empty database.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

NAME = r"^(?!(.*/)?\.{1,2}(/|$))[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$"
DIGEST = "^(sha256|blake3):[0-9a-f]{64}$"
IMMUTABLE = (
    "checkpoints",
    "checkpoint_files",
    "provenance_revisions",
    "verdicts",
    "judgments",
    "emissions",
    "emission_files",
    "events",
)


def upgrade() -> None:
    _targets_and_drafters()
    _checkpoints()
    _outcomes()
    _events()
    _immutability()


def downgrade() -> None:
    for table in ("events", "emission_files", "emissions", "judgments", "verdicts"):
        op.drop_table(table)
    for table in ("provenance_revisions", "checkpoint_files", "checkpoints", "drafters", "targets"):
        op.drop_table(table)
    op.execute("DROP FUNCTION roost_refuse_change()")
    op.execute("DROP FUNCTION roost_only_fill_in()")


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(collation="C"), nullable=nullable)


def _instant() -> sa.Column[object]:
    return sa.Column("created_at", sa.DateTime(timezone=True), nullable=False)


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False)


def _is_digest(table: str, column: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} ~ '{DIGEST}'", name=op.f(f"ck_{table}_{column}_is_digest"))


def _from(least: int, table: str, column: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} >= {least}", name=op.f(f"ck_{table}_{column}_from_{least}"))


def _targets_and_drafters() -> None:
    op.create_table(
        "targets",
        _id(),
        _text("name"),
        _text("revision", nullable=True),
        sa.Column("config", JSONB, nullable=False),
        _text("digest", nullable=True),
        _text("tokenizer_digest", nullable=True),
        _text("chat_template_digest", nullable=True),
        sa.Column("edition", sa.Integer, nullable=False),
        _text("actor"),
        _instant(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_targets")),
        sa.UniqueConstraint(
            "name", "revision", name=op.f("uq_targets_name_revision"), postgresql_nulls_not_distinct=True
        ),
        _is_digest("targets", "digest"),
        _is_digest("targets", "tokenizer_digest"),
        _is_digest("targets", "chat_template_digest"),
        _from(1, "targets", "edition"),
    )
    op.create_table(
        "drafters",
        _id(),
        _text("name"),
        sa.Column("versions", sa.Integer, nullable=False),
        _instant(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_drafters")),
        sa.UniqueConstraint("name", name=op.f("uq_drafters_name")),
        sa.CheckConstraint(f"name ~ '{NAME}' AND length(name) <= 200", name=op.f("ck_drafters_name_is_name")),
        _from(0, "drafters", "versions"),
    )


def _checkpoints() -> None:
    op.create_table(
        "checkpoints",
        _id(),
        sa.Column("drafter_id", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        _text("weights_digest"),
        sa.Column("inventory", JSONB, nullable=False),
        _text("actor"),
        _instant(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkpoints")),
        sa.ForeignKeyConstraint(["drafter_id"], ["drafters.id"], name=op.f("fk_checkpoints_drafter_id")),
        sa.UniqueConstraint("drafter_id", "version", name=op.f("uq_checkpoints_drafter_id_version")),
        sa.UniqueConstraint("drafter_id", "weights_digest", name=op.f("uq_checkpoints_drafter_id_weights_digest")),
        _is_digest("checkpoints", "weights_digest"),
        _from(1, "checkpoints", "version"),
    )
    op.create_index(op.f("ix_checkpoints_weights_digest"), "checkpoints", ["weights_digest"])
    op.create_table(
        "checkpoint_files",
        sa.Column("checkpoint_id", sa.BigInteger, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        _text("name"),
        sa.Column("size", sa.BigInteger, nullable=False),
        _text("sha256"),
        _text("role"),
        sa.PrimaryKeyConstraint("checkpoint_id", "position", name=op.f("pk_checkpoint_files")),
        sa.ForeignKeyConstraint(["checkpoint_id"], ["checkpoints.id"], name=op.f("fk_checkpoint_files_checkpoint_id")),
        sa.UniqueConstraint("checkpoint_id", "name", name=op.f("uq_checkpoint_files_checkpoint_id_name")),
        _is_digest("checkpoint_files", "sha256"),
        sa.CheckConstraint(
            "role IN ('config', 'weights', 'index', 'tokenizer', 'template')",
            name=op.f("ck_checkpoint_files_role_is_known"),
        ),
        _from(0, "checkpoint_files", "size"),
    )
    op.create_index(op.f("ix_checkpoint_files_sha256"), "checkpoint_files", ["sha256"])
    op.create_table(
        "provenance_revisions",
        sa.Column("checkpoint_id", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("target_id", sa.BigInteger, nullable=False),
        sa.Column("document", JSONB, nullable=False),
        _text("digest"),
        sa.Column("trained_depths", sa.ARRAY(sa.BigInteger), nullable=True),
        _text("actor"),
        _text("reason"),
        _instant(),
        sa.PrimaryKeyConstraint("checkpoint_id", "revision", name=op.f("pk_provenance_revisions")),
        sa.ForeignKeyConstraint(
            ["checkpoint_id"], ["checkpoints.id"], name=op.f("fk_provenance_revisions_checkpoint_id")
        ),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_provenance_revisions_target_id")),
        _is_digest("provenance_revisions", "digest"),
        _from(1, "provenance_revisions", "revision"),
    )
    op.create_index(op.f("ix_provenance_revisions_target_id"), "provenance_revisions", ["target_id"])


def _outcomes() -> None:
    op.create_table(
        "verdicts",
        _text("id"),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdicts")),
        sa.CheckConstraint(
            "id = 'sha256:' || encode(sha256(body), 'hex')", name=op.f("ck_verdicts_id_is_sha256_of_body")
        ),
    )
    op.create_table(
        "judgments",
        _id(),
        _text("verdict_id"),
        sa.Column("checkpoint_id", sa.BigInteger, nullable=False),
        sa.Column("provenance_revision", sa.Integer, nullable=False),
        _text("actor"),
        _instant(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgments")),
        sa.ForeignKeyConstraint(["verdict_id"], ["verdicts.id"], name=op.f("fk_judgments_verdict_id")),
        sa.ForeignKeyConstraint(
            ["checkpoint_id", "provenance_revision"],
            ["provenance_revisions.checkpoint_id", "provenance_revisions.revision"],
            name=op.f("fk_judgments_checkpoint_id_provenance_revision"),
        ),
        sa.UniqueConstraint(
            "verdict_id",
            "checkpoint_id",
            "provenance_revision",
            name=op.f("uq_judgments_verdict_id_checkpoint_id_provenance_revision"),
        ),
    )
    op.create_index(
        op.f("ix_judgments_checkpoint_id_provenance_revision"), "judgments", ["checkpoint_id", "provenance_revision"]
    )
    _emissions()


def _emissions() -> None:
    op.create_table(
        "emissions",
        _text("id"),
        sa.Column("checkpoint_id", sa.BigInteger, nullable=False),
        _text("engine"),
        _text("runner", nullable=True),
        _text("target"),
        sa.Column("document", JSONB, nullable=False),
        _text("actor"),
        _instant(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_emissions")),
        sa.ForeignKeyConstraint(["checkpoint_id"], ["checkpoints.id"], name=op.f("fk_emissions_checkpoint_id")),
        _is_digest("emissions", "id"),
    )
    op.create_index(op.f("ix_emissions_checkpoint_id"), "emissions", ["checkpoint_id"])
    op.create_table(
        "emission_files",
        _text("emission_id"),
        sa.Column("position", sa.Integer, nullable=False),
        _text("name"),
        sa.Column("size", sa.BigInteger, nullable=False),
        _text("sha256"),
        sa.PrimaryKeyConstraint("emission_id", "position", name=op.f("pk_emission_files")),
        sa.ForeignKeyConstraint(["emission_id"], ["emissions.id"], name=op.f("fk_emission_files_emission_id")),
        sa.UniqueConstraint("emission_id", "name", name=op.f("uq_emission_files_emission_id_name")),
        _is_digest("emission_files", "sha256"),
        _from(0, "emission_files", "size"),
    )
    op.create_index(op.f("ix_emission_files_sha256"), "emission_files", ["sha256"])


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("drafter_id", sa.BigInteger, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        _text("kind"),
        _text("actor"),
        sa.Column("body", JSONB, nullable=False),
        _text("digest"),
        _instant(),
        sa.PrimaryKeyConstraint("drafter_id", "sequence", name=op.f("pk_events")),
        sa.ForeignKeyConstraint(["drafter_id"], ["drafters.id"], name=op.f("fk_events_drafter_id")),
        _is_digest("events", "digest"),
        sa.CheckConstraint(
            "kind IN ('checkpoint.registered', 'provenance.amended', 'verdict.stored', 'emission.stored')",
            name=op.f("ck_events_kind_is_known"),
        ),
        _from(1, "events", "sequence"),
    )


def _immutability() -> None:
    # Rights keep the service's role from changing records; these triggers keep everybody from it, owners too. They
    # fire per statement, so that a change that would touch no row is refused as well, and ALWAYS, so that a session
    # in replica mode does not slip past them.
    op.execute(
        """
        CREATE FUNCTION roost_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '% on % is refused: its rows never change', TG_OP, TG_TABLE_NAME
                USING ERRCODE = 'restrict_violation', CONSTRAINT = 'immutable_' || TG_TABLE_NAME, TABLE = TG_TABLE_NAME,
                      HINT = 'Correct a fact by a new revision: roost provenance amend.';
        END $$
        """
    )
    for table in IMMUTABLE:
        op.execute(
            f"CREATE TRIGGER immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION roost_refuse_change()"
        )
        op.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER immutable")
    op.execute(
        """
        CREATE FUNCTION roost_only_fill_in() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF (OLD.id, OLD.name, OLD.revision, OLD.config, OLD.actor, OLD.created_at)
                    IS DISTINCT FROM (NEW.id, NEW.name, NEW.revision, NEW.config, NEW.actor, NEW.created_at)
                OR (OLD.digest IS NOT NULL AND OLD.digest IS DISTINCT FROM NEW.digest)
                OR (OLD.tokenizer_digest IS NOT NULL AND OLD.tokenizer_digest IS DISTINCT FROM NEW.tokenizer_digest)
                OR (OLD.chat_template_digest IS NOT NULL
                    AND OLD.chat_template_digest IS DISTINCT FROM NEW.chat_template_digest)
            THEN
                RAISE EXCEPTION 'UPDATE on targets is refused: a known fact never changes'
                    USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fill_in_only_targets', TABLE = 'targets';
            END IF;
            RETURN NEW;
        END $$
        """
    )
    op.execute(
        "CREATE TRIGGER fill_in_only BEFORE UPDATE ON targets FOR EACH ROW EXECUTE FUNCTION roost_only_fill_in()"
    )
    op.execute("ALTER TABLE targets ENABLE ALWAYS TRIGGER fill_in_only")
