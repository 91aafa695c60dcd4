"""Devices and their journals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "device_request_counters",
        sa.Column("device_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.String(length=8), nullable=False),
        sa.Column("highest", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.LargeBinary(length=8), nullable=False),
        sa.PrimaryKeyConstraint("device_number", "channel", name=op.f("pk_device_request_counters")),
    )
    op.create_table(
        "devices",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("profile", sa.String(length=20), nullable=False),
        sa.Column("public_key", sa.LargeBinary(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("enrolled_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_why", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_devices")),
        sa.UniqueConstraint("number", name=op.f("uq_devices_number")),
    )
    with op.batch_alter_table("devices", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_devices_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "scan_conflicts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("subject", sa.String(length=80), nullable=False),
        sa.Column("severity", sa.Integer(), nullable=False),
        sa.Column("order_unsure", sa.Boolean(), nullable=False),
        sa.Column("scans", sa.JSON(), nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=False),
        sa.Column("found_at", sa.BigInteger(), nullable=False),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        sa.Column("resolved_by", sa.String(length=120), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan_conflicts")),
        sa.UniqueConstraint(
            "event", "ticket", "kind", "subject", name=op.f("uq_scan_conflicts_event_ticket_kind_subject")
        ),
    )
    with op.batch_alter_table("scan_conflicts", schema=None) as batch_op:
        batch_op.create_index("ix_scan_conflicts_event", ["event", "found_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_scan_conflicts_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "scan_counts",
        sa.Column("event", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("gate", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("direction", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event", "gate", "direction", "reason", name=op.f("pk_scan_counts")),
    )
    op.create_table(
        "scan_entries",
        sa.Column("device", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("branch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("quarantined", sa.Boolean(), nullable=False),
        sa.Column("why", sa.String(length=40), nullable=False),
        sa.Column("forked", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("gate", sa.BigInteger(), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=False),
        sa.Column("admitted", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("uncertainty", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("device", "branch", "seq", "hash", name=op.f("pk_scan_entries")),
    )
    with op.batch_alter_table("scan_entries", schema=None) as batch_op:
        batch_op.create_index("ix_scan_entries_event_at", ["event", "at"], unique=False)
        batch_op.create_index(
            "ix_scan_entries_quarantined",
            ["organisation_id", "received_at"],
            unique=False,
            postgresql_where=sa.text("quarantined"),
            sqlite_where=sa.text("quarantined"),
        )
        batch_op.create_index("ix_scan_entries_ticket", ["event", "ticket"], unique=False)

    op.create_table(
        "scan_journals",
        sa.Column("device", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("branch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("mark_seq", sa.BigInteger(), nullable=False),
        sa.Column("mark_head", sa.LargeBinary(length=32), nullable=False),
        sa.Column("claimed_seq", sa.BigInteger(), nullable=False),
        sa.Column("claimed_head", sa.LargeBinary(length=32), nullable=False),
        sa.Column("claimed_signature", sa.LargeBinary(length=64), nullable=False),
        sa.Column("boots", sa.LargeBinary(), nullable=False),
        sa.Column("anchored_seq", sa.BigInteger(), nullable=False),
        sa.Column("alarm", sa.String(length=20), nullable=False),
        sa.Column("alarm_at", sa.BigInteger(), nullable=True),
        sa.Column("received_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("device", "branch", name=op.f("pk_scan_journals")),
    )
    with op.batch_alter_table("scan_journals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scan_journals_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "scan_movements",
        sa.Column("device", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("branch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("arrival", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=False),
        sa.Column("issue", sa.BigInteger(), nullable=False),
        sa.Column("code_hash", sa.LargeBinary(length=16), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("gate", sa.BigInteger(), nullable=False),
        sa.Column("zone", sa.BigInteger(), nullable=False),
        sa.Column("annuls_device", sa.BigInteger(), nullable=True),
        sa.Column("annuls_branch", sa.BigInteger(), nullable=True),
        sa.Column("annuls_seq", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("device", "branch", "seq", "hash", name=op.f("pk_scan_movements")),
        sa.UniqueConstraint("event", "arrival", name=op.f("uq_scan_movements_event_arrival")),
    )
    op.create_table(
        "scan_presence",
        sa.Column("event", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ticket", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("bodies", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("gate", sa.BigInteger(), nullable=False),
        sa.Column("zone", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event", "ticket", name=op.f("pk_scan_presence")),
    )
    with op.batch_alter_table("scan_presence", schema=None) as batch_op:
        batch_op.create_index(
            "ix_scan_presence_inside",
            ["event", "at"],
            unique=False,
            postgresql_where=sa.text("bodies > 0"),
            sqlite_where=sa.text("bodies > 0"),
        )

    op.create_table(
        "server_identity",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("public_key", sa.LargeBinary(length=32), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_server_identity")),
    )
    op.create_table(
        "device_assignments",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("device_id", sa.String(length=36), nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("event_number", sa.BigInteger(), nullable=False),
        sa.Column("gate", sa.Integer(), nullable=True),
        sa.Column("gates_allowed", sa.JSON(), nullable=False),
        sa.Column("zones", sa.JSON(), nullable=False),
        sa.Column("direction", sa.String(length=8), nullable=False),
        sa.Column("mode", sa.String(length=8), nullable=False),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"], name=op.f("fk_device_assignments_device_id_devices")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device_assignments")),
        sa.UniqueConstraint("device_id", "event_number", name=op.f("uq_device_assignments_device_id_event_number")),
    )
    with op.batch_alter_table("device_assignments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_device_assignments_event_id"), ["event_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_device_assignments_organisation_id"), ["organisation_id"], unique=False)

    op.create_table(
        "device_enrolment_codes",
        sa.Column("code_id", sa.LargeBinary(length=8), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("device_id", sa.String(length=36), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("tries_left", sa.Integer(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.Column("check_number", sa.String(length=6), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_id"], ["devices.id"], name=op.f("fk_device_enrolment_codes_device_id_devices")
        ),
        sa.PrimaryKeyConstraint("code_id", name=op.f("pk_device_enrolment_codes")),
    )
    with op.batch_alter_table("device_enrolment_codes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_device_enrolment_codes_device_id"), ["device_id"], unique=False)

    op.create_table(
        "device_reports",
        sa.Column("device_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("software", sa.String(length=40), nullable=False),
        sa.Column("branch", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("unsent", sa.BigInteger(), nullable=False),
        sa.Column("clock_offset", sa.BigInteger(), nullable=True),
        sa.Column("clock_uncertainty", sa.BigInteger(), nullable=True),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"], name=op.f("fk_device_reports_device_id_devices")),
        sa.PrimaryKeyConstraint("device_id", name=op.f("pk_device_reports")),
    )
    with op.batch_alter_table("device_reports", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_device_reports_organisation_id"), ["organisation_id"], unique=False)
        batch_op.create_index("ix_device_reports_seen", ["organisation_id", "last_seen_at"], unique=False)


def downgrade() -> None:
    """Back."""
    with op.batch_alter_table("device_reports", schema=None) as batch_op:
        batch_op.drop_index("ix_device_reports_seen")
        batch_op.drop_index(batch_op.f("ix_device_reports_organisation_id"))

    op.drop_table("device_reports")
    with op.batch_alter_table("device_enrolment_codes", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_device_enrolment_codes_device_id"))

    op.drop_table("device_enrolment_codes")
    with op.batch_alter_table("device_assignments", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_device_assignments_organisation_id"))
        batch_op.drop_index(batch_op.f("ix_device_assignments_event_id"))

    op.drop_table("device_assignments")
    op.drop_table("server_identity")
    with op.batch_alter_table("scan_presence", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_scan_presence_inside", postgresql_where=sa.text("bodies > 0"), sqlite_where=sa.text("bodies > 0")
        )

    op.drop_table("scan_presence")
    op.drop_table("scan_movements")
    with op.batch_alter_table("scan_journals", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_scan_journals_organisation_id"))

    op.drop_table("scan_journals")
    with op.batch_alter_table("scan_entries", schema=None) as batch_op:
        batch_op.drop_index("ix_scan_entries_ticket")
        batch_op.drop_index(
            "ix_scan_entries_quarantined", postgresql_where=sa.text("quarantined"), sqlite_where=sa.text("quarantined")
        )
        batch_op.drop_index("ix_scan_entries_event_at")

    op.drop_table("scan_entries")
    op.drop_table("scan_counts")
    with op.batch_alter_table("scan_conflicts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_scan_conflicts_organisation_id"))
        batch_op.drop_index("ix_scan_conflicts_event")

    op.drop_table("scan_conflicts")
    with op.batch_alter_table("devices", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_devices_organisation_id"))

    op.drop_table("devices")
    op.drop_table("device_request_counters")
