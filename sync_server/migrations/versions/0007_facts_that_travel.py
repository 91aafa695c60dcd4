"""Facts that travel: in order, by way of house and broker, and what others tell."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_UNTOLD = "told_at IS NULL AND dead_at IS NULL"
_UNSENT = "told_at IS NOT NULL AND sent_at IS NULL AND dead_at IS NULL"


def upgrade() -> None:
    """Forward; what was delivered was delivered to the house, and what waits keeps no order with what comes."""
    op.create_table(
        "joined_elsewhere",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("participants", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_joined_elsewhere")),
    )
    op.create_table(
        "processed_messages",
        sa.Column("message_id", sa.String(length=64), nullable=False),
        sa.Column("processed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_processed_messages")),
    )
    op.create_index(op.f("ix_processed_messages_processed_at"), "processed_messages", ["processed_at"], unique=False)
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.drop_index("ix_outbox_unsent")
        batch_op.add_column(sa.Column("stream", sa.String(length=100), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("told_at", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("dead_at", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("unrouted", sa.Boolean(), nullable=False, server_default=sa.false()))
        batch_op.alter_column("attempts", server_default="0")
        batch_op.alter_column("last_error", server_default="")
    op.execute("UPDATE outbox SET told_at = sent_at, stream = 'message:' || message_id")
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.alter_column("stream", server_default=None)
        _partial(batch_op, "ix_outbox_untold", ["id"], _UNTOLD)
        _partial(batch_op, "ix_outbox_untold_due_at", ["due_at"], _UNTOLD)
        _partial(batch_op, "ix_outbox_unsent", ["id"], _UNSENT)
        _partial(batch_op, "ix_outbox_unsent_due_at", ["due_at"], _UNSENT)
        _partial(batch_op, "ix_outbox_dead", ["organisation_id", "id"], "dead_at IS NOT NULL")


def downgrade() -> None:
    """Back; what was laid aside waits again."""
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        for name in ("dead", "unsent_due_at", "unsent", "untold_due_at", "untold"):
            batch_op.drop_index(f"ix_outbox_{name}")
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        for column in ("unrouted", "dead_at", "told_at", "stream"):
            batch_op.drop_column(column)
        batch_op.alter_column("attempts", server_default=None)
        batch_op.alter_column("last_error", server_default=None)
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        _partial(batch_op, "ix_outbox_unsent", ["id"], "sent_at IS NULL")
    op.drop_table("processed_messages")
    op.drop_table("joined_elsewhere")


def _partial(batch_op: Any, name: str, columns: list[str], where: str) -> None:
    only = sa.text(where)
    batch_op.create_index(name, columns, unique=False, sqlite_where=only, postgresql_where=only)
