"""The first release: every table, made from the models by scripts/draft-migration --first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

#: The type of an id.
ID = sa.String(36).with_variant(sa.UUID(as_uuid=False), "postgresql")

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


#: What no model declares: the guards of what only grows and the search index.
NATIVE = {
    "sqlite": (
        "CREATE TRIGGER audit_lines_written BEFORE UPDATE OF id, organisation_id, at, actor_kind, actor_id, action, subject_kind, subject_id, before, after, reason, approval, request_id, actor_digest, subject_digest ON audit_lines BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_lines_sealed BEFORE UPDATE ON audit_lines WHEN OLD.seq IS NOT NULL BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines WHEN NOT EXISTS (SELECT 1 FROM audit_segments WHERE organisation_id = OLD.organisation_id AND OLD.seq BETWEEN first_seq AND last_seq) BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_lines_no_replace BEFORE INSERT ON audit_lines WHEN EXISTS (SELECT 1 FROM audit_lines WHERE organisation_id = NEW.organisation_id AND id = NEW.id) OR NEW.seq IS NOT NULL AND EXISTS (SELECT 1 FROM audit_lines WHERE organisation_id = NEW.organisation_id AND seq = NEW.seq) BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_personal_filed BEFORE UPDATE OF line_id, part, organisation_id, person_kind, person_id ON audit_personal BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_personal_erased BEFORE UPDATE ON audit_personal WHEN NEW.salt IS NOT NULL OR NEW.content IS NOT NULL OR NEW.erased_at IS NULL OR OLD.erased_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_personal_no_delete BEFORE DELETE ON audit_personal BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_personal_no_replace BEFORE INSERT ON audit_personal WHEN EXISTS (SELECT 1 FROM audit_personal WHERE organisation_id = NEW.organisation_id AND line_id = NEW.line_id AND part = NEW.part) BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_chains_rise BEFORE UPDATE ON audit_chains WHEN NEW.seq < OLD.seq OR NEW.organisation_id <> OLD.organisation_id BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER audit_chains_no_delete BEFORE DELETE ON audit_chains BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
        "CREATE TRIGGER money_movements_no_update BEFORE UPDATE ON money_movements BEGIN SELECT RAISE(ABORT, 'rows of money_movements are only ever added'); END",
        "CREATE TRIGGER money_movements_no_delete BEFORE DELETE ON money_movements BEGIN SELECT RAISE(ABORT, 'rows of money_movements are only ever added'); END",
        "CREATE TRIGGER money_movements_no_replace BEFORE INSERT ON money_movements WHEN EXISTS (SELECT 1 FROM money_movements WHERE organisation_id = NEW.organisation_id AND order_id = NEW.order_id AND position = NEW.position) BEGIN SELECT RAISE(ABORT, 'rows of money_movements are only ever added'); END",
        "CREATE VIRTUAL TABLE IF NOT EXISTS listing_words USING fts5(words, content='listings', content_rowid='number', tokenize='ascii', detail='none', prefix='1 2 3')",
        "CREATE TRIGGER IF NOT EXISTS listing_words_insert AFTER INSERT ON listings BEGIN INSERT INTO listing_words (rowid, words) VALUES (new.number, new.words); END",
        "CREATE TRIGGER IF NOT EXISTS listing_words_delete AFTER DELETE ON listings BEGIN INSERT INTO listing_words (listing_words, rowid, words) VALUES ('delete', old.number, old.words); END",
        "CREATE TRIGGER IF NOT EXISTS listing_words_update AFTER UPDATE OF number, words ON listings BEGIN INSERT INTO listing_words (listing_words, rowid, words) VALUES ('delete', old.number, old.words); INSERT INTO listing_words (rowid, words) VALUES (new.number, new.words); END",
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION audit_lines_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'audit lines are only ever added'; END $$",
        "CREATE TRIGGER audit_lines_written BEFORE UPDATE OF id, organisation_id, at, actor_kind, actor_id, action, subject_kind, subject_id, before, after, reason, approval, request_id, actor_digest, subject_digest ON audit_lines FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
        "CREATE TRIGGER audit_lines_sealed BEFORE UPDATE ON audit_lines FOR EACH ROW WHEN (OLD.seq IS NOT NULL) EXECUTE FUNCTION audit_lines_guard()",
        "CREATE OR REPLACE FUNCTION audit_lines_leave_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM audit_segments WHERE organisation_id = OLD.organisation_id AND OLD.seq BETWEEN first_seq AND last_seq) THEN RETURN OLD; END IF; RAISE EXCEPTION 'audit lines are only ever added'; END $$",
        "CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines FOR EACH ROW EXECUTE FUNCTION audit_lines_leave_guard()",
        "CREATE TRIGGER audit_lines_no_truncate BEFORE TRUNCATE ON audit_lines FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
        "CREATE TRIGGER audit_personal_filed BEFORE UPDATE OF line_id, part, organisation_id, person_kind, person_id ON audit_personal FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
        "CREATE TRIGGER audit_personal_erased BEFORE UPDATE ON audit_personal FOR EACH ROW WHEN (NEW.salt IS NOT NULL OR NEW.content IS NOT NULL OR NEW.erased_at IS NULL OR OLD.erased_at IS NOT NULL) EXECUTE FUNCTION audit_lines_guard()",
        "CREATE TRIGGER audit_personal_no_delete BEFORE DELETE OR TRUNCATE ON audit_personal FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
        "CREATE TRIGGER audit_chains_rise BEFORE UPDATE ON audit_chains FOR EACH ROW WHEN (NEW.seq < OLD.seq OR NEW.organisation_id <> OLD.organisation_id) EXECUTE FUNCTION audit_lines_guard()",
        "CREATE TRIGGER audit_chains_no_delete BEFORE DELETE OR TRUNCATE ON audit_chains FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
        "CREATE OR REPLACE FUNCTION money_movements_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rows of money_movements are only ever added'; END $$",
        "CREATE TRIGGER money_movements_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON money_movements FOR EACH STATEMENT EXECUTE FUNCTION money_movements_guard()",
        "CREATE INDEX ix_listings_words ON listings USING gin (words)",
    ),
}


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "active_alerts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("venue_id", ID, nullable=True),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "kind", "event_id", name=op.f("pk_active_alerts")),
    )
    op.create_table(
        "audit_chains",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("seal", sa.LargeBinary(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("signature", sa.LargeBinary(length=64), nullable=True),
        sa.Column("public_key", sa.LargeBinary(length=32), nullable=True),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_audit_chains")),
    )
    op.create_table(
        "audit_lines",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
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
        sa.Column("request_id", ID, nullable=True),
        sa.Column("actor_digest", sa.LargeBinary(length=32), nullable=True),
        sa.Column("subject_digest", sa.LargeBinary(length=32), nullable=True),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.Column("seal", sa.LargeBinary(length=32), nullable=True),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_audit_lines")),
    )
    op.create_index("ix_audit_lines_actor", "audit_lines", ["organisation_id", "actor_id", "id"], unique=False)
    op.create_index(
        "ix_audit_lines_subject", "audit_lines", ["organisation_id", "subject_kind", "subject_id", "id"], unique=False
    )
    op.create_index(
        "ix_audit_lines_unsealed",
        "audit_lines",
        ["organisation_id", "id"],
        unique=False,
        sqlite_where=sa.text("seq IS NULL"),
        postgresql_where=sa.text("seq IS NULL"),
    )
    op.create_index(
        "uq_audit_lines_seq",
        "audit_lines",
        ["organisation_id", "seq"],
        unique=True,
        sqlite_where=sa.text("seq IS NOT NULL"),
        postgresql_where=sa.text("seq IS NOT NULL"),
    )
    op.create_table(
        "audit_personal",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("line_id", ID, nullable=False),
        sa.Column("part", sa.String(length=8), nullable=False),
        sa.Column("person_kind", sa.String(length=40), nullable=False),
        sa.Column("person_id", sa.String(length=64), nullable=False),
        sa.Column("salt", sa.LargeBinary(length=16), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("erased_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("organisation_id", "line_id", "part", name=op.f("pk_audit_personal")),
    )
    op.create_index("ix_audit_personal_person", "audit_personal", ["person_kind", "person_id"], unique=False)
    op.create_table(
        "audit_segments",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("first_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("seal_before", sa.LargeBinary(length=32), nullable=False),
        sa.Column("seal", sa.LargeBinary(length=32), nullable=False),
        sa.Column("file", sa.String(length=120), nullable=False),
        sa.Column("sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "first_seq", name=op.f("pk_audit_segments")),
    )
    op.create_table(
        "check_findings",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("place", sa.String(length=120), nullable=False),
        sa.Column("row", sa.String(length=200), nullable=False),
        sa.Column("points_to", ID, nullable=False),
        sa.Column("found_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "place", "row", name=op.f("pk_check_findings")),
    )
    op.create_table(
        "check_runs",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("ran_at", sa.BigInteger(), nullable=False),
        sa.Column("findings", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_check_runs")),
    )
    op.create_table(
        "event_interest",
        sa.Column("event_id", ID, nullable=False),
        sa.Column("hour", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", "hour", name=op.f("pk_event_interest")),
    )
    op.create_index("ix_event_interest_hour", "event_interest", ["hour"], unique=False)
    op.create_table(
        "hold_counters",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("bearer_id", ID, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "bearer_id", name=op.f("pk_hold_counters")),
    )
    op.create_index(op.f("ix_hold_counters_updated_at"), "hold_counters", ["updated_at"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("request_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "principal", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "joined_elsewhere",
        sa.Column("event_id", ID, nullable=False),
        sa.Column("participants", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_joined_elsewhere")),
    )
    op.create_table(
        "lineage",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("value", sa.LargeBinary(length=8), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lineage")),
    )
    op.create_table(
        "mail_opt_outs",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("address_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "address_hash", name=op.f("pk_mail_opt_outs")),
    )
    op.create_table(
        "mails",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("template", sa.String(length=40), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.String(length=60), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_mails")),
    )
    op.create_index(op.f("ix_mails_done_at"), "mails", ["done_at"], unique=False)
    op.create_index("ix_mails_due", "mails", ["due_at"], unique=False, postgresql_where=sa.text("due_at IS NOT NULL"))
    op.create_table(
        "organisations",
        sa.Column("id", ID, nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("language", sa.String(length=8), server_default="en", nullable=False),
        sa.Column("staff_policy", sa.JSON(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organisations")),
        sa.UniqueConstraint("slug", name=op.f("uq_organisations_slug")),
    )
    op.create_table(
        "outbox",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("message_id", ID, nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("stream", sa.String(length=100), nullable=False),
        sa.Column("subjects", sa.JSON(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("trace", sa.String(length=55), nullable=True),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.Column("relayed_at", sa.BigInteger(), nullable=True),
        sa.Column("unrouted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "message_id", name=op.f("pk_outbox")),
    )
    op.create_index(
        "ix_outbox_unnumbered",
        "outbox",
        ["organisation_id", "written_at"],
        unique=False,
        sqlite_where=sa.text("position IS NULL"),
        postgresql_where=sa.text("position IS NULL"),
    )
    op.create_index(
        "uq_outbox_organisation_id_position",
        "outbox",
        ["organisation_id", "position"],
        unique=True,
        sqlite_where=sa.text("position IS NOT NULL"),
        postgresql_where=sa.text("position IS NOT NULL"),
    )
    op.create_table(
        "outbox_cursors",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("reader", sa.String(length=30), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("leased_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "reader", name=op.f("pk_outbox_cursors")),
    )
    op.create_table(
        "processed_messages",
        sa.Column("message_id", sa.String(length=64), nullable=False),
        sa.Column("processed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_processed_messages")),
    )
    op.create_index(op.f("ix_processed_messages_processed_at"), "processed_messages", ["processed_at"], unique=False)
    op.create_table(
        "proxy_sightings",
        sa.Column("trusted_proxies", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("trusted_proxies", name=op.f("pk_proxy_sightings")),
    )
    op.create_table(
        "sale_locks",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_sale_locks")),
    )
    op.create_table(
        "scan_entries",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("device", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("branch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("quarantined", sa.Boolean(), nullable=False),
        sa.Column("why", sa.String(length=40), nullable=False),
        sa.Column("forked", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("event_id", ID, nullable=True),
        sa.Column("gate", sa.BigInteger(), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=False),
        sa.Column("admitted", sa.Boolean(), nullable=False),
        sa.Column("test", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("uncertainty", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "device", "branch", "seq", "hash", name=op.f("pk_scan_entries")),
    )
    op.create_index(
        "ix_scan_entries_decisions",
        "scan_entries",
        ["organisation_id", "event_id", "device"],
        unique=False,
        postgresql_where=sa.text("kind IN ('doors', 'count_correction')"),
        sqlite_where=sa.text("kind IN ('doors', 'count_correction')"),
    )
    op.create_index("ix_scan_entries_event_at", "scan_entries", ["organisation_id", "event_id", "at"], unique=False)
    op.create_index(
        "ix_scan_entries_gaps",
        "scan_entries",
        ["organisation_id", "device"],
        unique=False,
        postgresql_where=sa.text("kind = 'gap'"),
        sqlite_where=sa.text("kind = 'gap'"),
    )
    op.create_index(
        "ix_scan_entries_quarantined",
        "scan_entries",
        ["organisation_id", "device"],
        unique=False,
        postgresql_where=sa.text("quarantined"),
        sqlite_where=sa.text("quarantined"),
    )
    op.create_index("ix_scan_entries_ticket", "scan_entries", ["organisation_id", "event_id", "ticket"], unique=False)
    op.create_table(
        "scan_movements",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("device", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("branch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("event_id", ID, nullable=False),
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
        sa.PrimaryKeyConstraint("organisation_id", "device", "branch", "seq", "hash", name=op.f("pk_scan_movements")),
        sa.UniqueConstraint(
            "organisation_id", "event_id", "arrival", name=op.f("uq_scan_movements_organisation_id_event_id_arrival")
        ),
    )
    op.create_table(
        "scan_presence",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("ticket", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("bodies", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("gate", sa.BigInteger(), nullable=False),
        sa.Column("zone", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "ticket", name=op.f("pk_scan_presence")),
    )
    op.create_index("ix_scan_presence_at", "scan_presence", ["organisation_id", "event_id", "at"], unique=False)
    op.create_table(
        "seat_map_changes",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seats", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "version", name=op.f("pk_seat_map_changes")),
    )
    op.create_index("ix_seat_map_changes_at", "seat_map_changes", ["at"], unique=False)
    op.create_table(
        "seat_map_heads",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("oldest", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_seat_map_heads")),
    )
    op.create_index(op.f("ix_seat_map_heads_changed_at"), "seat_map_heads", ["changed_at"], unique=False)
    op.create_table(
        "seating_figures",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("percent", sa.Float(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "name", name=op.f("pk_seating_figures")),
    )
    op.create_table(
        "served_revisions",
        sa.Column("revision", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_served_revisions")),
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
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("kind", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint(
            "organisation_id", "event_id", "kind", "key", "revision", name=op.f("pk_snapshot_history")
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_snapshot_history_revision", "snapshot_history", ["organisation_id", "event_id", "revision"], unique=False
    )
    op.create_table(
        "snapshot_rows",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("kind", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "kind", "key", name=op.f("pk_snapshot_rows")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_snapshot_rows_revision", "snapshot_rows", ["organisation_id", "event_id", "revision"], unique=False
    )
    op.create_table(
        "throttles",
        sa.Column("key", sa.LargeBinary(length=32), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("wait_until", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_throttles")),
    )
    op.create_index(op.f("ix_throttles_last_at"), "throttles", ["last_at"], unique=False)
    op.create_table(
        "trending_generations",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_trending_generations")),
    )
    op.create_table(
        "used_challenges",
        sa.Column("challenge", sa.LargeBinary(length=64), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("challenge", name=op.f("pk_used_challenges")),
    )
    op.create_index(op.f("ix_used_challenges_ends_at"), "used_challenges", ["ends_at"], unique=False)
    op.create_table(
        "users",
        sa.Column("id", ID, nullable=False),
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
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("maker_id", ID, nullable=True),
        sa.Column("parent_id", ID, nullable=True),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["maker_id"], ["users.id"], name=op.f("fk_api_tokens_maker_id_users")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "parent_id"],
            ["api_tokens.organisation_id", "api_tokens.id"],
            name=op.f("fk_api_tokens_organisation_id_parent_id_api_tokens"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_api_tokens_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
    )
    op.create_index(op.f("ix_api_tokens_maker_id"), "api_tokens", ["maker_id"], unique=False)
    op.create_index(
        op.f("ix_api_tokens_organisation_id_parent_id"), "api_tokens", ["organisation_id", "parent_id"], unique=False
    )
    op.create_table(
        "checkout_settings",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("order_minutes", sa.SmallInteger(), nullable=False),
        sa.Column("invoices", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("invoice_days", sa.SmallInteger(), nullable=False),
        sa.Column("unpaid_tickets", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("account_holder", sa.String(length=70), nullable=False),
        sa.Column("iban", sa.String(length=34), nullable=False),
        sa.Column("bic", sa.String(length=11), nullable=False),
        sa.Column("stripe_publishable_key", sa.String(length=255), server_default="", nullable=False),
        sa.Column("stripe_sealed_key", sa.LargeBinary(), nullable=True),
        sa.Column("stripe_key_ending", sa.String(length=4), server_default="", nullable=False),
        sa.Column("stripe_sealed_webhook_secret", sa.LargeBinary(), nullable=True),
        sa.Column("dispute_tickets", sa.String(length=5), server_default=sa.text("'block'"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_checkout_settings_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_checkout_settings")),
    )
    op.create_table(
        "customer_links",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("code_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("locale", sa.String(length=5), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_customer_links_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "code_hash", name=op.f("pk_customer_links")),
    )
    op.create_index(op.f("ix_customer_links_ends_at"), "customer_links", ["ends_at"], unique=False)
    op.create_table(
        "customers",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("locale", sa.String(length=5), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("membership_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_customers_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_customers")),
        sa.UniqueConstraint("organisation_id", "email", name=op.f("uq_customers_organisation_id_email")),
    )
    op.create_index(
        "uq_customers_membership_id",
        "customers",
        ["organisation_id", "membership_id"],
        unique=True,
        sqlite_where=sa.text("membership_id <> ''"),
        postgresql_where=sa.text("membership_id <> ''"),
    )
    op.create_table(
        "devices",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("profile", sa.String(length=20), nullable=False),
        sa.Column("public_key", sa.LargeBinary(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("enrolled_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_devices_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_devices")),
        sa.UniqueConstraint("number", name=op.f("uq_devices_number")),
        sa.UniqueConstraint("organisation_id", "number", name=op.f("uq_devices_organisation_id_number")),
    )
    op.create_table(
        "guests",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("origin", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_guests_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_guests")),
    )
    op.create_index(op.f("ix_guests_ends_at"), "guests", ["ends_at"], unique=False)
    op.create_index("ix_guests_origin_created_at", "guests", ["origin", "created_at"], unique=False)
    op.create_table(
        "images",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_images_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_images")),
    )
    op.create_table(
        "invitations",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("code_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("maker_id", ID, nullable=True),
        sa.Column("mail_id", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("accepted_at", sa.BigInteger(), nullable=True),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["maker_id"], ["users.id"], name=op.f("fk_invitations_maker_id_users")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_invitations_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("code_hash", name=op.f("uq_invitations_code_hash")),
    )
    op.create_index(op.f("ix_invitations_ends_at"), "invitations", ["ends_at"], unique=False)
    op.create_index(op.f("ix_invitations_maker_id"), "invitations", ["maker_id"], unique=False)
    op.create_index(
        op.f("ix_invitations_organisation_id_email"), "invitations", ["organisation_id", "email"], unique=False
    )
    op.create_table(
        "memberships",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_memberships_organisation_id_organisations")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_memberships_user_id_users")),
        sa.PrimaryKeyConstraint("organisation_id", "user_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_user_id"), "memberships", ["user_id"], unique=False)
    op.create_table(
        "outbox_retries",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("reader", sa.String(length=30), nullable=False),
        sa.Column("message_id", ID, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("stream", sa.String(length=100), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("dead_at", sa.BigInteger(), nullable=True),
        sa.Column("last_error", sa.String(length=500), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "message_id"],
            ["outbox.organisation_id", "outbox.message_id"],
            name=op.f("fk_outbox_retries_organisation_id_message_id_outbox"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "reader", "message_id", name=op.f("pk_outbox_retries")),
    )
    op.create_index(op.f("ix_outbox_retries_due_at"), "outbox_retries", ["due_at"], unique=False)
    op.create_index(
        "ix_outbox_retries_organisation_id_message_id",
        "outbox_retries",
        ["organisation_id", "message_id"],
        unique=False,
    )
    op.create_table(
        "passkeys",
        sa.Column("user_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(length=1023), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_passkeys_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", "id", name=op.f("pk_passkeys")),
        sa.UniqueConstraint("credential_id", name=op.f("uq_passkeys_credential_id")),
    )
    op.create_table(
        "password_links",
        sa.Column("code_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("user_id", ID, nullable=True),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_password_links_user_id_users")),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_password_links")),
    )
    op.create_index(op.f("ix_password_links_ends_at"), "password_links", ["ends_at"], unique=False)
    op.create_index(op.f("ix_password_links_user_id"), "password_links", ["user_id"], unique=False)
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", ID, nullable=False),
        sa.Column("code_hash", sa.LargeBinary(length=32), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name=op.f("pk_recovery_codes")),
    )
    op.create_table(
        "retention_policies",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("days", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_retention_policies_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_retention_policies")),
    )
    op.create_table(
        "seating_policies",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("allow_reserved_seating", sa.Boolean(), nullable=False),
        sa.Column("allow_ga_seating", sa.Boolean(), nullable=False),
        sa.Column("allow_hybrid_ga_reserved", sa.Boolean(), nullable=False),
        sa.Column("allow_vip_zones", sa.Boolean(), nullable=False),
        sa.Column("enforce_accessibility_rules", sa.Boolean(), nullable=False),
        sa.Column("companion_release_occupancy_threshold", sa.Integer(), nullable=False),
        sa.Column("max_wheelchair_seats_per_booking", sa.Integer(), nullable=False),
        sa.Column("accessibility_audit_enabled", sa.Boolean(), nullable=False),
        sa.Column("companion_price_category", sa.String(length=60), server_default=sa.text("''"), nullable=False),
        sa.Column("max_seats_per_booking", sa.Integer(), nullable=False),
        sa.Column("orphan_avoidance_strict", sa.Boolean(), nullable=False),
        sa.Column("group_adjacency_strict", sa.Boolean(), nullable=False),
        sa.Column("max_group_split", sa.Integer(), nullable=False),
        sa.Column("prefer_clustering_over_selection", sa.Boolean(), nullable=False),
        sa.Column("default_hold_ttl_minutes", sa.Integer(), nullable=False),
        sa.Column("max_holds_per_user", sa.Integer(), nullable=True),
        sa.Column("max_holds_per_ip", sa.Integer(), nullable=True),
        sa.Column("max_holds_per_membership", sa.Integer(), server_default=sa.text("6"), nullable=True),
        sa.Column("exempt_networks", sa.JSON(), server_default=sa.text("'[]'"), nullable=False),
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
        "second_factors",
        sa.Column("user_id", ID, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_second_factors_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_second_factors")),
    )
    op.create_table(
        "self_service_settings",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("transfers", sa.Boolean(), nullable=False),
        sa.Column("max_transfers", sa.SmallInteger(), nullable=False),
        sa.Column("transfer_days", sa.SmallInteger(), nullable=False),
        sa.Column("transfer_until_minutes", sa.Integer(), nullable=False),
        sa.Column("cancellations", sa.Boolean(), nullable=False),
        sa.Column("cancel_until_hours", sa.SmallInteger(), nullable=False),
        sa.Column("cancel_fee_cents", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name=op.f("fk_self_service_settings_organisation_id_organisations"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_self_service_settings")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", ID, nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("organisation_id", ID, nullable=True),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("browser", sa.String(length=300), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sessions_token_hash")),
    )
    op.create_index(op.f("ix_sessions_ends_at"), "sessions", ["ends_at"], unique=False)
    op.create_index(op.f("ix_sessions_user_id"), "sessions", ["user_id"], unique=False)
    op.create_table(
        "supervisors",
        sa.Column("organisation_id", ID, nullable=False),
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
        "ticket_designs",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("colour", sa.String(length=7), server_default=sa.text("'#1f2937'"), nullable=False),
        sa.Column("terms", sa.String(length=2000), server_default=sa.text("''"), nullable=False),
        sa.Column("logo", sa.LargeBinary(), nullable=True),
        sa.Column("embed_origins", sa.JSON(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_ticket_designs_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_ticket_designs")),
    )
    op.create_table(
        "ticket_keys",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("public", sa.LargeBinary(length=32), nullable=False),
        sa.Column("sealed", sa.LargeBinary(length=80), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("signs_from", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id BETWEEN 1 AND 65535", name=op.f("ck_ticket_keys_two_bytes")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_ticket_keys_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_ticket_keys")),
    )
    op.create_table(
        "tier_memberships",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tier", sa.String(length=40), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("card", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=64), server_default="", nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('active', 'revoked')", name=op.f("ck_tier_memberships_state_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_tier_memberships_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_tier_memberships")),
        sa.UniqueConstraint("organisation_id", "card", name=op.f("uq_tier_memberships_organisation_id_card")),
    )
    op.create_table(
        "trending_places",
        sa.Column("generation", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation"],
            ["trending_generations.number"],
            name=op.f("fk_trending_places_generation_trending_generations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("generation", "place", name=op.f("pk_trending_places")),
    )
    op.create_index("uq_trending_places_generation_number", "trending_places", ["generation", "number"], unique=True)
    op.create_table(
        "venues",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
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
        sa.Column("kind", sa.String(length=10), server_default=sa.text("'physical'"), nullable=False),
        sa.Column("website", sa.String(length=300), server_default=sa.text("''"), nullable=False),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("city_norm", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("latitude BETWEEN -90 AND 90", name=op.f("ck_venues_latitude_on_earth")),
        sa.CheckConstraint(
            "longitude BETWEEN -180 AND 180 AND (latitude IS NULL) = (longitude IS NULL)",
            name=op.f("ck_venues_longitude_on_earth"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_venues_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_venues")),
        sa.UniqueConstraint("organisation_id", "slug", name=op.f("uq_venues_organisation_id_slug")),
    )
    op.create_index(
        "ix_venues_organisation_id_city_norm", "venues", ["organisation_id", "city_norm", "id"], unique=False
    )
    op.create_index("ix_venues_organisation_id_timezone", "venues", ["organisation_id", "timezone", "id"], unique=False)
    op.create_table(
        "webhooks",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("url", sa.String(length=1000), nullable=False),
        sa.Column("description", sa.String(length=200), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_old_secret", sa.LargeBinary(), nullable=True),
        sa.Column("old_secret_until", sa.BigInteger(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("paused_because", sa.String(length=10), nullable=False),
        sa.Column("paused_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("slow", sa.Boolean(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("leased_until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_webhooks_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_due_at"), "webhooks", ["due_at"], unique=False)
    op.create_table(
        "customer_passkeys",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("customer_id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(length=1023), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "customer_id"],
            ["customers.organisation_id", "customers.id"],
            name=op.f("fk_customer_passkeys_organisation_id_customer_id_customers"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_customer_passkeys")),
        sa.UniqueConstraint(
            "organisation_id", "credential_id", name=op.f("uq_customer_passkeys_organisation_id_credential_id")
        ),
    )
    op.create_index(
        "ix_customer_passkeys_customer_id", "customer_passkeys", ["organisation_id", "customer_id"], unique=False
    )
    op.create_table(
        "customer_sessions",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("customer_id", ID, nullable=False),
        sa.Column("guest_id", ID, nullable=True),
        sa.Column("by_link", sa.Boolean(), nullable=False),
        sa.Column("browser", sa.String(length=300), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "customer_id"],
            ["customers.organisation_id", "customers.id"],
            name=op.f("fk_customer_sessions_organisation_id_customer_id_customers"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_customer_sessions")),
        sa.UniqueConstraint(
            "organisation_id", "token_hash", name=op.f("uq_customer_sessions_organisation_id_token_hash")
        ),
    )
    op.create_index(
        "ix_customer_sessions_customer_id", "customer_sessions", ["organisation_id", "customer_id"], unique=False
    )
    op.create_index(op.f("ix_customer_sessions_ends_at"), "customer_sessions", ["ends_at"], unique=False)
    op.create_index("ix_customer_sessions_guest_id", "customer_sessions", ["organisation_id", "guest_id"], unique=False)
    op.create_table(
        "device_enrolment_codes",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("code_id", sa.LargeBinary(length=8), nullable=False),
        sa.Column("device_id", ID, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("tries_left", sa.Integer(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.Column("check_number", sa.String(length=6), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "device_id"],
            ["devices.organisation_id", "devices.id"],
            name=op.f("fk_device_enrolment_codes_organisation_id_device_id_devices"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "code_id", name=op.f("pk_device_enrolment_codes")),
    )
    op.create_index("ix_device_enrolment_codes_code_id", "device_enrolment_codes", ["code_id"], unique=False)
    op.create_index(
        "ix_device_enrolment_codes_device", "device_enrolment_codes", ["organisation_id", "device_id"], unique=False
    )
    op.create_table(
        "device_reports",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("device_id", ID, nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("software", sa.String(length=40), nullable=False),
        sa.Column("branch", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("unsent", sa.BigInteger(), nullable=False),
        sa.Column("clock_offset", sa.BigInteger(), nullable=True),
        sa.Column("clock_uncertainty", sa.BigInteger(), nullable=True),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("health", sa.JSON(), nullable=True),
        sa.Column("health_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "device_id"],
            ["devices.organisation_id", "devices.id"],
            name=op.f("fk_device_reports_organisation_id_device_id_devices"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "device_id", name=op.f("pk_device_reports")),
    )
    op.create_index("ix_device_reports_seen", "device_reports", ["organisation_id", "last_seen_at"], unique=False)
    op.create_table(
        "device_request_counters",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("device_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.String(length=8), nullable=False),
        sa.Column("highest", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.LargeBinary(length=8), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "device_number"],
            ["devices.organisation_id", "devices.number"],
            name=op.f("fk_device_request_counters_organisation_id_device_number_devices"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "device_number", "channel", name=op.f("pk_device_request_counters")),
    )
    op.create_table(
        "events",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("venue_id", ID, nullable=False),
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
        sa.Column("replaced_by_event_id", ID, nullable=True),
        sa.Column("recurrence_group_id", ID, nullable=True),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("venue_name", sa.String(length=100), nullable=False),
        sa.Column("city", sa.String(length=50), nullable=False),
        sa.Column("country", sa.String(length=60), nullable=False),
        sa.Column("address", sa.String(length=500), nullable=False),
        sa.Column("venue_capacity", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("layout_capacity", sa.Integer(), server_default=sa.text("0"), nullable=False),
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
        sa.Column("least_issued", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("ticket_sequence", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_by", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.Column("cancelled_at", sa.BigInteger(), nullable=True),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.Column("put_away_at", sa.BigInteger(), nullable=True),
        sa.Column("owner_id", ID, nullable=True),
        sa.Column("search_text", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("city_norm", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("dedupe_key", sa.String(length=200), server_default=sa.text("''"), nullable=False),
        sa.Column("cover_images", sa.JSON(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("cover_alts", sa.JSON(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("participants_elsewhere", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("queue_seq", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("capacity = 0 OR least_issued <= capacity", name=op.f("ck_events_within_capacity")),
        sa.CheckConstraint("start_at < end_at", name=op.f("ck_events_ends_after_start")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "replaced_by_event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_events_organisation_id_replaced_by_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "venue_id"],
            ["venues.organisation_id", "venues.id"],
            name=op.f("fk_events_organisation_id_venue_id_venues"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_events_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_events")),
        sa.UniqueConstraint("number", name=op.f("uq_events_number")),
        sa.UniqueConstraint("organisation_id", "code", name=op.f("uq_events_organisation_id_code")),
        sa.UniqueConstraint("organisation_id", "slug", name=op.f("uq_events_organisation_id_slug")),
    )
    op.create_index(
        "ix_events_not_ended",
        "events",
        ["organisation_id", "start_at"],
        unique=False,
        sqlite_where=sa.text("status NOT IN ('ended', 'archived')"),
        postgresql_where=sa.text("status NOT IN ('ended', 'archived')"),
    )
    op.create_index(
        "ix_events_organisation_id_owner_id",
        "events",
        ["organisation_id", "owner_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_events_organisation_id_recurrence_group_id",
        "events",
        ["organisation_id", "recurrence_group_id", "start_at"],
        unique=False,
    )
    op.create_index(
        "ix_events_organisation_id_replaced_by_event_id",
        "events",
        ["organisation_id", "replaced_by_event_id"],
        unique=False,
    )
    op.create_index("ix_events_organisation_id_start_at", "events", ["organisation_id", "start_at"], unique=False)
    op.create_index("ix_events_organisation_id_status", "events", ["organisation_id", "status"], unique=False)
    op.create_index("ix_events_organisation_id_venue_id", "events", ["organisation_id", "venue_id"], unique=False)
    op.create_index("ix_events_public_id", "events", ["id"], unique=False)
    op.create_index("ix_events_slug", "events", ["slug"], unique=False)
    op.create_index(
        "ix_events_status_end_at_auto",
        "events",
        ["status", "end_at_auto"],
        unique=False,
        sqlite_where=sa.text("end_at_auto IS NOT NULL"),
        postgresql_where=sa.text("end_at_auto IS NOT NULL"),
    )
    op.create_index(
        "ix_events_status_go_live_at",
        "events",
        ["status", "go_live_at"],
        unique=False,
        sqlite_where=sa.text("go_live_at IS NOT NULL"),
        postgresql_where=sa.text("go_live_at IS NOT NULL"),
    )
    op.create_index("ix_events_status_start_at", "events", ["status", "start_at", "id"], unique=False)
    op.create_index(
        "uq_events_dedupe_key",
        "events",
        ["organisation_id", "dedupe_key"],
        unique=True,
        sqlite_where=sa.text("status NOT IN ('cancelled', 'archived')"),
        postgresql_where=sa.text("status NOT IN ('cancelled', 'archived')"),
    )
    op.create_table(
        "gates",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("venue_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("code", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=True),
        sa.Column("step_free", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "venue_id"],
            ["venues.organisation_id", "venues.id"],
            name=op.f("fk_gates_organisation_id_venue_id_venues"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "venue_id", "number", name=op.f("pk_gates")),
        sa.UniqueConstraint("organisation_id", "venue_id", "code", name=op.f("uq_gates_organisation_id_venue_id_code")),
    )
    op.create_table(
        "image_variants",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("image_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("content_type", sa.String(length=20), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "image_id"],
            ["images.organisation_id", "images.id"],
            name=op.f("fk_image_variants_organisation_id_image_id_images"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "image_id", "name", name=op.f("pk_image_variants")),
    )
    op.create_index("ix_image_variants_image_id", "image_variants", ["image_id", "name"], unique=False)
    op.create_table(
        "imports",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("venue_id", ID, nullable=False),
        sa.Column("layout_id", ID, nullable=True),
        sa.Column("family_id", ID, nullable=True),
        sa.Column("event_id", ID, nullable=True),
        sa.Column("zone_id", ID, nullable=True),
        sa.Column("format", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("focus_x", sa.Float(), nullable=True),
        sa.Column("focus_y", sa.Float(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("ending", sa.String(length=10), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("written", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claim", ID, nullable=True),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("started_by", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("ending IN ('', 'failed', 'cancelled')", name=op.f("ck_imports_ending_known")),
        sa.CheckConstraint(
            "state IN ('receiving', 'waiting', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_imports_state_known"),
        ),
        sa.CheckConstraint("(layout_id IS NULL) = (event_id IS NOT NULL)", name=op.f("ck_imports_of_one_kind")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "venue_id"],
            ["venues.organisation_id", "venues.id"],
            name=op.f("fk_imports_organisation_id_venue_id_venues"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_imports")),
    )
    op.create_index("ix_imports_organisation_id_venue_id", "imports", ["organisation_id", "venue_id"], unique=False)
    op.create_index("ix_imports_state", "imports", ["state", "seen_at"], unique=False)
    op.create_index(
        "uq_imports_running",
        "imports",
        ["organisation_id"],
        unique=True,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_table(
        "layouts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("venue_id", ID, nullable=False),
        sa.Column("family_id", ID, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("description", sa.String(length=2000), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("total_capacity", sa.Integer(), nullable=False),
        sa.Column("drawing", sa.JSON(), nullable=False),
        sa.Column("focus_x", sa.Float(), nullable=False),
        sa.Column("focus_y", sa.Float(), nullable=False),
        sa.Column("focus_drawn", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status IN ('importing', 'draft', 'active', 'archived')", name=op.f("ck_layouts_status_known")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "venue_id"],
            ["venues.organisation_id", "venues.id"],
            name=op.f("fk_layouts_organisation_id_venue_id_venues"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_layouts_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_layouts")),
        sa.UniqueConstraint(
            "organisation_id", "family_id", "version", name=op.f("uq_layouts_organisation_id_family_id_version")
        ),
    )
    op.create_index(
        "ix_layouts_organisation_id_venue_id", "layouts", ["organisation_id", "venue_id", "id"], unique=False
    )
    op.create_table(
        "scan_journals",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("device", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("branch", sa.BigInteger(), autoincrement=False, nullable=False),
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
        sa.ForeignKeyConstraint(
            ["organisation_id", "device"],
            ["devices.organisation_id", "devices.number"],
            name=op.f("fk_scan_journals_organisation_id_device_devices"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "device", "branch", name=op.f("pk_scan_journals")),
    )
    op.create_table(
        "webhook_messages",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("message_id", ID, nullable=False),
        sa.Column("fact", sa.String(length=60), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("stream", sa.String(length=100), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.Column("last_status", sa.Integer(), nullable=True),
        sa.Column("last_problem", sa.String(length=30), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "webhook_id"],
            ["webhooks.organisation_id", "webhooks.id"],
            name=op.f("fk_webhook_messages_organisation_id_webhook_id_webhooks"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "webhook_id", "message_id", name=op.f("pk_webhook_messages")),
    )
    op.create_index(op.f("ix_webhook_messages_created_at"), "webhook_messages", ["created_at"], unique=False)
    op.create_index(
        "ix_webhook_messages_failing",
        "webhook_messages",
        ["organisation_id", "webhook_id", "due_at"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting' AND failures > 0"),
        postgresql_where=sa.text("state = 'waiting' AND failures > 0"),
    )
    op.create_index(
        "ix_webhook_messages_waiting",
        "webhook_messages",
        ["organisation_id", "webhook_id", "position"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_table(
        "cancellations",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("choice", sa.String(length=12), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("keep_fees", sa.Boolean(), nullable=False),
        sa.Column("orders", sa.Integer(), nullable=False),
        sa.Column("tickets", sa.Integer(), nullable=False),
        sa.Column("cents", sa.BigInteger(), nullable=False),
        sa.Column("new_date", sa.BigInteger(), nullable=True),
        sa.Column("keep_until", sa.BigInteger(), nullable=True),
        sa.Column("end_others", sa.Boolean(), nullable=False),
        sa.Column("other_tickets", sa.Integer(), nullable=False),
        sa.Column("ended_tickets", sa.Integer(), nullable=False),
        sa.Column("last_ticket", sa.BigInteger(), nullable=True),
        sa.Column("last_order", ID, nullable=True),
        sa.Column("done_orders", sa.Integer(), nullable=False),
        sa.Column("failed_orders", sa.Integer(), nullable=False),
        sa.Column("begun_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "choice IN ('refund', 'another_date', 'nothing')", name=op.f("ck_cancellations_choice_known")
        ),
        sa.CheckConstraint("state IN ('running', 'stopped', 'done')", name=op.f("ck_cancellations_state_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_cancellations_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_cancellations")),
    )
    op.create_index(
        "ix_cancellations_running",
        "cancellations",
        ["begun_at"],
        unique=False,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_table(
        "checkout_limits",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("sessions", sa.Integer(), nullable=False),
        sa.CheckConstraint("sessions > 0", name=op.f("ck_checkout_limits_somebody")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_checkout_limits_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_checkout_limits")),
    )
    op.create_table(
        "checkout_sessions",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("bearer_kind", sa.String(length=8), nullable=False),
        sa.Column("bearer_id", ID, nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'paid', 'left', 'expired')", name=op.f("ck_checkout_sessions_state_known")
        ),
        sa.CheckConstraint("slot > 0", name=op.f("ck_checkout_sessions_counted_from_one")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_checkout_sessions_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "id", name=op.f("pk_checkout_sessions")),
    )
    op.create_index(
        "ix_checkout_sessions_expires_at",
        "checkout_sessions",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index(
        "uq_checkout_sessions_bearer_id",
        "checkout_sessions",
        ["organisation_id", "event_id", "bearer_id"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index(
        "uq_checkout_sessions_slot",
        "checkout_sessions",
        ["organisation_id", "event_id", "slot"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "code_batches",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("number", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("codes", sa.Integer(), nullable=False),
        sa.Column("max_uses", sa.Integer(), nullable=False),
        sa.Column("percent", sa.SmallInteger(), nullable=False),
        sa.Column("cents", sa.Integer(), nullable=False),
        sa.Column("per", sa.String(length=6), nullable=False),
        sa.Column("ticket_types", sa.JSON(), nullable=False),
        sa.Column("opens_sale", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_until", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('discount', 'presale') AND per IN ('order', 'ticket')", name=op.f("ck_code_batches_kind_known")
        ),
        sa.CheckConstraint(
            "percent BETWEEN 0 AND 100 AND cents >= 0 AND codes > 0 AND max_uses > 0",
            name=op.f("ck_code_batches_numbers_fit"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_code_batches_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "number", name=op.f("pk_code_batches")),
    )
    op.create_table(
        "companion_releases",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("zone_id", ID, nullable=False),
        sa.Column("day", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("seats", sa.JSON(), nullable=False),
        sa.Column("released_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_companion_releases_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "zone_id", "day", name=op.f("pk_companion_releases")),
    )
    op.create_table(
        "device_assignments",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("device_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("gate", sa.Integer(), nullable=True),
        sa.Column("gates_allowed", sa.JSON(), nullable=False),
        sa.Column("zones", sa.JSON(), nullable=False),
        sa.Column("direction", sa.String(length=8), nullable=False),
        sa.Column("mode", sa.String(length=8), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "device_id"],
            ["devices.organisation_id", "devices.id"],
            name=op.f("fk_device_assignments_organisation_id_device_id_devices"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_device_assignments_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "device_id", "event_id", name=op.f("pk_device_assignments")),
    )
    op.create_index("ix_device_assignments_event", "device_assignments", ["organisation_id", "event_id"], unique=False)
    op.create_table(
        "ending_tickets",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_ending_tickets_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_ending_tickets")),
    )
    op.create_table(
        "event_archives",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("asked_by", ID, nullable=True),
        sa.Column("file", sa.String(length=300), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(length=32), nullable=True),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("rows_done", sa.BigInteger(), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("problem", sa.String(length=500), nullable=False),
        sa.Column("written_at", sa.BigInteger(), nullable=True),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.Column("leased_until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_archives_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_event_archives")),
    )
    op.create_index(
        "ix_event_archives_at_work",
        "event_archives",
        ["leased_until"],
        unique=False,
        sqlite_where=sa.text("state IN ('writing', 'removing', 'restoring')"),
        postgresql_where=sa.text("state IN ('writing', 'removing', 'restoring')"),
    )
    op.create_table(
        "event_day_counts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("ticket_type", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("issued", sa.Integer(), nullable=False),
        sa.CheckConstraint("issued >= 0", name=op.f("ck_event_day_counts_not_negative")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_day_counts_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "ticket_type", "day", name=op.f("pk_event_day_counts")),
    )
    op.create_table(
        "event_gate_zones",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("gate_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("zones", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_gate_zones_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "gate_number", name=op.f("pk_event_gate_zones")),
    )
    op.create_table(
        "event_heads",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=16), nullable=False),
        sa.Column("arrivals", sa.BigInteger(), nullable=False),
        sa.Column("settled_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_heads_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_event_heads")),
    )
    op.create_table(
        "event_layouts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("layout_id", ID, nullable=False),
        sa.Column("layout_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("blocked_seats", sa.JSON(), nullable=False),
        sa.Column("released_seats", sa.JSON(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("disabled_zones", sa.JSON(), nullable=False),
        sa.Column("zone_overrides", sa.JSON(), nullable=False),
        sa.Column("price_zones", sa.JSON(), nullable=False),
        sa.Column("seating_overrides", sa.JSON(), nullable=False),
        sa.Column("event_zones", sa.JSON(), nullable=False),
        sa.Column("moving", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_layouts_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "layout_id"],
            ["layouts.organisation_id", "layouts.id"],
            name=op.f("fk_event_layouts_organisation_id_layout_id_layouts"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_event_layouts")),
    )
    op.create_index(
        "ix_event_layouts_organisation_id_layout_id", "event_layouts", ["organisation_id", "layout_id"], unique=False
    )
    op.create_table(
        "event_news",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("message", sa.String(length=20), nullable=False),
        sa.Column("last_order_id", ID, nullable=True),
        sa.Column("told", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_news_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_event_news")),
    )
    op.create_index(
        "ix_event_news_open",
        "event_news",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("done_at IS NULL"),
        postgresql_where=sa.text("done_at IS NULL"),
    )
    op.create_index(
        "ix_event_news_organisation_id_event_id", "event_news", ["organisation_id", "event_id"], unique=False
    )
    op.create_table(
        "event_places",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("zone", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("sold", sa.Integer(), nullable=False),
        sa.CheckConstraint("held >= 0 AND sold >= 0", name=op.f("ck_event_places_not_negative")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_places_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "zone", "day", name=op.f("pk_event_places")),
    )
    op.create_table(
        "event_queues",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("room_minutes", sa.SmallInteger(), nullable=False),
        sa.Column("per_minute", sa.Integer(), nullable=False),
        sa.Column("pass_minutes", sa.SmallInteger(), nullable=False),
        sa.Column("commitment", sa.LargeBinary(length=32), nullable=False),
        sa.Column("sealed_seed", sa.LargeBinary(length=80), nullable=False),
        sa.Column("beacon_source", sa.String(length=200), nullable=False),
        sa.Column("beacon_value", sa.String(length=200), nullable=True),
        sa.Column("root", sa.LargeBinary(length=32), nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("drawn_at", sa.BigInteger(), nullable=True),
        sa.Column("paused_at", sa.BigInteger(), nullable=True),
        sa.Column("drawn", sa.Integer(), nullable=False),
        sa.Column("next_seq", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "per_minute >= 0 AND pass_minutes > 0 AND room_minutes >= 0", name=op.f("ck_event_queues_numbers_fit")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_queues_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_event_queues")),
    )
    op.create_table(
        "event_seats",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("hold_id", ID, nullable=True),
        sa.Column("held_until", sa.BigInteger(), nullable=True),
        sa.Column("ticket_id", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("locked_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(state = 0 AND hold_id IS NULL AND held_until IS NULL AND ticket_id IS NULL) OR (state = 1 AND hold_id IS NOT NULL AND held_until IS NOT NULL AND ticket_id IS NULL) OR (state = 2 AND hold_id IS NULL AND held_until IS NULL AND ticket_id IS NOT NULL)",
            name=op.f("ck_event_seats_state_fits"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_seats_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "seat", "day", name=op.f("pk_event_seats")),
    )
    op.create_index(
        "uq_event_seats_ticket_id",
        "event_seats",
        ["organisation_id", "ticket_id", "day"],
        unique=True,
        sqlite_where=sa.text("ticket_id IS NOT NULL"),
        postgresql_where=sa.text("ticket_id IS NOT NULL"),
    )
    op.create_table(
        "event_zones",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=True),
        sa.Column("membership_tier", sa.String(length=40), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_event_zones_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "number", name=op.f("pk_event_zones")),
        sa.UniqueConstraint(
            "organisation_id", "event_id", "name", name=op.f("uq_event_zones_organisation_id_event_id_name")
        ),
    )
    op.create_table(
        "hold_outcomes",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("days", sa.String(length=128), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_hold_outcomes_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "status", "days", name=op.f("pk_hold_outcomes")),
    )
    op.create_table(
        "holds",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("days", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=6), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("bearer_kind", sa.String(length=8), nullable=False),
        sa.Column("bearer_id", ID, nullable=False),
        sa.Column("group_id", ID, nullable=True),
        sa.Column("order_id", ID, nullable=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=False),
        sa.Column("remaining_ms", sa.BigInteger(), nullable=True),
        sa.Column("extended", sa.SmallInteger(), nullable=False),
        sa.Column("source", sa.String(length=8), nullable=False),
        sa.Column("notes", sa.String(length=200), nullable=True),
        sa.Column("origin", sa.String(length=32), nullable=True),
        sa.Column("membership_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "(kind = 'seat' AND seat IS NOT NULL AND quantity = 1) OR (kind = 'places' AND seat IS NULL AND quantity > 0)",
            name=op.f("ck_holds_kind_fits"),
        ),
        sa.CheckConstraint(
            "(status = 'suspended') = (remaining_ms IS NOT NULL)", name=op.f("ck_holds_suspended_keeps_time")
        ),
        sa.CheckConstraint("source IN ('web', 'scanner')", name=op.f("ck_holds_source_known")),
        sa.CheckConstraint(
            "status IN ('active', 'converted', 'expired', 'cancelled', 'suspended')", name=op.f("ck_holds_status_known")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_holds_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "membership_id"],
            ["tier_memberships.organisation_id", "tier_memberships.id"],
            name=op.f("fk_holds_organisation_id_membership_id_tier_memberships"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_holds")),
    )
    op.create_index(
        "ix_holds_held_until",
        "holds",
        ["held_until"],
        unique=False,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_index(
        "ix_holds_living",
        "holds",
        ["organisation_id", "bearer_id", "event_id"],
        unique=False,
        sqlite_where=sa.text("status IN ('active', 'suspended')"),
        postgresql_where=sa.text("status IN ('active', 'suspended')"),
    )
    op.create_index(
        "ix_holds_open_places",
        "holds",
        ["organisation_id", "event_id", "held_until"],
        unique=False,
        sqlite_where=sa.text("kind = 'places' AND status IN ('active', 'suspended')"),
        postgresql_where=sa.text("kind = 'places' AND status IN ('active', 'suspended')"),
    )
    op.create_index(
        "ix_holds_organisation_id_bearer_id", "holds", ["organisation_id", "bearer_id", "created_at"], unique=False
    )
    op.create_index(
        "ix_holds_organisation_id_event_id", "holds", ["organisation_id", "event_id", "seat", "status"], unique=False
    )
    op.create_index(
        "ix_holds_organisation_id_membership_id",
        "holds",
        ["organisation_id", "event_id", "membership_id"],
        unique=False,
        sqlite_where=sa.text("membership_id IS NOT NULL"),
        postgresql_where=sa.text("membership_id IS NOT NULL"),
    )
    op.create_index(
        "ix_holds_organisation_id_order_id",
        "holds",
        ["organisation_id", "order_id"],
        unique=False,
        sqlite_where=sa.text("order_id IS NOT NULL"),
        postgresql_where=sa.text("order_id IS NOT NULL"),
    )
    op.create_index(
        "ix_holds_organisation_id_origin",
        "holds",
        ["organisation_id", "event_id", "origin"],
        unique=False,
        sqlite_where=sa.text("origin IS NOT NULL"),
        postgresql_where=sa.text("origin IS NOT NULL"),
    )
    op.create_index(
        "uq_holds_seat",
        "holds",
        ["organisation_id", "event_id", "seat", "days"],
        unique=True,
        sqlite_where=sa.text("seat IS NOT NULL AND status IN ('active', 'suspended')"),
        postgresql_where=sa.text("seat IS NOT NULL AND status IN ('active', 'suspended')"),
    )
    op.create_table(
        "import_parts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("import_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "import_id"],
            ["imports.organisation_id", "imports.id"],
            name=op.f("fk_import_parts_organisation_id_import_id_imports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "import_id", "number", name=op.f("pk_import_parts")),
    )
    op.create_table(
        "layout_seats",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("layout_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", ID, nullable=False),
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
        sa.ForeignKeyConstraint(
            ["organisation_id", "layout_id"],
            ["layouts.organisation_id", "layouts.id"],
            name=op.f("fk_layout_seats_organisation_id_layout_id_layouts"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "layout_id", "number", name=op.f("pk_layout_seats")),
        sa.UniqueConstraint(
            "organisation_id", "layout_id", "id", name=op.f("uq_layout_seats_organisation_id_layout_id_id")
        ),
        sa.UniqueConstraint(
            "organisation_id", "layout_id", "seat_id", name=op.f("uq_layout_seats_organisation_id_layout_id_seat_id")
        ),
    )
    op.create_table(
        "layout_zones",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("layout_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", ID, nullable=False),
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
        sa.ForeignKeyConstraint(
            ["organisation_id", "layout_id"],
            ["layouts.organisation_id", "layouts.id"],
            name=op.f("fk_layout_zones_organisation_id_layout_id_layouts"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "layout_id", "number", name=op.f("pk_layout_zones")),
        sa.UniqueConstraint(
            "organisation_id", "layout_id", "id", name=op.f("uq_layout_zones_organisation_id_layout_id_id")
        ),
        sa.UniqueConstraint(
            "organisation_id", "layout_id", "name", name=op.f("uq_layout_zones_organisation_id_layout_id_name")
        ),
    )
    op.create_table(
        "listings",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=False),
        sa.Column("listed_until", sa.BigInteger(), nullable=False),
        sa.Column("city", sa.Text(), nullable=False),
        sa.Column("city_norm", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("category_norm", sa.Text(), nullable=False),
        sa.Column("words", sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql"), nullable=False),
        sa.Column("moved_at", sa.BigInteger(), nullable=False),
        sa.Column("moved_from", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_listings_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_listings")),
        sa.UniqueConstraint("organisation_id", "event_id", name=op.f("uq_listings_organisation_id_event_id")),
    )
    op.create_index("ix_listings_category_norm", "listings", ["category_norm", "starts_at", "number"], unique=False)
    op.create_index("ix_listings_city_norm", "listings", ["city_norm", "starts_at", "number"], unique=False)
    op.create_index(
        "ix_listings_city_norm_category_norm",
        "listings",
        ["city_norm", "category_norm", "starts_at", "number"],
        unique=False,
    )
    op.create_index("ix_listings_city_norm_city", "listings", ["city_norm", "city", "listed_until"], unique=False)
    op.create_index("ix_listings_listed_until", "listings", ["listed_until"], unique=False)
    op.create_index("ix_listings_organisation_id", "listings", ["organisation_id", "starts_at", "number"], unique=False)
    op.create_index(
        "ix_listings_starts_at",
        "listings",
        ["starts_at", "number", "listed_until", "moved_at", "moved_from"],
        unique=False,
    )
    op.create_table(
        "order_counters",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("orders", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_order_counters_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_order_counters")),
    )
    op.create_table(
        "orders",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("number", sa.String(length=30), nullable=False),
        sa.Column("channel", sa.String(length=10), nullable=False),
        sa.Column("bearer_kind", sa.String(length=8), nullable=False),
        sa.Column("bearer_id", ID, nullable=False),
        sa.Column("customer_id", ID, nullable=True),
        sa.Column("buyer_name", sa.String(length=100), nullable=False),
        sa.Column("buyer_email", sa.String(length=254), nullable=False),
        sa.Column("buyer_locale", sa.String(length=5), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("admissions", sa.SmallInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("subtotal_cents", sa.BigInteger(), nullable=False),
        sa.Column("discount_cents", sa.BigInteger(), nullable=False),
        sa.Column("fees_cents", sa.BigInteger(), nullable=False),
        sa.Column("tax_cents", sa.BigInteger(), nullable=False),
        sa.Column("total_cents", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("method", sa.String(length=20), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("access", sa.JSON(), nullable=False),
        sa.Column("remaining_ms", sa.BigInteger(), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("dispute", sa.String(length=8), server_default="", nullable=False),
        sa.Column("paid_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("channel IN ('shop', 'box_office')", name=op.f("ck_orders_channel_known")),
        sa.CheckConstraint(
            "total_cents = subtotal_cents - discount_cents + fees_cents", name=op.f("ck_orders_total_adds_up")
        ),
        sa.CheckConstraint(
            "total_cents >= 0 AND tax_cents BETWEEN 0 AND total_cents", name=op.f("ck_orders_not_negative")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "customer_id"],
            ["customers.organisation_id", "customers.id"],
            name=op.f("fk_orders_organisation_id_customer_id_customers"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_orders_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_orders")),
    )
    op.create_index(
        "ix_orders_expires_at",
        "orders",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_orders_organisation_id_bearer_id", "orders", ["organisation_id", "bearer_id", "id"], unique=False
    )
    op.create_index("ix_orders_organisation_id_buyer_email", "orders", ["organisation_id", "buyer_email"], unique=False)
    op.create_index(
        "ix_orders_organisation_id_customer_id", "orders", ["organisation_id", "customer_id", "id"], unique=False
    )
    op.create_index(
        "ix_orders_organisation_id_event_id",
        "orders",
        ["organisation_id", "event_id", "id", "state", "created_at"],
        unique=False,
    )
    op.create_index("ix_orders_organisation_id_number", "orders", ["organisation_id", "number"], unique=False)
    op.create_table(
        "reseatings",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("from_layout_id", ID, nullable=False),
        sa.Column("to_layout_id", ID, nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("made_by", ID, nullable=True),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.Column("done_by", ID, nullable=True),
        sa.Column("moved", sa.Integer(), nullable=False),
        sa.Column("touched_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('planned', 'closed', 'moving', 'done')", name=op.f("ck_reseatings_state_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_reseatings_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "from_layout_id"],
            ["layouts.organisation_id", "layouts.id"],
            name=op.f("fk_reseatings_organisation_id_from_layout_id_layouts"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "to_layout_id"],
            ["layouts.organisation_id", "layouts.id"],
            name=op.f("fk_reseatings_organisation_id_to_layout_id_layouts"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_reseatings")),
    )
    op.create_index(
        "ix_reseatings_moving",
        "reseatings",
        ["touched_at"],
        unique=False,
        sqlite_where=sa.text("state IN ('closed', 'moving')"),
        postgresql_where=sa.text("state IN ('closed', 'moving')"),
    )
    op.create_index(
        "ix_reseatings_organisation_id_event_id", "reseatings", ["organisation_id", "event_id", "id"], unique=False
    )
    op.create_table(
        "scan_bases",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_scan_bases_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_scan_bases")),
    )
    op.create_table(
        "scan_conflicts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
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
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_scan_conflicts_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_scan_conflicts")),
        sa.UniqueConstraint(
            "organisation_id",
            "event_id",
            "ticket",
            "kind",
            "subject",
            name=op.f("uq_scan_conflicts_organisation_id_event_id_ticket_kind_subject"),
        ),
    )
    op.create_index(
        "ix_scan_conflicts_event", "scan_conflicts", ["organisation_id", "event_id", "found_at"], unique=False
    )
    op.create_index(
        "ix_scan_conflicts_unresolved",
        "scan_conflicts",
        ["organisation_id", "event_id"],
        unique=False,
        postgresql_where=sa.text("resolved_at IS NULL AND withdrawn_at IS NULL AND severity > 0"),
        sqlite_where=sa.text("resolved_at IS NULL AND withdrawn_at IS NULL AND severity > 0"),
    )
    op.create_table(
        "scan_counts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("gate", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("direction", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_scan_counts_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint(
            "organisation_id", "event_id", "gate", "direction", "reason", name=op.f("pk_scan_counts")
        ),
    )
    op.create_table(
        "scan_days",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("zone", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("stayed", sa.Boolean(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_scan_days_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "day", "zone", "stayed", name=op.f("pk_scan_days")),
    )
    op.create_table(
        "scan_flows",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("span", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("starts", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("gate", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("zone", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("figure", sa.String(length=8), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_scan_flows_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint(
            "organisation_id", "event_id", "span", "day", "starts", "gate", "zone", "figure", name=op.f("pk_scan_flows")
        ),
    )
    op.create_table(
        "scan_inside",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("span", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("starts", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("gate", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("zone", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_scan_inside_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint(
            "organisation_id", "event_id", "span", "starts", "gate", "zone", name=op.f("pk_scan_inside")
        ),
    )
    op.create_table(
        "seat_groups",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("layout_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("group_type", sa.String(length=20), nullable=False),
        sa.Column("seats", sa.JSON(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("sold_whole", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "layout_id"],
            ["layouts.organisation_id", "layouts.id"],
            name=op.f("fk_seat_groups_organisation_id_layout_id_layouts"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "layout_id", "number", name=op.f("pk_seat_groups")),
    )
    op.create_table(
        "ticket_batches",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("ticket_type", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("tickets", sa.Integer(), nullable=False),
        sa.Column("written", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), nullable=False),
        sa.Column("claim", ID, nullable=True),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("problem", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled')", name=op.f("ck_ticket_batches_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_ticket_batches_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_ticket_batches")),
    )
    op.create_index(
        "ix_ticket_batches_organisation_id_event_id",
        "ticket_batches",
        ["organisation_id", "event_id", "id"],
        unique=False,
    )
    op.create_index("ix_ticket_batches_state", "ticket_batches", ["state", "seen_at"], unique=False)
    op.create_table(
        "ticket_counts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("key_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_ticket_counts_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "key_id"],
            ["ticket_keys.organisation_id", "ticket_keys.id"],
            name=op.f("fk_ticket_counts_organisation_id_key_id_ticket_keys"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "key_id", "state", name=op.f("pk_ticket_counts")),
    )
    op.create_index("ix_ticket_counts_key_id", "ticket_counts", ["organisation_id", "key_id"], unique=False)
    op.create_table(
        "ticket_types",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column("kind", sa.String(length=30), server_default=sa.text("'general'"), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.Column("fee_cents", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("tax_rate", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("issued", sa.Integer(), nullable=False),
        sa.Column("reserved", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("min_per_order", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("max_per_order", sa.SmallInteger(), server_default=sa.text("10"), nullable=False),
        sa.Column("hidden", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("position", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("entitlement", sa.SmallInteger(), nullable=False),
        sa.Column("entry_limit", sa.SmallInteger(), nullable=False),
        sa.Column("valid_days", sa.String(length=128), nullable=False),
        sa.Column("flags", sa.SmallInteger(), nullable=False),
        sa.Column("check_words", sa.String(length=100), nullable=False),
        sa.Column("badge_layout", sa.String(length=24000), server_default=sa.text("''"), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("sale_start_at", sa.BigInteger(), nullable=True),
        sa.Column("sale_end_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("fee_cents >= 0", name=op.f("ck_ticket_types_fee_not_negative")),
        sa.CheckConstraint("issued >= 0", name=op.f("ck_ticket_types_issued_not_negative")),
        sa.CheckConstraint("min_per_order BETWEEN 1 AND max_per_order", name=op.f("ck_ticket_types_order_limits")),
        sa.CheckConstraint("price_cents >= 0", name=op.f("ck_ticket_types_price_not_negative")),
        sa.CheckConstraint("reserved BETWEEN 0 AND issued", name=op.f("ck_ticket_types_reserved_are_counted")),
        sa.CheckConstraint("tax_rate BETWEEN 0 AND 10000", name=op.f("ck_ticket_types_tax_rate_in_basis_points")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_ticket_types_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "number", name=op.f("pk_ticket_types")),
        sa.UniqueConstraint(
            "organisation_id", "event_id", "name", name=op.f("uq_ticket_types_organisation_id_event_id_name")
        ),
    )
    op.create_table(
        "tickets",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event_id", ID, nullable=False),
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
        sa.Column("seat_id", sa.String(length=80), nullable=False),
        sa.Column("section", sa.String(length=60), nullable=False),
        sa.Column("seat_row", sa.String(length=20), nullable=False),
        sa.Column("seat_number", sa.String(length=20), nullable=False),
        sa.Column("seat_key", sa.String(length=400), nullable=True),
        sa.Column("group_id", ID, nullable=False),
        sa.Column("valid_days", sa.String(length=128), nullable=False),
        sa.Column("entitlement", sa.SmallInteger(), nullable=False),
        sa.Column("entry_limit", sa.SmallInteger(), nullable=False),
        sa.Column("flags", sa.SmallInteger(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("membership_tier", sa.String(length=40), nullable=False),
        sa.Column("membership_id", sa.String(length=36), nullable=False),
        sa.Column("membership_state", sa.SmallInteger(), nullable=False),
        sa.Column("membership_until", sa.BigInteger(), nullable=False),
        sa.Column("holder_name", sa.String(length=100), nullable=False),
        sa.Column("notes", sa.String(length=200), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("issue BETWEEN 1 AND 255", name=op.f("ck_tickets_issue_one_byte")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_tickets_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "key_id"],
            ["ticket_keys.organisation_id", "ticket_keys.id"],
            name=op.f("fk_tickets_organisation_id_key_id_ticket_keys"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_tickets")),
        sa.UniqueConstraint(
            "organisation_id",
            "event_id",
            "confirmation_code",
            name=op.f("uq_tickets_organisation_id_event_id_confirmation_code"),
        ),
        sa.UniqueConstraint(
            "organisation_id", "event_id", "sequence", name=op.f("uq_tickets_organisation_id_event_id_sequence")
        ),
    )
    op.create_index("ix_tickets_key_id", "tickets", ["organisation_id", "key_id"], unique=False)
    op.create_index(
        "ix_tickets_membership",
        "tickets",
        ["organisation_id", "membership_id"],
        unique=False,
        sqlite_where=sa.text("membership_id <> ''"),
        postgresql_where=sa.text("membership_id <> ''"),
    )
    op.create_index(
        "uq_tickets_seat",
        "tickets",
        ["organisation_id", "event_id", "seat_key", "valid_days"],
        unique=True,
        sqlite_where=sa.text("seat_key IS NOT NULL AND state <> 1"),
        postgresql_where=sa.text("seat_key IS NOT NULL AND state <> 1"),
    )
    op.create_table(
        "waiting_lists",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("offer_minutes", sa.SmallInteger(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("wakes", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("leased_until", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_waiting_lists_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", name=op.f("pk_waiting_lists")),
    )
    op.create_index(
        "ix_waiting_lists_due_at",
        "waiting_lists",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_table(
        "waiting_parties",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("bearer_id", ID, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("locale", sa.String(length=5), nullable=False),
        sa.Column("size", sa.SmallInteger(), nullable=False),
        sa.Column("together", sa.Boolean(), nullable=False),
        sa.Column("zone_ids", sa.JSON(), nullable=False),
        sa.Column("ticket_types", sa.JSON(), nullable=False),
        sa.Column("days", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("passed_over", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'offered', 'taken', 'lapsed', 'left', 'ended')",
            name=op.f("ck_waiting_parties_state_known"),
        ),
        sa.CheckConstraint("size > 0", name=op.f("ck_waiting_parties_somebody")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_waiting_parties_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_waiting_parties")),
    )
    op.create_index("ix_waiting_parties_email", "waiting_parties", ["organisation_id", "email"], unique=False)
    op.create_index(
        "ix_waiting_parties_state", "waiting_parties", ["organisation_id", "event_id", "state", "seq"], unique=False
    )
    op.create_index(
        "uq_waiting_parties_email",
        "waiting_parties",
        ["organisation_id", "event_id", "email"],
        unique=True,
        sqlite_where=sa.text("state IN ('waiting', 'offered')"),
        postgresql_where=sa.text("state IN ('waiting', 'offered')"),
    )
    op.create_index("uq_waiting_parties_seq", "waiting_parties", ["organisation_id", "event_id", "seq"], unique=True)
    op.create_table(
        "wall_links",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_wall_links_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_wall_links")),
    )
    op.create_index("ix_wall_links_event", "wall_links", ["organisation_id", "event_id"], unique=False)
    op.create_table(
        "webhook_attempts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("message_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(length=30), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "webhook_id", "message_id"],
            ["webhook_messages.organisation_id", "webhook_messages.webhook_id", "webhook_messages.message_id"],
            name=op.f("fk_webhook_attempts_organisation_id_webhook_id_message_id_webhook_messages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organisation_id", "webhook_id", "message_id", "number", name=op.f("pk_webhook_attempts")
        ),
    )
    op.create_table(
        "zone_guests",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("zone_id", ID, nullable=False),
        sa.Column("named", sa.String(length=10), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.Column("import_id", ID, nullable=True),
        sa.CheckConstraint("named IN ('email', 'customer', 'code')", name=op.f("ck_zone_guests_named_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_zone_guests_organisation_id_event_id_events"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "zone_id", "named", "key", name=op.f("pk_zone_guests")),
    )
    op.create_index(
        "ix_zone_guests_organisation_id_event_id",
        "zone_guests",
        ["organisation_id", "event_id", "named", "key"],
        unique=False,
    )
    op.create_table(
        "code_uses",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("batch", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("serial", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("use", sa.Integer(), nullable=False),
        sa.Column("spent_at", sa.BigInteger(), nullable=False),
        sa.Column("given_back_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_code_uses_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_code_uses_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "order_id", "batch", "serial", name=op.f("pk_code_uses")),
    )
    op.create_index(
        "uq_code_uses_use",
        "code_uses",
        ["organisation_id", "event_id", "batch", "serial", "use"],
        unique=True,
        sqlite_where=sa.text("given_back_at IS NULL"),
        postgresql_where=sa.text("given_back_at IS NULL"),
    )
    op.create_table(
        "date_answers",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("new_date", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.String(length=8), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("answer IN ('keep', 'refund')", name=op.f("ck_date_answers_answer_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_date_answers_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "order_id", name=op.f("pk_date_answers")),
    )
    op.create_index(
        "ix_date_answers_organisation_id_event_id", "date_answers", ["organisation_id", "event_id"], unique=False
    )
    op.create_table(
        "disputes",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("reference", sa.String(length=100), nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("method", sa.String(length=20), nullable=False),
        sa.Column("payment", sa.String(length=140), nullable=False),
        sa.Column("cents", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=60), nullable=False),
        sa.Column("withdrawn_cents", sa.BigInteger(), nullable=False),
        sa.Column("lost_cents", sa.BigInteger(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("blocked_tickets", sa.JSON(), nullable=False),
        sa.Column("answer_by", sa.BigInteger(), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("look_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('inquiry', 'open', 'won', 'lost')", name=op.f("ck_disputes_state_known")),
        sa.CheckConstraint(
            "lost_cents BETWEEN 0 AND withdrawn_cents AND withdrawn_cents <= cents", name=op.f("ck_disputes_not_more")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_disputes_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "reference", name=op.f("pk_disputes")),
    )
    op.create_index(
        "ix_disputes_look_at",
        "disputes",
        ["look_at"],
        unique=False,
        sqlite_where=sa.text("look_at IS NOT NULL"),
        postgresql_where=sa.text("look_at IS NOT NULL"),
    )
    op.create_index("ix_disputes_organisation_id_order_id", "disputes", ["organisation_id", "order_id"], unique=False)
    op.create_table(
        "event_revisions",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.LargeBinary(length=16), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["event_heads.organisation_id", "event_heads.event_id"],
            name=op.f("fk_event_revisions_organisation_id_event_id_event_heads"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "revision", name=op.f("pk_event_revisions")),
    )
    op.create_index("ix_event_revisions_at", "event_revisions", ["organisation_id", "event_id", "at"], unique=False)
    op.create_table(
        "money_movements",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("debit", sa.String(length=20), nullable=False),
        sa.Column("credit", sa.String(length=20), nullable=False),
        sa.Column("cents", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("method", sa.String(length=20), nullable=False),
        sa.Column("external_reference", sa.String(length=140), nullable=True),
        sa.Column("note", sa.String(length=1000), nullable=False),
        sa.CheckConstraint("cents > 0", name=op.f("ck_money_movements_positive")),
        sa.CheckConstraint("debit <> credit", name=op.f("ck_money_movements_between_two_accounts")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_money_movements_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "order_id", "position", name=op.f("pk_money_movements")),
        info={
            "append only": {
                "sqlite": (
                    "CREATE TRIGGER money_movements_no_update BEFORE UPDATE ON money_movements BEGIN SELECT RAISE(ABORT, 'rows of money_movements are only ever added'); END",
                    "CREATE TRIGGER money_movements_no_delete BEFORE DELETE ON money_movements BEGIN SELECT RAISE(ABORT, 'rows of money_movements are only ever added'); END",
                    "CREATE TRIGGER money_movements_no_replace BEFORE INSERT ON money_movements WHEN EXISTS (SELECT 1 FROM money_movements WHERE organisation_id = NEW.organisation_id AND order_id = NEW.order_id AND position = NEW.position) BEGIN SELECT RAISE(ABORT, 'rows of money_movements are only ever added'); END",
                ),
                "postgresql": (
                    "CREATE OR REPLACE FUNCTION money_movements_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rows of money_movements are only ever added'; END $$",
                    "CREATE TRIGGER money_movements_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON money_movements FOR EACH STATEMENT EXECUTE FUNCTION money_movements_guard()",
                ),
            }
        },
    )
    op.create_index(
        "uq_money_movements_external_reference",
        "money_movements",
        ["organisation_id", "method", "kind", "external_reference"],
        unique=True,
        sqlite_where=sa.text("external_reference IS NOT NULL"),
        postgresql_where=sa.text("external_reference IS NOT NULL"),
    )
    op.create_table(
        "order_lines",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("position", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("ticket_type", sa.Integer(), nullable=False),
        sa.Column("ticket_type_name", sa.String(length=100), nullable=False),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("seat", sa.BigInteger(), nullable=False),
        sa.Column("seat_name", sa.String(length=80), nullable=False),
        sa.Column("seat_label", sa.String(length=110), nullable=False),
        sa.Column("holder_name", sa.String(length=100), nullable=False),
        sa.Column("valid_days", sa.String(length=128), nullable=False),
        sa.Column("unit_cents", sa.BigInteger(), nullable=False),
        sa.Column("discount_cents", sa.BigInteger(), nullable=False),
        sa.Column("fee_cents", sa.BigInteger(), nullable=False),
        sa.Column("tax_rate", sa.Integer(), nullable=False),
        sa.Column("tax_cents", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("hold_id", ID, nullable=True),
        sa.Column("membership_id", sa.String(length=36), nullable=False),
        sa.Column("ticket_id", sa.BigInteger(), nullable=True),
        sa.Column("passed_on", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint(
            "discount_cents BETWEEN 0 AND unit_cents", name=op.f("ck_order_lines_discount_within_price")
        ),
        sa.CheckConstraint("fee_cents >= 0 AND tax_cents >= 0", name=op.f("ck_order_lines_not_negative")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_order_lines_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "order_id", "position", name=op.f("pk_order_lines")),
    )
    op.create_index(
        "ix_order_lines_organisation_id_ticket_id", "order_lines", ["organisation_id", "ticket_id"], unique=False
    )
    op.create_table(
        "payouts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("method", sa.String(length=20), nullable=False),
        sa.Column("payment", sa.String(length=140), nullable=False),
        sa.Column("cents", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("refund", sa.String(length=140), nullable=True),
        sa.Column("problem", sa.String(length=300), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("try_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("cents > 0", name=op.f("ck_payouts_positive")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_payouts_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_payouts")),
    )
    op.create_index("ix_payouts_organisation_id_order_id", "payouts", ["organisation_id", "order_id"], unique=False)
    op.create_index(
        "ix_payouts_try_at",
        "payouts",
        ["try_at"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_table(
        "put_away_people",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("part", sa.String(length=40), nullable=False),
        sa.Column("line", sa.LargeBinary(length=16), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=True),
        sa.Column("membership_id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["event_archives.organisation_id", "event_archives.event_id"],
            name=op.f("fk_put_away_people_organisation_id_event_id_event_archives"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "part", "line", name=op.f("pk_put_away_people")),
    )
    op.create_index("ix_put_away_people_email", "put_away_people", ["organisation_id", "email"], unique=False)
    op.create_index(
        "ix_put_away_people_membership_id", "put_away_people", ["organisation_id", "membership_id"], unique=False
    )
    op.create_index("ix_put_away_people_ticket", "put_away_people", ["organisation_id", "ticket"], unique=False)
    op.create_table(
        "queue_entries",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("bearer_id", ID, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.Column("in_draw", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("admitted_at", sa.BigInteger(), nullable=True),
        sa.Column("cooldown_until", sa.BigInteger(), nullable=True),
        sa.Column("tab_hash", sa.LargeBinary(length=32), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'admitted', 'spent', 'expired', 'left')", name=op.f("ck_queue_entries_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["event_queues.organisation_id", "event_queues.event_id"],
            name=op.f("fk_queue_entries_organisation_id_event_id_event_queues"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "event_id", "id", name=op.f("pk_queue_entries")),
    )
    op.create_index(
        "ix_queue_entries_bearer_id",
        "queue_entries",
        ["organisation_id", "event_id", "bearer_id", "joined_at"],
        unique=False,
    )
    op.create_index(
        "ix_queue_entries_expires_at",
        "queue_entries",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("state IN ('waiting', 'admitted')"),
        postgresql_where=sa.text("state IN ('waiting', 'admitted')"),
    )
    op.create_index(
        "ix_queue_entries_state_seq", "queue_entries", ["organisation_id", "event_id", "state", "seq"], unique=False
    )
    op.create_index(
        "uq_queue_entries_bearer_id",
        "queue_entries",
        ["organisation_id", "event_id", "bearer_id"],
        unique=True,
        sqlite_where=sa.text("state IN ('waiting', 'admitted')"),
        postgresql_where=sa.text("state IN ('waiting', 'admitted')"),
    )
    op.create_table(
        "reseating_steps",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("reseating_id", ID, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ticket_id", sa.BigInteger(), nullable=False),
        sa.Column("old_seat", sa.Integer(), nullable=False),
        sa.Column("new_seat", sa.Integer(), nullable=True),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("new_code", sa.Boolean(), nullable=False),
        sa.Column("flags", sa.SmallInteger(), nullable=False),
        sa.Column("why", sa.String(length=60), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "reseating_id"],
            ["reseatings.organisation_id", "reseatings.id"],
            name=op.f("fk_reseating_steps_organisation_id_reseating_id_reseatings"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "reseating_id", "place", name=op.f("pk_reseating_steps")),
    )
    op.create_table(
        "stripe_payments",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("intent", sa.String(length=255), nullable=True),
        sa.Column("cents", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("look_at", sa.BigInteger(), nullable=True),
        sa.Column("looks", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("cents > 0", name=op.f("ck_stripe_payments_positive")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_stripe_payments_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_stripe_payments")),
    )
    op.create_index(
        "ix_stripe_payments_look_at",
        "stripe_payments",
        ["look_at"],
        unique=False,
        sqlite_where=sa.text("look_at IS NOT NULL"),
        postgresql_where=sa.text("look_at IS NOT NULL"),
    )
    op.create_index(
        "ix_stripe_payments_organisation_id_order_id", "stripe_payments", ["organisation_id", "order_id"], unique=False
    )
    op.create_index("uq_stripe_payments_intent", "stripe_payments", ["organisation_id", "intent"], unique=True)
    op.create_table(
        "ticket_batch_parts",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("batch_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "batch_id"],
            ["ticket_batches.organisation_id", "ticket_batches.id"],
            name=op.f("fk_ticket_batch_parts_organisation_id_batch_id_ticket_batches"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "batch_id", "number", name=op.f("pk_ticket_batch_parts")),
    )
    op.create_table(
        "ticket_issues",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("ticket_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("issue", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("claims", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id", "key_id"],
            ["ticket_keys.organisation_id", "ticket_keys.id"],
            name=op.f("fk_ticket_issues_organisation_id_key_id_ticket_keys"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "ticket_id"],
            ["tickets.organisation_id", "tickets.id"],
            name=op.f("fk_ticket_issues_organisation_id_ticket_id_tickets"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "ticket_id", "issue", name=op.f("pk_ticket_issues")),
    )
    op.create_table(
        "ticket_transfers",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("order_id", ID, nullable=False),
        sa.Column("ticket_id", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.SmallInteger(), nullable=False),
        sa.Column("recipient_email", sa.String(length=254), nullable=False),
        sa.Column("recipient_name", sa.String(length=100), nullable=False),
        sa.Column("code_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('offered', 'accepted', 'declined', 'withdrawn', 'lapsed')",
            name=op.f("ck_ticket_transfers_state_known"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_ticket_transfers_organisation_id_event_id_events"),
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "order_id"],
            ["orders.organisation_id", "orders.id"],
            name=op.f("fk_ticket_transfers_organisation_id_order_id_orders"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_ticket_transfers")),
    )
    op.create_index(
        "ix_ticket_transfers_ends_at",
        "ticket_transfers",
        ["ends_at"],
        unique=False,
        sqlite_where=sa.text("state = 'offered'"),
        postgresql_where=sa.text("state = 'offered'"),
    )
    op.create_index("ix_ticket_transfers_event_id", "ticket_transfers", ["organisation_id", "event_id"], unique=False)
    op.create_index("ix_ticket_transfers_order_id", "ticket_transfers", ["organisation_id", "order_id"], unique=False)
    op.create_index(
        "ix_ticket_transfers_recipient_email", "ticket_transfers", ["organisation_id", "recipient_email"], unique=False
    )
    op.create_index(
        "ix_ticket_transfers_ticket_id", "ticket_transfers", ["organisation_id", "ticket_id", "step"], unique=False
    )
    op.create_index("uq_ticket_transfers_code_hash", "ticket_transfers", ["organisation_id", "code_hash"], unique=True)
    op.create_index(
        "uq_ticket_transfers_offered",
        "ticket_transfers",
        ["organisation_id", "ticket_id"],
        unique=True,
        sqlite_where=sa.text("state = 'offered'"),
        postgresql_where=sa.text("state = 'offered'"),
    )
    op.create_table(
        "waiting_offers",
        sa.Column("organisation_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("party_id", ID, nullable=False),
        sa.Column("ticket_type", sa.Integer(), nullable=False),
        sa.Column("zone", sa.Integer(), nullable=False),
        sa.Column("seats", sa.JSON(), nullable=False),
        sa.Column("passed", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'taken', 'lapsed', 'left')", name=op.f("ck_waiting_offers_state_known")),
        sa.ForeignKeyConstraint(
            ["organisation_id", "event_id"],
            ["events.organisation_id", "events.id"],
            name=op.f("fk_waiting_offers_organisation_id_event_id_events"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id", "party_id"],
            ["waiting_parties.organisation_id", "waiting_parties.id"],
            name=op.f("fk_waiting_offers_organisation_id_party_id_waiting_parties"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organisation_id", "id", name=op.f("pk_waiting_offers")),
    )
    op.create_index(
        "ix_waiting_offers_ends_at",
        "waiting_offers",
        ["ends_at"],
        unique=False,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index("ix_waiting_offers_event_id", "waiting_offers", ["organisation_id", "event_id", "id"], unique=False)
    op.create_index(
        "uq_waiting_offers_party_id",
        "waiting_offers",
        ["organisation_id", "party_id"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )

    for statement in NATIVE[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    """Refuse: before the first release there is nothing to go back to."""
    raise RuntimeError("Restore a backup instead.")
