"""Audit log, outbox, revisions."""

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

    _guard_audit_log()


def downgrade() -> None:
    """Back."""
    with op.batch_alter_table("snapshot_rows", schema=None) as batch_op:
        batch_op.drop_index("ix_snapshot_rows_revision")

    op.drop_table("snapshot_rows")
    with op.batch_alter_table("snapshot_history", schema=None) as batch_op:
        batch_op.drop_index("ix_snapshot_history_revision")

    op.drop_table("snapshot_history")
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_outbox_unsent", sqlite_where=sa.text("sent_at IS NULL"), postgresql_where=sa.text("sent_at IS NULL")
        )
        batch_op.drop_index("ix_outbox_sent_at")

    op.drop_table("outbox")
    op.drop_table("lineage")
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_idempotency_keys_created_at"))

    op.drop_table("idempotency_keys")
    with op.batch_alter_table("event_revisions", schema=None) as batch_op:
        batch_op.drop_index("ix_event_revisions_at")

    op.drop_table("event_revisions")
    op.drop_table("event_heads")
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
