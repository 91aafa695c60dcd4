"""orders: sums and words of those that are filed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

#: The type of an id.
ID = sa.String(36).with_variant(sa.UUID(as_uuid=False), "postgresql")

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "order_sums",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("figure", sa.String(length=16), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_order_sums_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "figure", name=op.f("pk_order_sums")),
    )
    op.create_table(
        "sale_sums",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("span", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("starts", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ticket_type", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("figure", sa.String(length=8), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_sale_sums_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint(
            "organisation_id",
            "event_id",
            "span",
            "starts",
            "ticket_type",
            "currency",
            "figure",
            name=op.f("pk_sale_sums"),
        ),
    )
    with op.batch_alter_table("sale_sums", schema=None) as batch_op:
        batch_op.create_index(
            "ix_sale_sums_organisation_id_span_starts", ["organisation_id", "span", "starts"], unique=False
        )

    op.create_table(
        "order_words",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("word", sa.LargeBinary(), nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "word", "order_id", name=op.f("pk_order_words")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.add_column(sa.Column("filed", sa.Boolean(), server_default=sa.text("false"), nullable=False))


def downgrade() -> None:
    """Refuse: a schema only goes forward."""
    raise RuntimeError("Restore a backup instead.")
