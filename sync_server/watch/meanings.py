"""What columns name without a foreign key: said once for each, and nowhere left to guessing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import JSON, Column, Integer, MetaData, String, Table

from shared.rows import RowKind

WHOSE: Final = "organisation_id"

OF_NOBODY: Final = frozenset(
    {
        "audit_chains",
        "house_checks",
        "lineage",
        "login_failures",
        "organisations",
        "processed_messages",
        "server_identity",
        "trending_generations",
        "trending_places",
        "users",
    }
)
"""Tables of the installation itself, of everybody, or of what everybody may see."""

_TABLES: Final = {
    "key": "ticket_keys",
    "token": "api_tokens",
    "conflict": "scan_conflicts",
    "line": "audit_lines",
    "bearer": "guests",
    "from": "layouts",
    "to": "layouts",
    "cover_images": "pictures",
    "cover_alts": "pictures",
}
"""Words that mean rows of a table whose name is not their plural."""
_NUMBERED: Final = frozenset({"events", "devices"})
"""Tables whose rows have a number that is unique on the installation."""

POINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "events.created_by": ("api_tokens",),
    "events.owner_id": ("api_tokens",),
    "hold_tallies.bearer_id": ("guests", "api_tokens"),
    "holds.bearer_id": ("guests", "api_tokens"),
    "layouts.family_id": ("layouts",),
    "reseatings.done_by": ("api_tokens",),
    "reseatings.made_by": ("api_tokens",),
    "scan_movements.annuls_device": ("devices",),
}
"""Columns whose name does not say what they name; where it may be one of several, only one of them has such an id."""
BY_KIND: Final[Mapping[str, tuple[str, Mapping[int, str]]]] = {
    "snapshot_history.key": ("kind", {RowKind.TICKET: "tickets", RowKind.KEY: "ticket_keys"}),
    "snapshot_rows.key": ("kind", {RowKind.TICKET: "tickets", RowKind.KEY: "ticket_keys"}),
}
"""Columns that name rows of several tables; which it is stands in a column beside them."""

SAID: Final[Mapping[str, str]] = {
    "audit_lines.actor_id": "actor_kind",
    "audit_lines.after": "",
    "audit_lines.before": "",
    "audit_lines.subject_id": "subject_kind",
    "audit_personal.person_id": "person_kind",
    "device_reports.rows": "",
    "events.cover_alts": "",
    "events.cover_images": "",
    "idempotency_keys.principal": "",
    "outbox.payload": "",
    "outbox.stream": "",
    "outbox.subjects": "",
    "reseatings.report": "",
    "scan_conflicts.scans": "",
}
"""Columns that name rows inside JSON, or as kind:id; or the column beside them that says of what kind they are."""
OF_LATE: Final = frozenset({"audit_lines"})
"""Tables that are only added to: what was written in the last week is looked at."""

NAMES_NOTHING: Final = frozenset(
    {
        # people, who belong to no organisation, and requests, messages and bookings, which have no row of their own
        "api_tokens.created_by",
        "audit_lines.request_id",
        "events.recurrence_group_id",
        "holds.party_id",
        "house_findings.points_to",
        "outbox.message_id",
        "scan_conflicts.resolved_by",
        "tickets.membership_id",
        "tickets.party",
        # numbers and names within the same event, layout or venue
        "companion_releases.seats",
        "companion_releases.zone_id",
        "zone_guests.zone_id",
        "device_assignments.gate",
        "device_assignments.gates_allowed",
        "device_assignments.zones",
        "event_gate_zones.gate_number",
        "event_gate_zones.zones",
        "event_layouts.blocked_seats",
        "event_layouts.disabled_zones",
        "event_layouts.event_zones",
        "event_layouts.price_zones",
        "event_layouts.seating_overrides",
        "event_layouts.zone_overrides",
        "layout_seats.companion_seat_id",
        "layout_seats.id",
        "layout_seats.seat_id",
        "layout_seats.seat_number",
        "layout_seats.zone_number",
        "layout_zones.id",
        "scan_counts.gate",
        "scan_entries.gate",
        "scan_movements.gate",
        "scan_presence.gate",
        "seat_groups.seats",
        "seat_map_changes.seats",
        "tickets.seat_id",
        "tickets.seat_number",
        "tickets.ticket_type",
        # guests hold tickets of other organisations before gates, and are refused: no mistake of ours
        "scan_conflicts.ticket",
        "scan_entries.ticket",
        "scan_movements.ticket",
        "scan_presence.ticket",
        # words, rights and settings
        "api_tokens.scopes",
        "device_enrolment_codes.check_number",
        "device_enrolment_codes.code_id",
        "events.settings",
        "gates.settings",
        "layout_zones.allowed_roles",
        "layout_zones.metadata",
        "layouts.drawing",
        "seat_groups.metadata",
        "seating_policies.mandatory",
        "venues.settings",
    }
)
FREE_WORDS: Final = frozenset({"settings", "metadata", "drawing"})
"""What people write under these words inside JSON names nothing, whatever it looks like."""


def table_of(word: str, metadata: MetaData) -> Table | None:
    """The table of whose rows a word speaks: event, event_id, from_venue; None where it speaks of nobody's."""
    words = word.removesuffix("_id").removesuffix("_number")
    for last in (words, words.rpartition("_")[2]):
        for name in (_TABLES.get(last, ""), f"{last}s"):
            table = metadata.tables.get(name)
            if table is not None and _identified(table) and (WHOSE in table.c or name == "organisations"):
                return table
    return None


