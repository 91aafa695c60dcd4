"""Creates, changes, archives and deletes venues and their gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.ids import uuid7
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.language.slugs import slug_of
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql import writes
from sync_server.venues import queries, rules
from sync_server.venues.models import GateRecord, VenueRecord
from sync_server.venues.ports import VenuePorts
from sync_server.venues.signals import GatesChanged

_TEXT_COLUMNS: Final = frozenset({"address", "city", "country", "website"})


def create_venue(
    session: Session, organisation_id: str, fields: Mapping[str, Any], context: ActionContext
) -> VenueRecord:
    """Create a venue; Conflict if its slug is taken, InvalidRequest for an invalid location or time zone."""
    slug = fields.get("slug")
    if slug is None:
        slug = slug_of(fields["name"], lambda taken: queries.slug_taken(session, organisation_id, taken), "venue")
    row = VenueRecord(
        id=uuid7(context.now, context.entropy),
        organisation_id=organisation_id,
        created_at=context.now,
        updated_at=context.now,
    )
    writes.change(row, _to_columns({**fields, "slug": slug}))
    _check_location(row)
    session.add(row)
    writes.flush_or_conflict(
        session, f"Your organisation already has a venue with the slug {slug!r}. Choose another.", "slug_taken"
    )
    _record_venue(session, context, "venue_created", row, after={"name": row.name, "slug": row.slug})
    return row


def change_venue(
    session: Session, organisation_id: str, venue_id: str, changes: Mapping[str, Any], context: ActionContext
) -> VenueRecord:
    """Change a venue; existing events keep what they copied."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    values = _to_columns(changes)
    before = writes.change(row, values)
    row.updated_at = context.now
    _check_location(row)
    if values.get("max_capacity"):
        rules.check_layouts_fit(
            row.max_capacity, ports_of(session, VenuePorts).layout_capacities(session, organisation_id, venue_id)
        )
    writes.flush_or_conflict(
        session, "Your organisation already has a venue with that slug. Choose another.", "slug_taken"
    )
    _record_venue(session, context, "venue_changed", row, before=before, after=values)
    return row


def archive_venue(session: Session, organisation_id: str, venue_id: str, context: ActionContext) -> VenueRecord:
    """Archive a venue: it leaves the lists and takes no new events; existing events go on."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    if row.archived_at is None:
        row.archived_at = row.updated_at = context.now
        session.flush()
        _record_venue(session, context, "venue_archived", row)
    return row


def restore_venue(session: Session, organisation_id: str, venue_id: str, context: ActionContext) -> VenueRecord:
    """Restore an archived venue."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    if row.archived_at is not None:
        row.archived_at, row.updated_at = None, context.now
        session.flush()
        _record_venue(session, context, "venue_restored", row)
    return row


def delete_venue(session: Session, organisation_id: str, venue_id: str, context: ActionContext) -> None:
    """Delete a venue and its gates for good; Conflict `venue_in_use` if anything else belongs to it."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    rules.check_unused(
        {what: count(session, organisation_id, venue_id) for what, count in ports_of(session, VenuePorts).uses.items()}
    )
    for gate in queries.gates(session, organisation_id, venue_id):
        session.delete(gate)
    session.flush()
    session.delete(row)
    writes.flush_or_conflict(session, "This venue is still in use. Archive it instead.", "venue_in_use")
    _record_venue(session, context, "venue_deleted", row, before={"name": row.name, "slug": row.slug})


def add_gate(
    session: Session, organisation_id: str, venue_id: str, fields: Mapping[str, Any], context: ActionContext
) -> GateRecord:
    """Add an entrance, also to the snapshots of the venue's events."""
    queries.venue(session, organisation_id, venue_id, lock=True)
    number = max((gate.number for gate in queries.gates(session, organisation_id, venue_id)), default=0) + 1
    row = GateRecord(
        **{**fields, "name": fields.get("name") or fields["code"]},
        venue_id=venue_id,
        number=number,
        organisation_id=organisation_id,
        created_at=context.now,
        updated_at=context.now,
    )
    session.add(row)
    writes.flush_or_conflict(session, f"This venue already has a gate {row.code!r}.", "gate_code_taken")
    _record_gate(session, context, "gate_created", row, after={"code": row.code, "name": row.name})
    send(session, GatesChanged(organisation_id, venue_id))
    return row


def change_gate(
    session: Session,
    organisation_id: str,
    venue_id: str,
    number: int,
    *,
    changes: Mapping[str, Any],
    context: ActionContext,
) -> GateRecord:
    """Open, close or change an entrance; gates know within a second."""
    queries.venue(session, organisation_id, venue_id, lock=True)
    row = queries.gate(session, organisation_id, venue_id, number)
    before = writes.change(row, changes)
    row.updated_at = context.now
    session.flush()
    _record_gate(session, context, "gate_changed", row, before=before, after=dict(changes))
    send(session, GatesChanged(organisation_id, venue_id))
    return row


def _to_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request as column values: null texts become empty, null settings are dropped."""
    values: dict[str, Any] = {
        name: "" if value is None and name in _TEXT_COLUMNS else value for name, value in fields.items()
    }
    if values.get("country"):
        values["country"] = rules.country_of(values["country"])
    if "settings" in values:
        values["settings"] = {key: value for key, value in values["settings"].items() if value is not None}
    return values


def _check_location(row: VenueRecord) -> None:
    rules.check_timezone(row.timezone)
    rules.check_coordinates(row.latitude, row.longitude)
    row.city_norm = fold(row.city)


def _record_venue(session: Session, context: ActionContext, name: str, row: VenueRecord, **changed: Any) -> None:
    payload = {"before": None, "after": None} | changed
    fact = Fact(name, row.organisation_id, context.now, {"venue": row.id}, payload)
    record_change(session, context, Subject("venue", row.id, **changed), fact)


def _record_gate(session: Session, context: ActionContext, name: str, row: GateRecord, **changed: Any) -> None:
    subjects, payload = {"venue": row.venue_id, "gate": row.number}, {"before": None, "after": None} | changed
    fact = Fact(name, row.organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("gate", f"{row.venue_id}/{row.number}", **changed), fact)
