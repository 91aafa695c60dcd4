"""orders: an index of those that are not filed."""

from __future__ import annotations

import sqlalchemy as sa

from sync_server.migrations.indexes import build_index

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    build_index(
        "ix_orders_not_filed",
        "orders",
        ["organisation_id", "event_id", "id", "state", "updated_at"],
        sqlite_where=sa.text("NOT filed"),
        postgresql_where=sa.text("NOT filed"),
    )


def downgrade() -> None:
    """Refuse: a schema only goes forward."""
    raise RuntimeError("Restore a backup instead.")
