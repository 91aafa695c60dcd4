"""What is watched over: alerts and checks, and the log from which open seat maps are kept up to date."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    _make_seat_map_log()
    _make_house_checks()
    _make_house_figures()


def downgrade() -> None:
    """Back."""
    op.drop_table("house_figures")
    op.drop_table("house_alerts")
    op.drop_table("house_findings")
    op.drop_table("house_checks")
    op.drop_table("seat_map_changes")
    op.drop_table("seat_map_heads")


def _make_seat_map_log() -> None:
    op.create_table(
        "seat_map_heads",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("oldest", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_seat_map_heads")),
    )
    with op.batch_alter_table("seat_map_heads", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_seat_map_heads_changed_at"), ["changed_at"], unique=False)
    op.create_table(
        "seat_map_changes",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seats", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("event_id", "version", name=op.f("pk_seat_map_changes")),
    )
    with op.batch_alter_table("seat_map_changes", schema=None) as batch_op:
        batch_op.create_index("ix_seat_map_changes_at", ["at"], unique=False)


def _make_house_checks() -> None:
    op.create_table(
        "house_checks",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("ran_at", sa.BigInteger(), nullable=False),
        sa.Column("findings", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_house_checks")),
    )
    op.create_table(
        "house_findings",
        sa.Column("place", sa.String(length=120), nullable=False),
        sa.Column("row", sa.String(length=200), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("points_to", sa.String(length=36), nullable=False),
        sa.Column("found_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("place", "row", name=op.f("pk_house_findings")),
    )
    op.create_table(
        "house_alerts",
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("venue_id", sa.String(length=36), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "event_id", name=op.f("pk_house_alerts")),
    )


def _make_house_figures() -> None:
    op.create_table(
        "house_figures",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("percent", sa.Float(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", "name", name=op.f("pk_house_figures")),
    )
    with op.batch_alter_table("house_figures", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_house_figures_organisation_id"), ["organisation_id"], unique=False)
