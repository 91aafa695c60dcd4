"""Seating."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "seating_policies",
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("allow_reserved_seating", sa.Boolean(), nullable=False),
        sa.Column("allow_ga_seating", sa.Boolean(), nullable=False),
        sa.Column("allow_hybrid_ga_reserved", sa.Boolean(), nullable=False),
        sa.Column("allow_vip_zones", sa.Boolean(), nullable=False),
        sa.Column("enforce_accessibility_rules", sa.Boolean(), nullable=False),
        sa.Column("companion_release_occupancy_threshold", sa.Integer(), nullable=False),
        sa.Column("max_wheelchair_seats_per_booking", sa.Integer(), nullable=False),
        sa.Column("accessibility_audit_enabled", sa.Boolean(), nullable=False),
        sa.Column("max_seats_per_booking", sa.Integer(), nullable=False),
        sa.Column("orphan_avoidance_strict", sa.Boolean(), nullable=False),
        sa.Column("group_adjacency_strict", sa.Boolean(), nullable=False),
        sa.Column("max_group_split", sa.Integer(), nullable=False),
        sa.Column("prefer_clustering_over_selection", sa.Boolean(), nullable=False),
        sa.Column("default_hold_ttl_minutes", sa.Integer(), nullable=False),
        sa.Column("max_holds_per_user", sa.Integer(), nullable=True),
        sa.Column("max_holds_per_ip", sa.Integer(), nullable=True),
        sa.Column("mandatory", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "companion_release_occupancy_threshold BETWEEN 0 AND 100",
            name=op.f("ck_seating_policies_threshold_is_percent"),
        ),
        sa.CheckConstraint(
            "default_hold_ttl_minutes BETWEEN 1 AND 60", name=op.f("ck_seating_policies_hold_ttl_in_bounds")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_seating_policies_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_seating_policies")),
    )
    op.create_table(
        "layouts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("venue_id", sa.String(length=36), nullable=False),
        sa.Column("family_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("description", sa.String(length=2000), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("total_capacity", sa.Integer(), nullable=False),
        sa.Column("drawing", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("status IN ('draft', 'active', 'archived')", name=op.f("ck_layouts_status_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_layouts_organisation_id_organisations")
        ),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_layouts_venue_id_venues")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_layouts")),
        sa.UniqueConstraint("family_id", "version", name=op.f("uq_layouts_family_id_version")),
    )
    with op.batch_alter_table("layouts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_layouts_organisation_id_venue_id", ["organisation_id", "venue_id", "id"], unique=False
        )

    op.create_table(
        "event_layouts",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("layout_id", sa.String(length=36), nullable=False),
        sa.Column("layout_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("blocked_seats", sa.JSON(), nullable=False),
        sa.Column("disabled_zones", sa.JSON(), nullable=False),
        sa.Column("zone_overrides", sa.JSON(), nullable=False),
        sa.Column("price_zones", sa.JSON(), nullable=False),
        sa.Column("seating_overrides", sa.JSON(), nullable=False),
        sa.Column("event_zones", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_layouts_event_id_events")),
        sa.ForeignKeyConstraint(["layout_id"], ["layouts.id"], name=op.f("fk_event_layouts_layout_id_layouts")),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_event_layouts")),
    )
    with op.batch_alter_table("event_layouts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_event_layouts_layout_id"), ["layout_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_event_layouts_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "layout_seats",
        sa.Column("layout_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("seat_id", sa.String(length=80), nullable=False),
        sa.Column("zone_number", sa.Integer(), nullable=False),
        sa.Column("section", sa.String(length=60), nullable=False),
        sa.Column("row", sa.String(length=20), nullable=False),
        sa.Column("row_order", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("seat_number", sa.String(length=20), nullable=False),
        sa.Column("x", sa.Float(), nullable=False),
        sa.Column("y", sa.Float(), nullable=False),
        sa.Column("drawn", sa.Boolean(), nullable=False),
        sa.Column("category", sa.String(length=20), nullable=False),
        sa.Column("companion_seat_id", sa.String(length=80), nullable=True),
        sa.Column("price_category", sa.String(length=60), nullable=False),
        sa.Column("aisle_after", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["layout_id"], ["layouts.id"], name=op.f("fk_layout_seats_layout_id_layouts")),
        sa.PrimaryKeyConstraint("layout_id", "number", name=op.f("pk_layout_seats")),
        sa.UniqueConstraint("layout_id", "id", name=op.f("uq_layout_seats_layout_id_id")),
        sa.UniqueConstraint("layout_id", "seat_id", name=op.f("uq_layout_seats_layout_id_seat_id")),
    )
    op.create_table(
        "layout_zones",
        sa.Column("layout_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("zone_type", sa.String(length=20), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("access_mode", sa.String(length=20), nullable=False),
        sa.Column("membership_tier", sa.String(length=40), nullable=True),
        sa.Column("allowed_roles", sa.JSON(), nullable=False),
        sa.Column("focus_x", sa.Float(), nullable=False),
        sa.Column("focus_y", sa.Float(), nullable=False),
        sa.Column("focus_drawn", sa.Boolean(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.CheckConstraint("capacity > 0", name=op.f("ck_layout_zones_holds_somebody")),
        sa.ForeignKeyConstraint(["layout_id"], ["layouts.id"], name=op.f("fk_layout_zones_layout_id_layouts")),
        sa.PrimaryKeyConstraint("layout_id", "number", name=op.f("pk_layout_zones")),
        sa.UniqueConstraint("layout_id", "id", name=op.f("uq_layout_zones_layout_id_id")),
        sa.UniqueConstraint("layout_id", "name", name=op.f("uq_layout_zones_layout_id_name")),
    )
    op.create_table(
        "seat_groups",
        sa.Column("layout_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("group_type", sa.String(length=20), nullable=False),
        sa.Column("seats", sa.JSON(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["layout_id"], ["layouts.id"], name=op.f("fk_seat_groups_layout_id_layouts")),
        sa.PrimaryKeyConstraint("layout_id", "number", name=op.f("pk_seat_groups")),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("seat_groups")
    op.drop_table("layout_zones")
    op.drop_table("layout_seats")
    with op.batch_alter_table("event_layouts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_event_layouts_organisation_id"))
        batch_op.drop_index(batch_op.f("ix_event_layouts_layout_id"))

    op.drop_table("event_layouts")
    with op.batch_alter_table("layouts", schema=None) as batch_op:
        batch_op.drop_index("ix_layouts_organisation_id_venue_id")

    op.drop_table("layouts")
    op.drop_table("seating_policies")
