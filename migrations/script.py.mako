"""${message}

Deployment rules for this file (docs/adding-a-migration.md):

* Name it NNNN_expand_slug.py or NNNN_contract_slug.py; NNNN is its revision, one more than the newest.
* expand: the previous release must still work on the result. Add; do not rename, drop, or make anything stricter.
* contract: only what no supported release reads or writes any more.
* No long locks: lock_timeout is 5 s and statement_timeout 60 s. New columns are nullable or have a constant default;
  constraints on filled tables are added NOT VALID and validated in a revision of their own.
* One transaction per revision. Name every constraint by registry/store/tables.py, and change that file too.
* Records never change: a revision that has to move rows of an immutable table says why, and a test seeds such rows.
* New tables get their rights in registry/store/grants.py and, if rows never change, a trigger as in 0001.
* `downgrade` undoes `upgrade`; a test runs up, down and up again.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision: str = ${repr(up_revision)}
down_revision: str | None = ${repr(down_revision)}
branch_labels: str | Sequence[str] | None = ${repr(branch_labels)}
depends_on: str | Sequence[str] | None = ${repr(depends_on)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    ${downgrades if downgrades else "pass"}
