"""Venues and events with every field that organisers and visitors see, and the pictures that they are shown with."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# One statement a column: SQLite cannot make a table anew while others point at its rows. Both databases understand
# these; a rule stands on a line of its own because SQLAlchemy reads rules of SQLite line by line.
_VENUES = {
    "kind": "VARCHAR(10) DEFAULT 'physical' NOT NULL",
    "website": "VARCHAR(300) DEFAULT '' NOT NULL",
    "latitude": "FLOAT\nCONSTRAINT ck_venues_latitude_on_earth CHECK (latitude BETWEEN -90 AND 90)\n",
    "longitude": "FLOAT\nCONSTRAINT ck_venues_longitude_on_earth "
    "CHECK (longitude BETWEEN -180 AND 180 AND (latitude IS NULL) = (longitude IS NULL))\n",
    "city_norm": "TEXT DEFAULT '' NOT NULL",
    "archived_at": "BIGINT",
}
_EVENTS = {
    "archived_at": "BIGINT",
    "owner_id": "VARCHAR(64) DEFAULT '' NOT NULL",
    "search_text": "TEXT DEFAULT '' NOT NULL",
    "city_norm": "TEXT DEFAULT '' NOT NULL",
    "dedupe_key": "VARCHAR(200) DEFAULT '' NOT NULL",
    "venue_capacity": "INTEGER DEFAULT 0 NOT NULL",
    "layout_room": "INTEGER DEFAULT 0 NOT NULL",
    "cover_images": "JSON DEFAULT '[]' NOT NULL",
    "cover_alts": "JSON DEFAULT '{}' NOT NULL",
    "participants_elsewhere": "BOOLEAN DEFAULT false NOT NULL",
    "queue_seq": "INTEGER DEFAULT 0 NOT NULL",
}
_VENUE_INDEXES = {
    "ix_venues_organisation_id_city_norm": ["organisation_id", "city_norm", "id"],
    "ix_venues_organisation_id_timezone": ["organisation_id", "timezone", "id"],
}
_EVENT_INDEXES = {
    "ix_events_city_norm_status_start_at": ["city_norm", "status", "start_at", "id"],
    "ix_events_category_status_start_at": ["category", "status", "start_at", "id"],
    "ix_events_owner_id_created_at": ["owner_id", "created_at", "id"],
    "ix_events_recurrence_group_id": ["recurrence_group_id", "start_at"],
    "ix_events_replaced_by_event_id": ["replaced_by_event_id"],
}
_PLANS = {"ix_events_status_go_live_at": "go_live_at", "ix_events_status_end_at_auto": "end_at_auto"}
_STANDS = sa.text("status NOT IN ('cancelled', 'archived')")
# SQLite asks no trigger of deletion where INSERT OR REPLACE drops the row that is in the way.
_NO_REPLACE = {
    "audit_lines": "EXISTS (SELECT 1 FROM audit_lines WHERE id = NEW.id) OR NEW.seq IS NOT NULL AND EXISTS "
    "(SELECT 1 FROM audit_lines WHERE seq = NEW.seq AND organisation_id IS NEW.organisation_id)",
    "audit_personal": "EXISTS (SELECT 1 FROM audit_personal WHERE line_id = NEW.line_id AND part = NEW.part)",
}


def upgrade() -> None:
    """Forward; every row that stands gets its words folded and its key."""
    for table, columns in (("venues", _VENUES), ("events", _EVENTS)):
        for name, form in columns.items():
            op.execute(f"ALTER TABLE {table} ADD COLUMN {name} {form}")
    op.execute("UPDATE events SET owner_id = created_by, archived_at = CASE status WHEN 'archived' THEN updated_at END")
    op.execute("UPDATE events SET venue_capacity = (SELECT max_capacity FROM venues WHERE venues.id = venue_id)")
    _fold_venues()
    _fold_events()
    _count_rooms()
    for table, indexes in (("venues", _VENUE_INDEXES), ("events", _EVENT_INDEXES)):
        for name, parts in indexes.items():
            op.create_index(name, table, parts, unique=False)
    op.create_index(
        "uq_events_dedupe_key",
        "events",
        ["organisation_id", "dedupe_key"],
        unique=True,
        sqlite_where=_STANDS,
        postgresql_where=_STANDS,
    )
    for name, plan in _PLANS.items():
        planned = sa.text(f"{plan} IS NOT NULL")
        op.create_index(name, "events", ["status", plan], sqlite_where=planned, postgresql_where=planned)
    _make_pictures()
    _guard_audit_log()


def _guard_audit_log() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for table, same in _NO_REPLACE.items():
        op.execute(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {same} "
            "BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END"
        )


def _make_pictures() -> None:
    op.create_table(
        "pictures",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name=op.f("fk_pictures_organisation_id_organisations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pictures")),
    )
    op.create_index(op.f("ix_pictures_organisation_id"), "pictures", ["organisation_id"], unique=False)
    op.create_table(
        "picture_variants",
        sa.Column("picture_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("content_type", sa.String(length=20), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["picture_id"], ["pictures.id"], name=op.f("fk_picture_variants_picture_id_pictures"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("picture_id", "name", name=op.f("pk_picture_variants")),
    )


def downgrade() -> None:
    """Back; pictures, covers and what was said in the new fields are lost."""
    if op.get_bind().dialect.name == "sqlite":
        for table in _NO_REPLACE:
            op.execute(f"DROP TRIGGER {table}_no_replace")
    op.drop_table("picture_variants")
    op.drop_table("pictures")
    for name in ("uq_events_dedupe_key", *_PLANS):
        op.drop_index(name, "events")
    for table, indexes in (("events", _EVENT_INDEXES), ("venues", _VENUE_INDEXES)):
        for name in indexes:
            op.drop_index(name, table)
    for table, columns in (("events", _EVENTS), ("venues", _VENUES)):
        for name in reversed(columns):
            op.execute(f"ALTER TABLE {table} DROP COLUMN {name}")


def _fold_venues() -> None:
    connection = op.get_bind()
    change = sa.text("UPDATE venues SET city_norm = :city_norm WHERE id = :id")
    rows = [
        {"id": row.id, "city_norm": _fold(row.city)}
        for row in connection.execute(sa.text("SELECT id, city FROM venues"))
    ]
    if rows:
        connection.execute(change, rows)


def _fold_events() -> None:
    connection = op.get_bind()
    change = sa.text(
        "UPDATE events SET search_text = :search_text, city_norm = :city_norm, dedupe_key = :dedupe_key WHERE id = :id"
    )
    seen: set[tuple[str, str]] = set()
    rows = []
    wanted = "SELECT id, organisation_id, venue_id, owner_id, start_at, name, venue_name, city, category FROM events"
    for row in connection.execute(sa.text(wanted + " ORDER BY id")):
        key = f"{row.owner_id}:{row.venue_id}:{row.start_at}:{_slug(row.name)}"
        if (row.organisation_id, key) in seen:
            key = f"{key}:{row.id}"  # doubles that stand already go on standing
        seen.add((row.organisation_id, key))
        words = _fold(" ".join((row.name, row.venue_name, row.city, row.category)))
        rows.append({"id": row.id, "search_text": words, "city_norm": _fold(row.city), "dedupe_key": key})
    if rows:
        connection.execute(change, rows)


_SEATED = {"reserved_seating", "vip_reserved"}


def _count_rooms() -> None:
    """How many the open zones of each event's layout hold, as it was reckoned when this was written."""
    connection = op.get_bind()
    choices = sa.table(
        "event_layouts",
        sa.column("event_id"),
        sa.column("layout_id"),
        sa.column("blocked_seats", sa.JSON),
        sa.column("disabled_zones", sa.JSON),
        sa.column("zone_overrides", sa.JSON),
    )
    zones = sa.text("SELECT number, zone_type, capacity FROM layout_zones WHERE layout_id = :layout")
    seats = sa.text("SELECT number, zone_number FROM layout_seats WHERE layout_id = :layout")
    change = sa.text("UPDATE events SET layout_room = :room WHERE id = :id")
    for row in connection.execute(sa.select(choices)).all():
        here = {"layout": row.layout_id}
        blocked = set(row.blocked_seats)
        lost = Counter(seat.zone_number for seat in connection.execute(seats, here) if seat.number in blocked)
        room = sum(
            _room(zone, row.zone_overrides.get(str(zone.number), {}), lost[zone.number])
            for zone in connection.execute(zones, here)
            if zone.number not in row.disabled_zones
        )
        connection.execute(change, {"id": row.event_id, "room": room})


def _room(zone: Any, changed: dict[str, Any], lost: int) -> int:
    left = int(zone.capacity) - lost
    return left if changed.get("zone_type", zone.zone_type) in _SEATED else int(changed.get("capacity", left))


# How words were folded when this was written: a migration does not follow the program.
_PLAIN = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2019": "'"}
)


def _fold(text: str) -> str:
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return " ".join(unicodedata.normalize("NFC", bare).translate(_PLAIN).split())


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].strip("-") or "event"
