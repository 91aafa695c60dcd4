"""waiting list: an address may stand there more than once, because nobody is told that it does."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.drop_index("uq_waiting_parties_email", "waiting_parties")


def downgrade() -> None:
    """Refuse: a schema only goes forward."""
    raise RuntimeError("Restore a backup instead.")