def _identified(table: Table) -> bool:
    """Whether an id says which row it is, whatever else there is."""
    return [column.name for column in table.primary_key.columns] == ["id"]


def whose(table: Table) -> Column[Any]:
    """The column that says to which organisation a row belongs."""
    return table.c.id if table.name == "organisations" else table.c[WHOSE]


def named(table: Table, column: Column[Any], metadata: MetaData) -> Iterator[Column[Any]]:
    """What a column without a foreign key names, of what belongs to an organisation; of several one has such an id."""
    place = f"{table.name}.{column.name}"
    if place in NAMES_NOTHING or place in SAID or place in BY_KIND or column.name == WHOSE:
        return
    for other in POINTS.get(place, ()):
        yield field_of(metadata.tables[other], numbers=whole(column.type))
    if place not in POINTS and column.name != "id" and _looks_like_a_name(column, metadata):
        target = table_of(column.name, metadata)
        field = None if target is None else field_of(target, numbers=whole(column.type))
        if field is not None and field.table is not table and whole(field.type) == whole(column.type):
            yield field


def field_of(table: Table, *, numbers: bool) -> Column[Any]:
    """Under which column rows of a table are named."""
    return table.c.number if numbers and table.name in _NUMBERED else table.c.id


def unknown(metadata: MetaData) -> list[str]:
    """Tables of which nobody has said whose their rows are, and columns that look like names of something."""
    tables = [table for table in metadata.sorted_tables if table.name not in OF_NOBODY]
    return [
        *(table.name for table in tables if not _owned(table, metadata)),
        *(
            f"{table.name}.{column.name}"
            for table in tables
            for column in table.c
            if _looks_like_a_name(column, metadata) and not _known(table, column, metadata)
        ),
    ]


def _owned(table: Table, metadata: MetaData) -> bool:
    return WHOSE in table.c or any(_reaches(table, column, metadata) for column in table.c)


def _known(table: Table, column: Column[Any], metadata: MetaData) -> bool:
    place = f"{table.name}.{column.name}"
    said = place in NAMES_NOTHING or place in SAID or place in BY_KIND or column.name in {WHOSE, "id"}
    return said or _reaches(table, column, metadata)


def _reaches(table: Table, column: Column[Any], metadata: MetaData) -> bool:
    """Whether it leads to rows of which somebody has said whose they are."""
    if column.foreign_keys:
        there = [key.column.table for key in column.foreign_keys]
        return all(WHOSE in other.c or other.name in OF_NOBODY for other in there)
    return next(named(table, column, metadata), None) is not None


def _looks_like_a_name(column: Column[Any], metadata: MetaData) -> bool:
    kind = column.type
    like_an_id = column.name.endswith(("_id", "_by", "_number")) or (isinstance(kind, String) and kind.length == 36)
    like_a_name = like_an_id or bool(column.foreign_keys) or f"{column.name}s" in metadata.tables
    return isinstance(kind, JSON) or like_a_name


def whole(kind: Any) -> bool:
    """Whether a column of this type holds whole numbers."""
    return isinstance(kind, Integer) or isinstance(getattr(kind, "impl", None), Integer)
