"""Venues, events, tickets and their keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "ticket_keys",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("public", sa.LargeBinary(length=32), nullable=False),
        sa.Column("sealed", sa.LargeBinary(length=80), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("signs_from", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id BETWEEN 1 AND 65535", name=op.f("ck_ticket_keys_two_bytes")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_ticket_keys_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ticket_keys")),
    )
    with op.batch_alter_table("ticket_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ticket_keys_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "venues",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=500), nullable=False),
        sa.Column("city", sa.String(length=50), nullable=False),
        sa.Column("country", sa.String(length=60), nullable=False),
        sa.Column("max_capacity", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_venues_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_venues")),
        sa.UniqueConstraint("organisation_id", "slug", name=op.f("uq_venues_organisation_id_slug")),
    )
    with op.batch_alter_table("venues", schema=None) as batch_op:
        batch_op.create_index("ix_venues_organisation_id_id", ["organisation_id", "id"], unique=False)

    op.create_table(
        "events",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("venue_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("code", sa.String(length=12), nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.String(length=2000), nullable=False),
        sa.Column("category", sa.String(length=50), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("start_at", sa.BigInteger(), nullable=False),
        sa.Column("end_at", sa.BigInteger(), nullable=False),
        sa.Column("doors_at", sa.BigInteger(), nullable=True),
        sa.Column("sale_start_at", sa.BigInteger(), nullable=True),
        sa.Column("sale_end_at", sa.BigInteger(), nullable=False),
        sa.Column("go_live_at", sa.BigInteger(), nullable=True),
        sa.Column("end_at_auto", sa.BigInteger(), nullable=True),
        sa.Column("counts_from", sa.BigInteger(), nullable=True),
        sa.Column("rescheduled_at", sa.BigInteger(), nullable=True),
        sa.Column("postponement_reason", sa.String(length=1000), nullable=False),
        sa.Column("replaced_by_event_id", sa.String(length=36), nullable=True),
        sa.Column("recurrence_group_id", sa.String(length=36), nullable=True),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("venue_name", sa.String(length=100), nullable=False),
        sa.Column("city", sa.String(length=50), nullable=False),
        sa.Column("country", sa.String(length=60), nullable=False),
        sa.Column("address", sa.String(length=500), nullable=False),
        sa.Column("cutover_hour", sa.Integer(), nullable=False),
        sa.Column("cutover_empties", sa.Boolean(), nullable=False),
        sa.Column("anti_passback", sa.Boolean(), nullable=False),
        sa.Column("name_checks", sa.Boolean(), nullable=False),
        sa.Column("known_tickets_only", sa.Boolean(), nullable=False),
        sa.Column("max_snapshot_age_hours", sa.Integer(), nullable=True),
        sa.Column("clock_uncertain", sa.String(length=5), nullable=False),
        sa.Column("repeat_ms", sa.Integer(), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("tickets_issued", sa.Integer(), nullable=False),
        sa.Column("ticket_sequence", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.Column("cancelled_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("capacity = 0 OR tickets_issued <= capacity", name=op.f("ck_events_within_capacity")),
        sa.CheckConstraint("start_at < end_at", name=op.f("ck_events_ends_after_start")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_events_organisation_id_organisations")
        ),
        sa.ForeignKeyConstraint(
            ["replaced_by_event_id"], ["events.id"], name=op.f("fk_events_replaced_by_event_id_events")
        ),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_events_venue_id_venues")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("number", name=op.f("uq_events_number")),
        sa.UniqueConstraint("organisation_id", "code", name=op.f("uq_events_organisation_id_code")),
        sa.UniqueConstraint("organisation_id", "slug", name=op.f("uq_events_organisation_id_slug")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index("ix_events_organisation_id_id", ["organisation_id", "id"], unique=False)
        batch_op.create_index("ix_events_organisation_id_start_at", ["organisation_id", "start_at"], unique=False)
        batch_op.create_index("ix_events_organisation_id_status", ["organisation_id", "status"], unique=False)
        batch_op.create_index("ix_events_status_start_at", ["status", "start_at", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_events_venue_id"), ["venue_id"], unique=False)

    op.create_table(
        "gates",
        sa.Column("venue_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("code", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=True),
        sa.Column("step_free", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_gates_venue_id_venues")),
        sa.PrimaryKeyConstraint("venue_id", "number", name=op.f("pk_gates")),
        sa.UniqueConstraint("venue_id", "code", name=op.f("uq_gates_venue_id_code")),
    )
    with op.batch_alter_table("gates", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_gates_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "event_gate_zones",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("gate_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("zones", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_gate_zones_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "gate_number", name=op.f("pk_event_gate_zones")),
    )
    op.create_table(
        "event_zones",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=True),
        sa.Column("membership_tier", sa.String(length=40), nullable=True),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_zones_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "number", name=op.f("pk_event_zones")),
        sa.UniqueConstraint("event_id", "name", name=op.f("uq_event_zones_event_id_name")),
    )
    op.create_table(
        "ticket_types",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("issued", sa.Integer(), nullable=False),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("entitlement", sa.SmallInteger(), nullable=False),
        sa.Column("entry_limit", sa.SmallInteger(), nullable=False),
        sa.Column("valid_days", sa.String(length=128), nullable=False),
        sa.Column("flags", sa.SmallInteger(), nullable=False),
        sa.Column("check_words", sa.String(length=100), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("sale_start_at", sa.BigInteger(), nullable=True),
        sa.Column("sale_end_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("issued BETWEEN 0 AND quantity", name=op.f("ck_ticket_types_within_quantity")),
        sa.CheckConstraint("price_cents >= 0", name=op.f("ck_ticket_types_price_not_negative")),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_ticket_types_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "number", name=op.f("pk_ticket_types")),
        sa.UniqueConstraint("event_id", "name", name=op.f("uq_ticket_types_event_id_name")),
    )
    op.create_table(
        "tickets",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("event_number", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("number", sa.String(length=24), nullable=False),
        sa.Column("confirmation_code", sa.String(length=8), nullable=False),
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("issue", sa.SmallInteger(), nullable=False),
        sa.Column("issued_at", sa.BigInteger(), nullable=False),
        sa.Column("claims", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("ticket_type", sa.Integer(), nullable=False),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("seat", sa.BigInteger(), nullable=False),
        sa.Column("seat_row", sa.String(length=20), nullable=False),
        sa.Column("seat_number", sa.String(length=20), nullable=False),
        sa.Column("seat_key", sa.String(length=60), nullable=True),
        sa.Column("valid_days", sa.String(length=128), nullable=False),
        sa.Column("entitlement", sa.SmallInteger(), nullable=False),
        sa.Column("entry_limit", sa.SmallInteger(), nullable=False),
        sa.Column("flags", sa.SmallInteger(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("membership_tier", sa.String(length=40), nullable=False),
        sa.Column("membership_state", sa.SmallInteger(), nullable=False),
        sa.Column("membership_until", sa.BigInteger(), nullable=False),
        sa.Column("holder_name", sa.String(length=100), nullable=False),
        sa.Column("notes", sa.String(length=200), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("issue BETWEEN 1 AND 255", name=op.f("ck_tickets_issue_one_byte")),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_tickets_event_id_events")),
        sa.ForeignKeyConstraint(["key_id"], ["ticket_keys.id"], name=op.f("fk_tickets_key_id_ticket_keys")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tickets")),
        sa.UniqueConstraint("event_id", "confirmation_code", name=op.f("uq_tickets_event_id_confirmation_code")),
        sa.UniqueConstraint("event_id", "sequence", name=op.f("uq_tickets_event_id_sequence")),
    )
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        batch_op.create_index("ix_tickets_key_id", ["key_id"], unique=False)
        batch_op.create_index(
            "uq_tickets_seat",
            ["event_id", "seat_key"],
            unique=True,
            sqlite_where=sa.text("seat_key IS NOT NULL AND state <> 1"),
            postgresql_where=sa.text("seat_key IS NOT NULL AND state <> 1"),
        )


def downgrade() -> None:
    """Back."""
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_tickets_seat",
            sqlite_where=sa.text("seat_key IS NOT NULL AND state <> 1"),
            postgresql_where=sa.text("seat_key IS NOT NULL AND state <> 1"),
        )
        batch_op.drop_index("ix_tickets_key_id")

    op.drop_table("tickets")
    op.drop_table("ticket_types")
    op.drop_table("event_zones")
    op.drop_table("event_gate_zones")
    with op.batch_alter_table("gates", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_gates_organisation_id"))

    op.drop_table("gates")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_events_venue_id"))
        batch_op.drop_index("ix_events_status_start_at")
        batch_op.drop_index("ix_events_organisation_id_status")
        batch_op.drop_index("ix_events_organisation_id_start_at")
        batch_op.drop_index("ix_events_organisation_id_id")

    op.drop_table("events")
    with op.batch_alter_table("venues", schema=None) as batch_op:
        batch_op.drop_index("ix_venues_organisation_id_id")

    op.drop_table("venues")
    with op.batch_alter_table("ticket_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_ticket_keys_organisation_id"))

    op.drop_table("ticket_keys")
