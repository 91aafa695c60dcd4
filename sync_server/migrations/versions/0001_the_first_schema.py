"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "audit_lines",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor_kind", sa.String(length=16), nullable=False),
        sa.Column("actor_id", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=80), nullable=False),
        sa.Column("subject_kind", sa.String(length=40), nullable=False),
        sa.Column("subject_id", sa.String(length=64), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("approval", sa.String(length=200), nullable=False),
        sa.Column("ip", sa.String(length=64), nullable=False),
        sa.Column("user_agent", sa.String(length=300), nullable=False),
        sa.Column("request_id", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_lines")),
    )
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.create_index("ix_audit_lines_organisation_id", ["organisation_id", "id"], unique=False)
        batch_op.create_index("ix_audit_lines_subject", ["subject_kind", "subject_id", "id"], unique=False)

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
        "event_heads",
        sa.Column("event_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=16), nullable=False),
        sa.Column("arrivals", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_number", name=op.f("pk_event_heads")),
    )
    op.create_table(
        "event_revisions",
        sa.Column("event_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.LargeBinary(length=16), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("event_number", "revision", name=op.f("pk_event_revisions")),
    )
    with op.batch_alter_table("event_revisions", schema=None) as batch_op:
        batch_op.create_index("ix_event_revisions_at", ["event_number", "at"], unique=False)

    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("request_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "key", name=op.f("pk_idempotency_keys")),
    )
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_idempotency_keys_created_at"), ["created_at"], unique=False)

    op.create_table(
        "lineage",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("value", sa.LargeBinary(length=8), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lineage")),
    )
    op.create_table(
        "login_failures",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.LargeBinary(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_failures")),
    )
    with op.batch_alter_table("login_failures", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_login_failures_at"), ["at"], unique=False)
        batch_op.create_index("ix_login_failures_key_at", ["key", "at"], unique=False)

    op.create_table(
        "organisations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organisations")),
        sa.UniqueConstraint("slug", name=op.f("uq_organisations_slug")),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("message_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("subjects", sa.JSON(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.String(length=500), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("message_id", name=op.f("uq_outbox_message_id")),
    )
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.create_index("ix_outbox_sent_at", ["sent_at"], unique=False)
        batch_op.create_index(
            "ix_outbox_unsent",
            ["id"],
            unique=False,
            sqlite_where=sa.text("sent_at IS NULL"),
            postgresql_where=sa.text("sent_at IS NULL"),
        )

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
        sa.Column("issue", sa.Integer(), nullable=False),
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
        "snapshot_history",
        sa.Column("event_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("event_number", "kind", "key", "revision", name=op.f("pk_snapshot_history")),
    )
    with op.batch_alter_table("snapshot_history", schema=None) as batch_op:
        batch_op.create_index("ix_snapshot_history_revision", ["event_number", "revision"], unique=False)

    op.create_table(
        "snapshot_rows",
        sa.Column("event_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_number", "kind", "key", name=op.f("pk_snapshot_rows")),
    )
    with op.batch_alter_table("snapshot_rows", schema=None) as batch_op:
        batch_op.create_index("ix_snapshot_rows_revision", ["event_number", "revision"], unique=False)

    op.create_table(
        "users",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("platform_role", sa.String(length=20), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.String(length=36), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_api_tokens_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
    )
    with op.batch_alter_table("api_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_tokens_organisation_id"), ["organisation_id"], unique=False)

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

    op.create_table(
        "memberships",
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_memberships_organisation_id_organisations")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_memberships_user_id_users")),
        sa.PrimaryKeyConstraint("organisation_id", "user_id", name=op.f("pk_memberships")),
    )
    with op.batch_alter_table("memberships", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_memberships_user_id"), ["user_id"], unique=False)

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
        "sessions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sessions_token_hash")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_ends_at"), ["ends_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "supervisors",
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("verifier", sa.String(length=200), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_supervisors_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "number", name=op.f("pk_supervisors")),
        sa.UniqueConstraint("organisation_id", "name", name=op.f("uq_supervisors_organisation_id_name")),
    )
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
        "event_gate_zones",
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("gate_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("zones", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_gate_zones_event_id_events")),
        sa.PrimaryKeyConstraint("event_id", "gate_number", name=op.f("pk_event_gate_zones")),
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

    _guard_audit_log()


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
    op.drop_table("seat_groups")
    op.drop_table("layout_zones")
    op.drop_table("layout_seats")
    op.drop_table("event_zones")
    with op.batch_alter_table("event_layouts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_event_layouts_organisation_id"))
        batch_op.drop_index(batch_op.f("ix_event_layouts_layout_id"))

    op.drop_table("event_layouts")
    op.drop_table("event_gate_zones")
    with op.batch_alter_table("layouts", schema=None) as batch_op:
        batch_op.drop_index("ix_layouts_organisation_id_venue_id")

    op.drop_table("layouts")
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
    op.drop_table("supervisors")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sessions_user_id"))
        batch_op.drop_index(batch_op.f("ix_sessions_ends_at"))

    op.drop_table("sessions")
    op.drop_table("seating_policies")
    with op.batch_alter_table("memberships", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_memberships_user_id"))

    op.drop_table("memberships")
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
    with op.batch_alter_table("api_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_tokens_organisation_id"))

    op.drop_table("api_tokens")
    op.drop_table("users")
    with op.batch_alter_table("snapshot_rows", schema=None) as batch_op:
        batch_op.drop_index("ix_snapshot_rows_revision")

    op.drop_table("snapshot_rows")
    with op.batch_alter_table("snapshot_history", schema=None) as batch_op:
        batch_op.drop_index("ix_snapshot_history_revision")

    op.drop_table("snapshot_history")
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
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_outbox_unsent", sqlite_where=sa.text("sent_at IS NULL"), postgresql_where=sa.text("sent_at IS NULL")
        )
        batch_op.drop_index("ix_outbox_sent_at")

    op.drop_table("outbox")
    op.drop_table("organisations")
    with op.batch_alter_table("login_failures", schema=None) as batch_op:
        batch_op.drop_index("ix_login_failures_key_at")
        batch_op.drop_index(batch_op.f("ix_login_failures_at"))

    op.drop_table("login_failures")
    op.drop_table("lineage")
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_idempotency_keys_created_at"))

    op.drop_table("idempotency_keys")
    with op.batch_alter_table("event_revisions", schema=None) as batch_op:
        batch_op.drop_index("ix_event_revisions_at")

    op.drop_table("event_revisions")
    op.drop_table("event_heads")
    with op.batch_alter_table("devices", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_devices_organisation_id"))

    op.drop_table("devices")
    op.drop_table("device_request_counters")
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.drop_index("ix_audit_lines_subject")
        batch_op.drop_index("ix_audit_lines_organisation_id")

    op.drop_table("audit_lines")


_SQLITE = (
    "CREATE TRIGGER audit_lines_no_update BEFORE UPDATE ON audit_lines "
    "BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
    "CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines "
    "BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
)
_POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION audit_lines_guard() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'audit lines are only ever added'; END $$",
    "CREATE TRIGGER audit_lines_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_lines "
    "FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
)


def _guard_audit_log() -> None:
    """The database itself refuses to change or drop a line."""
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)
