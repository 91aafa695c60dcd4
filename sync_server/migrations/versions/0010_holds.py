"""Guests, holds, and one row for every seat of an event that is taken."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "hold_tallies",
        sa.Column("bearer_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("bearer_id", name=op.f("pk_hold_tallies")),
    )
    with op.batch_alter_table("hold_tallies", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_hold_tallies_updated_at"), ["updated_at"], unique=False)

    op.create_table(
        "guests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("origin", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_guests_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guests")),
    )
    with op.batch_alter_table("guests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_guests_ends_at"), ["ends_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_guests_organisation_id"), ["organisation_id"], unique=False)
        batch_op.create_index("ix_guests_origin_created_at", ["origin", "created_at"], unique=False)

    op.create_table(
        "event_desks",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_event_desks")),
    )
    op.create_table(
        "event_places",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("zone", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("sold", sa.Integer(), nullable=False),
        sa.CheckConstraint("held >= 0 AND sold >= 0", name=op.f("ck_event_places_not_negative")),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_places_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "zone", name=op.f("pk_event_places")),
    )
    op.create_table(
        "event_seats",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("hold_id", sa.String(length=36), nullable=True),
        sa.Column("held_until", sa.BigInteger(), nullable=True),
        sa.Column("ticket_id", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("locked_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(state = 0 AND hold_id IS NULL AND held_until IS NULL AND ticket_id IS NULL) OR "
            "(state = 1 AND hold_id IS NOT NULL AND held_until IS NOT NULL AND ticket_id IS NULL) OR "
            "(state = 2 AND hold_id IS NULL AND held_until IS NULL AND ticket_id IS NOT NULL)",
            name=op.f("ck_event_seats_state_fits"),
        ),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_seats_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "seat", name=op.f("pk_event_seats")),
    )
    with op.batch_alter_table("event_seats", schema=None) as batch_op:
        batch_op.create_index(
            "uq_event_seats_ticket_id",
            ["ticket_id"],
            unique=True,
            sqlite_where=sa.text("ticket_id IS NOT NULL"),
            postgresql_where=sa.text("ticket_id IS NOT NULL"),
        )

    op.create_table(
        "holds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=6), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("bearer_kind", sa.String(length=8), nullable=False),
        sa.Column("bearer_id", sa.String(length=36), nullable=False),
        sa.Column("party_id", sa.String(length=36), nullable=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=False),
        sa.Column("remaining_ms", sa.BigInteger(), nullable=True),
        sa.Column("extended", sa.SmallInteger(), nullable=False),
        sa.Column("source", sa.String(length=8), nullable=False),
        sa.Column("notes", sa.String(length=200), nullable=True),
        sa.Column("origin", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "(kind = 'seat' AND seat IS NOT NULL AND quantity = 1) OR "
            "(kind = 'places' AND seat IS NULL AND quantity > 0)",
            name=op.f("ck_holds_kind_fits"),
        ),
        sa.CheckConstraint(
            "(status = 'suspended') = (remaining_ms IS NOT NULL)", name=op.f("ck_holds_suspended_keeps_time")
        ),
        sa.CheckConstraint("source IN ('web', 'scanner')", name=op.f("ck_holds_source_known")),
        sa.CheckConstraint(
            "status IN ('active', 'converted', 'expired', 'cancelled', 'suspended')", name=op.f("ck_holds_status_known")
        ),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_holds_event_id_events")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holds")),
    )
    with op.batch_alter_table("holds", schema=None) as batch_op:
        batch_op.create_index("ix_holds_bearer_id_created_at", ["bearer_id", "created_at"], unique=False)
        batch_op.create_index(
            "ix_holds_living",
            ["bearer_id", "event_id"],
            unique=False,
            sqlite_where=sa.text("status IN ('active', 'suspended')"),
            postgresql_where=sa.text("status IN ('active', 'suspended')"),
        )
        batch_op.create_index(
            "ix_holds_event_id_origin",
            ["event_id", "origin"],
            unique=False,
            sqlite_where=sa.text("origin IS NOT NULL"),
            postgresql_where=sa.text("origin IS NOT NULL"),
        )
        batch_op.create_index("ix_holds_event_id_seat_status", ["event_id", "seat", "status"], unique=False)
        batch_op.create_index(
            "ix_holds_held_until",
            ["held_until"],
            unique=False,
            sqlite_where=sa.text("status = 'active'"),
            postgresql_where=sa.text("status = 'active'"),
        )
        batch_op.create_index(batch_op.f("ix_holds_organisation_id"), ["organisation_id"], unique=False)
        batch_op.create_index(
            "uq_holds_seat",
            ["event_id", "seat"],
            unique=True,
            sqlite_where=sa.text("seat IS NOT NULL AND status IN ('active', 'suspended')"),
            postgresql_where=sa.text("seat IS NOT NULL AND status IN ('active', 'suspended')"),
        )


def downgrade() -> None:
    """Back."""
    with op.batch_alter_table("holds", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_holds_seat",
            sqlite_where=sa.text("seat IS NOT NULL AND status IN ('active', 'suspended')"),
            postgresql_where=sa.text("seat IS NOT NULL AND status IN ('active', 'suspended')"),
        )
        batch_op.drop_index(batch_op.f("ix_holds_organisation_id"))
        batch_op.drop_index(
            "ix_holds_held_until",
            sqlite_where=sa.text("status = 'active'"),
            postgresql_where=sa.text("status = 'active'"),
        )
        batch_op.drop_index(
            "ix_holds_event_id_origin",
            sqlite_where=sa.text("origin IS NOT NULL"),
            postgresql_where=sa.text("origin IS NOT NULL"),
        )
        batch_op.drop_index("ix_holds_event_id_seat_status")
        batch_op.drop_index(
            "ix_holds_living",
            sqlite_where=sa.text("status IN ('active', 'suspended')"),
            postgresql_where=sa.text("status IN ('active', 'suspended')"),
        )
        batch_op.drop_index("ix_holds_bearer_id_created_at")

    op.drop_table("holds")
    with op.batch_alter_table("event_seats", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_event_seats_ticket_id",
            sqlite_where=sa.text("ticket_id IS NOT NULL"),
            postgresql_where=sa.text("ticket_id IS NOT NULL"),
        )

    op.drop_table("event_seats")
    op.drop_table("event_places")
    op.drop_table("event_desks")
    with op.batch_alter_table("guests", schema=None) as batch_op:
        batch_op.drop_index("ix_guests_origin_created_at")
        batch_op.drop_index(batch_op.f("ix_guests_organisation_id"))
        batch_op.drop_index(batch_op.f("ix_guests_ends_at"))

    op.drop_table("guests")
    with op.batch_alter_table("hold_tallies", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_hold_tallies_updated_at"))

    op.drop_table("hold_tallies")
