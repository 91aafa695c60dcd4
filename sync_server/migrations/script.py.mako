"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
#: The type of an id.
ID = sa.String(36).with_variant(sa.UUID(as_uuid=False), "postgresql")

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Refuse: a schema only goes forward."""
    raise RuntimeError("Restore a backup instead.")
