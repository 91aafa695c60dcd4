"""What supervisors decided at gates, the words of replaced issues, and how old tickets still to come may be."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_DECISIONS = "kind IN ('doors', 'count_correction')"
_NOW = {
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    "sqlite": "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
}


def upgrade() -> None:
    """Forward; gates may have been told any time up to now, so every head is settled up to now."""
    op.create_table(
        "ticket_issues",
        sa.Column("ticket_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("issue", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("claims", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["tickets.id"], name=op.f("fk_ticket_issues_ticket_id_tickets")),
        sa.PrimaryKeyConstraint("ticket_id", "issue", name=op.f("pk_ticket_issues")),
    )
    with op.batch_alter_table("event_heads", schema=None) as batch_op:
        batch_op.add_column(sa.Column("settled_at", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(f"UPDATE event_heads SET settled_at = {_NOW[op.get_bind().dialect.name]}")  # noqa: S608 - our own words
    with op.batch_alter_table("event_heads", schema=None) as batch_op:
        batch_op.alter_column("settled_at", server_default=None)
    with op.batch_alter_table("scan_entries", schema=None) as batch_op:
        only = sa.text(_DECISIONS)
        batch_op.create_index(
            "ix_scan_entries_decisions",
            ["event", "device"],
            unique=False,
            postgresql_where=only,
            sqlite_where=only,
        )


def downgrade() -> None:
    """Back; what replaced issues said is forgotten."""
    with op.batch_alter_table("scan_entries", schema=None) as batch_op:
        batch_op.drop_index("ix_scan_entries_decisions")
    with op.batch_alter_table("event_heads", schema=None) as batch_op:
        batch_op.drop_column("settled_at")
    op.drop_table("ticket_issues")
