"""Moves an event to another venue: freely before sales, with explicit consent once anything is sold or held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus
from shared.wire.snapshot import AnyRow, Row, RowKind
from sync_server.events import queries, rules
from sync_server.events.days import changed_days
from sync_server.events.dependents import EventDependents, count_dependents
from sync_server.events.derived_columns import require_unique, set_derived_columns
from sync_server.events.issued_counts import most_issued
from sync_server.events.lifecycle import publishing
from sync_server.events.models import EventRecord, GateZonesRecord
from sync_server.events.permissions import Part, check_part
from sync_server.events.relocation import consent
from sync_server.events.service import flush_or_conflict, put_rows, record_change, venue_columns
from sync_server.events.signals import EventMoved
from sync_server.events.snapshot_rows import days, own_rows
from sync_server.plumbing.requests.principals import Action, ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql import writes
from sync_server.venues import queries as venues
from sync_server.venues.queries import Venue
from sync_server.venues.rules import check_not_archived


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """The venue to move to, and the consent to that."""

    venue_id: str
    reason: str = ""
    token: str | None = None  # the consent that an earlier response asked for


@dataclass(frozen=True, slots=True)
class _Move:
    """A move, with everything looked up for it."""

    row: EventRecord
    venue: Venue
    consequences: dict[str, Any]
    request: MoveRequest
    context: ActionContext


def move(
    session: Session,
    organisation_id: str,
    event_id: str,
    request: MoveRequest,
    context: ActionContext,
    *,
    sealer: Sealer,
) -> EventRecord:
    """Move an event, with its gates, layout and snapshot.

    Conflict `consent_required` lists the consequences to whoever asks; Forbidden for those who may not agree to them.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.check_changeable(EventStatus(row.status), "moved")
    venue = venues.venue(session, organisation_id, request.venue_id, lock=True)
    _check_venue(session, row, venue)
    dependents = count_dependents(session, row, context.now)
    move = _Move(row, venue, _consequences(session, row, venue, dependents), request, context)
    if row.ticket_sequence or dependents.taken:
        _require_consent(move, sealer)
    check_part(row, Part.ADMISSION, context, "moved")
    _apply(session, move)
    return row


def _check_venue(session: Session, row: EventRecord, venue: Venue) -> None:
    if venue.id == row.venue_id:
        raise Conflict("The event is already at this venue.", code="same_venue")
    check_not_archived(venue.archived_at is not None)
    rules.check_capacity(row.capacity, most_issued(session, row), venue.max_capacity)


def _consequences(session: Session, row: EventRecord, venue: Venue, dependents: EventDependents) -> dict[str, Any]:
    """What the move changes, as shown to people and covered by the consent."""
    return {
        "event_id": row.id,
        "from_venue": {"id": row.venue_id, "name": row.venue_name, "timezone": row.timezone},
        "to_venue": {"id": venue.id, "name": venue.name, "timezone": venue.timezone},
        "tickets_issued": row.tickets_issued,
        "sold_or_held": dependents.taken,
        "layout_is_dropped": bool(dependents.uses.get("layouts")),
        "devices_choose_gates_anew": dependents.uses.get("devices", 0),
        "zones": [zone.name for zone in queries.zones(session, row.organisation_id, row.id)],
        "gates_that_go": [gate.code for gate in venues.gates(session, row.organisation_id, row.venue_id)],
        "gates_that_come": [gate.code for gate in venues.gates(session, row.organisation_id, venue.id)],
    }


def _require_consent(move: _Move, sealer: Sealer) -> None:
    consequences, now = move.consequences, move.context.now
    if consequences["layout_is_dropped"] and consequences["sold_or_held"]:
        raise Conflict(
            f"{consequences['sold_or_held']} seats or places of the current layout are sold or held, and the new venue "
            "does not have them. Cancel or move those tickets before you move the event.",
            code="seats_taken",
            means=consequences,
        )
    purpose = f"move of event {move.row.id} of {move.row.organisation_id}"
    token = move.request.token
    if token is None or not consent.token_is_valid(sealer, purpose, consequences, token, now):
        raise _consent_required(
            consequences, consent.issue_token(sealer, purpose, consequences, now), stale=token is not None, now=now
        )
    move.context.require(Action.CHANGE_STATUS)
    if not move.request.reason:
        raise InvalidRequest("reason: say why the event moves; ticket holders will want to know.", field="reason")


def _consent_required(consequences: dict[str, Any], token: str, *, stale: bool, now: Millis) -> Conflict:
    return Conflict(
        ("This consent has expired, or the consequences have changed. " if stale else "")
        + f"{consequences['tickets_issued']} tickets have been issued for {consequences['from_venue']['name']}. They "
        f"stay valid at {consequences['to_venue']['name']}, but the gates change and ticket holders must be told. To "
        "agree, an owner or admin repeats the request within ten minutes, with `consent` and a `reason`.",
        code="consent_required",
        means=consequences,
        consent=token,
        consent_until=now + consent.TOKEN_LIFETIME_MS,
    )


def _apply(session: Session, move: _Move) -> None:
    row, context = move.row, move.context
    old_gates = venues.gates(session, row.organisation_id, row.venue_id)
    columns = venue_columns(move.venue)
    old_days = days(row)
    before = writes.change(row, columns)
    row.updated_at = context.now
    if row.status in queries.VISIBLE_STATUSES:
        publishing.check_location(row, move.venue)
    set_derived_columns(row)
    require_unique(session, row)
    flush_or_conflict(session)
    here = GateZonesRecord.organisation_id == row.organisation_id, GateZonesRecord.event_id == row.id
    session.execute(delete(GateZonesRecord).where(*here))  # these were for the old gates
    changed_days.follow(session, row, old_days, context)
    send(session, EventMoved(row.organisation_id, row.id, context))
    rows: list[AnyRow | Row] = [Row(RowKind.GATE, gate.number, None) for gate in old_gates]
    put_rows(session, row, [*rows, *own_rows(row), *queries.gate_rows(session, row)])
    after = {**columns, "means": move.consequences}
    record_change(session, row, "event_moved", context, before=before, after=after, reason=move.request.reason)
