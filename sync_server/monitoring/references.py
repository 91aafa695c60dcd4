"""Declares what columns reference without a foreign key, so that nothing is left to guessing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import JSON, Column, Integer, MetaData, String, Table

from shared.wire.rows import RowKind

TENANT_COLUMN: Final = "organisation_id"

SHARED_TABLES: Final = frozenset(
    {
        "check_runs",
        "event_interest",
        "joined_elsewhere",
        "lineage",
        "organisations",
        "passkeys",
        "password_links",
        "processed_messages",
        "proxy_sightings",
        "recovery_codes",
        "second_factors",
        "served_revisions",
        "server_identity",
        "trending_generations",
        "throttles",
        "trending_places",
        "used_challenges",
        "users",
    }
)
"""Tables whose rows belong to no organisation."""

_TABLE_OF_NAME: Final = {
    "token": "api_tokens",
    "conflict": "scan_conflicts",
    "line": "audit_lines",
    "bearer": "guests",
    "party": "waiting_parties",
    "waiting_party": "waiting_parties",
    "offer": "waiting_offers",
    "transfer": "ticket_transfers",
    "from": "layouts",
    "to": "layouts",
    "cover_images": "images",
    "cover_alts": "images",
}
"""Names of references to tables whose name is not the plural."""
_NUMBERED: Final = frozenset({"events", "devices"})
"""Tables whose rows have a number that is unique in the installation."""

REFERENCE_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "cancellations.last_order": ("orders",),
    "event_archives.asked_by": ("api_tokens",),
    "checkout_sessions.bearer_id": ("guests", "api_tokens"),
    "events.created_by": ("api_tokens",),
    "events.owner_id": ("api_tokens",),
    "imports.family_id": ("layouts",),
    "hold_counters.bearer_id": ("guests", "api_tokens", "waiting_parties"),
    "holds.bearer_id": ("guests", "api_tokens", "waiting_parties"),
    "waiting_parties.bearer_id": ("guests",),
    "layouts.family_id": ("layouts",),
    "orders.bearer_id": ("guests", "api_tokens"),
    "reseatings.done_by": ("api_tokens",),
    "reseatings.made_by": ("api_tokens",),
    "scan_movements.annuls_device": ("devices",),
}
"""Columns whose name does not tell what they reference; of several tables, only one has a given id."""
REFERENCES_BY_KIND: Final[Mapping[str, tuple[str, Mapping[int, str]]]] = {
    "snapshot_history.key": ("kind", {RowKind.TICKET: "tickets"}),
    "snapshot_rows.key": ("kind", {RowKind.TICKET: "tickets"}),
}
"""Columns that reference one of several tables, by the kind in another column."""

JSON_REFERENCE_COLUMNS: Final[Mapping[str, str]] = {
    "audit_lines.actor_id": "actor_kind",
    "audit_lines.after": "",
    "audit_lines.before": "",
    "audit_lines.subject_id": "subject_kind",
    "audit_personal.person_id": "person_kind",
    "device_reports.rows": "",
    "events.cover_alts": "",
    "events.cover_images": "",
    "idempotency_keys.principal": "",
    "imports.started_by": "",
    "outbox.payload": "",
    "outbox.stream": "",
    "outbox.subjects": "",
    "reseatings.report": "",
    "scan_conflicts.scans": "",
}
"""Columns with references inside JSON or as kind:id, or with the kind in the given other column."""
APPEND_ONLY_TABLES: Final = frozenset({"audit_lines"})
"""Their rows never change: only those of the last week are checked."""

NOT_REFERENCES: Final = frozenset(
    {
        # people, who belong to no organisation; requests, messages and bookings, which have no table
        "audit_lines.request_id",
        "ticket_designs.embed_origins",  # websites
        "events.recurrence_group_id",
        "holds.group_id",
        "check_findings.points_to",
        "outbox.message_id",
        "webhook_messages.message_id",
        "scan_conflicts.resolved_by",
        "tickets.membership_id",
        "order_lines.membership_id",
        "put_away_people.membership_id",
        "tickets.group_id",
        "passkeys.credential_id",
        "customer_passkeys.credential_id",
        "customers.membership_id",
        # numbers and names within the same event, layout or venue
        "companion_releases.seats",
        "companion_releases.zone_id",
        "zone_guests.zone_id",
        "device_assignments.gate",
        "device_assignments.gates_allowed",
        "device_assignments.zones",
        "event_gate_zones.gate_number",
        "event_gate_zones.zones",
        "event_day_counts.ticket_type",
        "event_layouts.blocked_seats",
        "event_layouts.disabled_zones",
        "event_layouts.event_zones",
        "event_layouts.price_zones",
        "event_layouts.released_seats",
        "event_layouts.seating_overrides",
        "event_layouts.zone_overrides",
        "ticket_batches.claim",
        "ticket_batches.ticket_type",
        "imports.claim",
        "imports.zone_id",
        "imports.problem",
        "layout_seats.companion_seat_id",
        "layout_seats.id",
        "layout_seats.seat_id",
        "layout_seats.seat_number",
        "layout_seats.zone_number",
        "layout_zones.id",
        "scan_counts.gate",
        "scan_entries.gate",
        "scan_movements.gate",
        "scan_flows.gate",
        "scan_inside.gate",
        "scan_presence.gate",
        "order_lines.ticket_type",
        "sale_sums.ticket_type",
        "waiting_offers.ticket_type",
        "waiting_offers.seats",
        "waiting_offers.passed",
        "waiting_parties.zone_ids",
        "waiting_parties.ticket_types",
        "waiting_parties.days",
        "code_batches.ticket_types",
        "disputes.blocked_tickets",  # of its own order, and only looked up among those
        "seat_groups.seats",
        "seat_map_changes.seats",
        "tickets.seat_id",
        "tickets.seat_number",
        "tickets.ticket_type",
        # guests present tickets of other organisations at gates, and are refused: not a defect
        "scan_conflicts.ticket",
        "scan_entries.ticket",
        "scan_movements.ticket",
        "scan_presence.ticket",
        # texts, permissions and settings
        "device_reports.health",
        "orders.access",
        "orders.dispute",
        "disputes.answer_by",
        "api_tokens.scopes",
        "event_archives.figures",
        "put_away_people.content",
        "retention_policies.days",
        "device_enrolment_codes.check_number",
        "device_enrolment_codes.code_id",
        "events.settings",
        "gates.settings",
        "layout_zones.allowed_roles",
        "layout_zones.metadata",
        "layouts.drawing",
        "seat_groups.metadata",
        "seating_policies.exempt_networks",
        "seating_policies.mandatory",
        "venues.settings",
        "webhooks.facts",
    }
)
FREE_FORM_KEYS: Final = frozenset({"settings", "metadata", "drawing"})
"""Values under these keys of JSON are free text, whatever they look like."""


def table_of(name: str, metadata: MetaData) -> Table | None:
    """The table that a name such as event, event_id or from_venue references; None if there is none."""
    stem = name.removesuffix("_id").removesuffix("_number")
    for singular in (stem, stem.rpartition("_")[2]):
        for table_name in (_TABLE_OF_NAME.get(singular, ""), f"{singular}s"):
            table = metadata.tables.get(table_name)
            if table is not None and _has_id(table) and (TENANT_COLUMN in table.c or table_name == "organisations"):
                return table
    return None


def _has_id(table: Table) -> bool:
    """Whether rows are named by an id, alone or within their organisation."""
    return [column.name for column in table.primary_key.columns if column.name != TENANT_COLUMN] == ["id"]


def tenant_column(table: Table) -> Column[Any]:
    """The column with the organisation that a row belongs to."""
    return table.c.id if table.name == "organisations" else table.c[TENANT_COLUMN]


def referenced_columns(table: Table, column: Column[Any], metadata: MetaData) -> Iterator[Column[Any]]:
    """The columns that a column without a foreign key references; of several, only one has a given id."""
    place = f"{table.name}.{column.name}"
    if (
        place in NOT_REFERENCES
        or place in JSON_REFERENCE_COLUMNS
        or place in REFERENCES_BY_KIND
        or column.name == TENANT_COLUMN
    ):
        return
    for name in REFERENCE_COLUMNS.get(place, ()):
        yield key_column(metadata.tables[name], numbers=is_integer(column.type))
    if place not in REFERENCE_COLUMNS and column.name != "id" and _looks_like_a_reference(column, metadata):
        target = table_of(column.name, metadata)
        key = None if target is None else key_column(target, numbers=is_integer(column.type))
        if key is not None and key.table is not table and is_integer(key.type) == is_integer(column.type):
            yield key


def key_column(table: Table, *, numbers: bool) -> Column[Any]:
    """The column by which rows of a table are referenced."""
    return table.c.number if numbers and table.name in _NUMBERED else table.c.id


def undeclared(metadata: MetaData) -> list[str]:
    """Tables without a known owner, and columns that look like references and are not declared."""
    tables = [table for table in metadata.sorted_tables if table.name not in SHARED_TABLES]
    return [
        *(table.name for table in tables if TENANT_COLUMN not in table.c),
        *(
            f"{table.name}.{column.name}"
            for table in tables
            for column in table.c
            if _looks_like_a_reference(column, metadata) and not _declared(table, column, metadata)
        ),
    ]


def _declared(table: Table, column: Column[Any], metadata: MetaData) -> bool:
    place = f"{table.name}.{column.name}"
    declared = (
        place in NOT_REFERENCES
        or place in JSON_REFERENCE_COLUMNS
        or place in REFERENCES_BY_KIND
        or column.name in {TENANT_COLUMN, "id"}
    )
    return declared or _leads_to_owner(table, column, metadata)


def _leads_to_owner(table: Table, column: Column[Any], metadata: MetaData) -> bool:
    """Whether it references rows with a known owner."""
    if column.foreign_keys:
        tables = [key.column.table for key in column.foreign_keys]
        return all(TENANT_COLUMN in target.c or target.name in SHARED_TABLES for target in tables)
    return next(referenced_columns(table, column, metadata), None) is not None


def _looks_like_a_reference(column: Column[Any], metadata: MetaData) -> bool:
    kind = column.type
    like_an_id = column.name.endswith(("_id", "_by", "_number")) or (isinstance(kind, String) and kind.length == 36)
    like_a_reference = like_an_id or bool(column.foreign_keys) or f"{column.name}s" in metadata.tables
    return isinstance(kind, JSON) or like_a_reference


def is_integer(kind: Any) -> bool:
    """Whether a column of this type holds integers."""
    return isinstance(kind, Integer) or isinstance(getattr(kind, "impl", None), Integer)
