"""orders: an index by state."""

from __future__ import annotations

from sync_server.migrations.indexes import build_index

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    build_index("ix_orders_organisation_id_state", "orders", ["organisation_id", "state", "id"])


def downgrade() -> None:
    """Refuse: a schema only goes forward."""
    raise RuntimeError("Restore a backup instead.")
