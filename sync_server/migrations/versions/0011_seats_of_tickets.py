"""Tickets on the seats of a layout, whom zones let in, and moves of ticket holders to another layout."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_NEW = {"seat_id": 80, "section": 60, "party": 36, "membership_id": 36}
_TAKEN = sa.text("seat_key IS NOT NULL AND state <> 1")
_BOUND = sa.text("membership_id <> ''")
_MOVING = sa.text("state IN ('closed', 'moving')")


def upgrade() -> None:
    """Forward; tickets that were issued before belong to no party."""
    _tickets()
    op.create_table(
        "zone_guests",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("zone_id", sa.String(length=36), nullable=False),
        sa.Column("named", sa.String(length=10), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("named IN ('email', 'customer', 'code')", name=op.f("ck_zone_guests_named_known")),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_zone_guests_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "zone_id", "named", "key", name=op.f("pk_zone_guests")),
    )
    op.create_index("ix_zone_guests_event_id_named_key", "zone_guests", ["event_id", "named", "key"], unique=False)
    op.create_table(
        "companion_releases",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("zone_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("seats", sa.JSON(), nullable=False),
        sa.Column("released_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_companion_releases_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "zone_id", name=op.f("pk_companion_releases")),
    )
    _memberships()
    _moving_houses()
    _reseatings()


def _moving_houses() -> None:
    with op.batch_alter_table("event_layouts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("moving", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("event_layouts", schema=None) as batch_op:
        batch_op.alter_column("moving", server_default=None)


def _memberships() -> None:
    op.create_table(
        "tier_memberships",
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tier", sa.String(length=40), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("card", sa.String(length=64), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('active', 'revoked')", name=op.f("ck_tier_memberships_state_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_tier_memberships_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_tier_memberships")),
        sa.UniqueConstraint("organisation_id", "card", name=op.f("uq_tier_memberships_organisation_id_card")),
    )


def _tickets() -> None:
    op.drop_index("uq_tickets_seat", table_name="tickets")
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        for name, length in _NEW.items():
            batch_op.add_column(sa.Column(name, sa.String(length=length), nullable=False, server_default=""))
        batch_op.alter_column("seat_key", existing_type=sa.String(length=60), type_=sa.String(length=400))
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        for name in _NEW:
            batch_op.alter_column(name, server_default=None)
    _seat_index()
    op.create_index(
        "ix_tickets_membership",
        "tickets",
        ["organisation_id", "membership_id"],
        unique=False,
        sqlite_where=_BOUND,
        postgresql_where=_BOUND,
    )


def _seat_index() -> None:
    op.create_index(
        "uq_tickets_seat",
        "tickets",
        ["event_id", "seat_key"],
        unique=True,
        sqlite_where=_TAKEN,
        postgresql_where=_TAKEN,
    )


def _reseatings() -> None:
    op.create_table(
        "reseatings",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("from_layout_id", sa.String(length=36), nullable=False),
        sa.Column("to_layout_id", sa.String(length=36), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("made_by", sa.String(length=80), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.Column("done_by", sa.String(length=80), nullable=False),
        sa.Column("moved", sa.Integer(), nullable=False),
        sa.Column("touched_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('planned', 'closed', 'moving', 'done')", name=op.f("ck_reseatings_state_known")),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_reseatings_event_id_events")),
        sa.ForeignKeyConstraint(["from_layout_id"], ["layouts.id"], name=op.f("fk_reseatings_from_layout_id_layouts")),
        sa.ForeignKeyConstraint(["to_layout_id"], ["layouts.id"], name=op.f("fk_reseatings_to_layout_id_layouts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reseatings")),
    )
    op.create_index("ix_reseatings_event_id_id", "reseatings", ["event_id", "id"], unique=False)
    op.create_index(
        "ix_reseatings_moving",
        "reseatings",
        ["touched_at"],
        unique=False,
        sqlite_where=_MOVING,
        postgresql_where=_MOVING,
    )
    op.create_table(
        "reseating_steps",
        sa.Column("reseating_id", sa.String(length=36), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ticket_id", sa.BigInteger(), nullable=False),
        sa.Column("old_seat", sa.Integer(), nullable=False),
        sa.Column("new_seat", sa.Integer(), nullable=True),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("new_code", sa.Boolean(), nullable=False),
        sa.Column("flags", sa.SmallInteger(), nullable=False),
        sa.Column("why", sa.String(length=60), nullable=False),
        sa.ForeignKeyConstraint(
            ["reseating_id"], ["reseatings.id"], name=op.f("fk_reseating_steps_reseating_id_reseatings")
        ),
        sa.PrimaryKeyConstraint("reseating_id", "place", name=op.f("pk_reseating_steps")),
    )


def downgrade() -> None:
    """Back; lists, memberships and reports of moves are lost, tickets keep the seats that they have in words."""
    for table in ("reseating_steps", "reseatings", "tier_memberships", "companion_releases", "zone_guests"):
        op.drop_table(table)
    with op.batch_alter_table("event_layouts", schema=None) as batch_op:
        batch_op.drop_column("moving")
    op.drop_index("ix_tickets_membership", table_name="tickets")
    op.drop_index("uq_tickets_seat", table_name="tickets")
    op.execute("UPDATE tickets SET seat_key = substr(seat_key, 1, 60) WHERE length(seat_key) > 60")
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        for name in _NEW:
            batch_op.drop_column(name)
        batch_op.alter_column("seat_key", existing_type=sa.String(length=400), type_=sa.String(length=60))
    _seat_index()
