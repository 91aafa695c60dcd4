"""Moves ticket holders to another layout in two acts: a report first, then what it says and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Literal

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.events import service as event_service
from sync_server.holds import clearing, inventory
from sync_server.plumbing.many import insert_many
from sync_server.plumbing.principals import Deed
from sync_server.reseating import queries
from sync_server.reseating.asked import Asked, fingerprint
from sync_server.reseating.carrying import carried
from sync_server.reseating.models import ReseatingRecord, ReseatingStepRecord
from sync_server.reseating.proposal import Proposal, propose
from sync_server.reseating.report import report, steps
from sync_server.reseating.standing_room import zone_moves
from sync_server.seating import event_layouts
from sync_server.seating import queries as seating
from sync_server.seating import rules as seating_rules
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.overlay import EventZone, event_zones
from sync_server.tickets import moving
from sync_server.tickets import queries as tickets

_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Move:
    """What shall be done: to which layout, with which of its ways, and what becomes of holds."""

    chosen: Chosen
    any_price: bool = False  # guests may be sent to seats of another price category
    holds: Literal["refuse", "release"] = "refuse"
    reason: str = ""
    fingerprint: str = ""  # of the report that shall be carried out
    said: frozenset[str] = frozenset()  # the parts of the choice that come along from nowhere else


def prepare(session: Session, organisation_id: str, event_id: str, move: Move, deed: Deed) -> Proposal:
    """The first act, as far as it takes its time: worked out while everybody goes on selling. Changes nothing."""
    return propose(session, organisation_id, event_id, move.chosen, deed, any_price=move.any_price, said=move.said)


def keep(session: Session, found: Proposal, move: Move, deed: Deed) -> ReseatingRecord:
    """The rest of it: the report, kept. Whatever has changed since it was worked out makes it worthless later."""
    living = clearing.going_on(session, found.event_id, deed.now)
    row = ReseatingRecord(
        id=uuid7(deed.now, deed.entropy),
        organisation_id=found.organisation_id,
        event_id=found.event_id,
        from_layout_id=found.before.layout_id,
        to_layout_id=found.after.layout_id,
        fingerprint=found.fingerprint,
        state="planned",
        report=report(found, holds=living),
        reason=move.reason,
        made_at=deed.now,
        made_by=deed.actor.id,
        done_at=None,
        done_by="",
        moved=0,
        touched_at=deed.now,
    )
    session.add(row)
    session.flush()
    walk = iter(steps(found, row.id))
    while some := list(islice(walk, _AT_ONCE)):
        insert_many(session, ReseatingStepRecord, some, "")
    after = {"reseating": row.id, "to": row.to_layout_id, **row.report["counts"]}
    where = found.organisation_id
    line = AuditLine(
        deed.actor, "reseating_planned", "event", found.event_id, where, deed.now, None, after, move.reason
    )
    record(session, line)
    return row


def close(session: Session, organisation_id: str, event_id: str, move: Move, deed: Deed) -> ReseatingRecord:
    """The second act: the house is closed first, so that nobody waits for what comes; `begin` it, or `open_again`.

    A report whose move was begun is answered as it is. Unavailable where somebody else is about to begin one.
    """
    row = queries.planned(session, organisation_id, event_id, move.fingerprint)
    if row.state == "planned":
        event_layouts.require_open(session, organisation_id, event_id)
        event_layouts.close_for_moving(session, organisation_id, event_id, deed)
        row.state, row.touched_at = "closed", deed.now
    elif row.state == "closed":
        raise seating_rules.being_moved()
    return row


def open_again(session: Session, organisation_id: str, event_id: str, reseating_id: str, deed: Deed) -> None:
    """The move that was about to begin does not: the event sells again, and the report is a report."""
    event_service.lock(session, organisation_id, event_id)
    row = queries.reseating(session, organisation_id, event_id, reseating_id)
    session.refresh(row)
    if row.state == "closed":
        row.state = "planned"
        event_layouts.open_again(session, organisation_id, event_id, deed)


def begin(session: Session, organisation_id: str, event_id: str, move: Move, deed: Deed) -> ReseatingRecord:
    """With its commit there is no way back: the house is laid out anew, and the seats are moved.

    What is left are the tickets, piece by piece; see `pieces`.
    Conflict `report_outdated` where anything has changed since the report, `guests_without_seats` where somebody would
    lose his seat, `holds_active` where seats are held that nobody said to release.
    """
    row = queries.planned(session, organisation_id, event_id, move.fingerprint)
    if row.state != "closed":
        raise seating_rules.being_moved()
    chosen, _ = carried(session, organisation_id, event_id, move.chosen, move.said)
    asked = Asked(organisation_id, event_id, chosen, move.any_price)
    _require(row, fingerprint(session, asked, tickets.seated(session, event_id)))
    _end_holds(session, row, move, deed)
    _lay_out(session, row, chosen, deed)
    _move_seats(session, row, deed)
    row.state, row.done_by, row.reason, row.touched_at = "moving", deed.actor.id, move.reason, deed.now
    session.flush()
    before = {"layout": row.from_layout_id}
    after = {"layout": row.to_layout_id, "reseating": row.id, **row.report["counts"]}
    where, why = organisation_id, move.reason
    record(session, AuditLine(deed.actor, "reseating_begun", "event", event_id, where, deed.now, before, after, why))
    return row


def _require(row: ReseatingRecord, mark: str) -> None:
    if row.fingerprint != mark:
        raise Conflict(
            "Tickets, the layout or what you asked for have changed since this report was made. Ask for a new report, "
            "look at it, and carry that one out.",
            code="report_outdated",
        )
    if row.report["counts"]["unplaced"]:
        raise Conflict(
            "Some guests would have no seat. Open more seats, let guests sit in other price categories (any_price), or "
            "cancel their tickets first.",
            code="guests_without_seats",
        )


def _end_holds(session: Session, row: ReseatingRecord, move: Move, deed: Deed) -> None:
    count = clearing.going_on(session, row.event_id, deed.now)
    if count and move.holds == "refuse":
        raise Conflict(
            f"{count} holds are going on. Wait until they are over, or say holds: release.",
            code="holds_active",
            holds=count,
        )
    clearing.end_all(session, row.organisation_id, row.event_id, deed, reason="the house is laid out anew")


def _lay_out(session: Session, row: ReseatingRecord, chosen: Chosen, deed: Deed) -> None:
    """The event's other layout, with the places of zones without seats: under the old numbers first, then the new."""
    organisation_id, event_id = row.organisation_id, row.event_id
    present = seating.event_layout(session, organisation_id, event_id)
    known = {int(number): int(event_zone) for number, event_zone in present.event_zones.items()}
    old, sold = _zones(session, row), tickets.seatless(session, event_id)
    for zone in zone_moves(known, old, {}, sold):
        inventory.free_places(session, event_id, zone.before, zone.sold, deed.now)
    event_layouts.move(session, organisation_id, event_id, chosen, deed)
    for zone in zone_moves(known, old, _zones(session, row), sold):
        if zone.after is not None:
            inventory.sell_places(session, organisation_id, event_id, zone.after, zone.sold, deed)


def _zones(session: Session, row: ReseatingRecord) -> dict[int, EventZone]:
    """The zones that are open at the event now."""
    layout = seating.event_layout(session, row.organisation_id, row.event_id)
    deltas = seating.deltas(layout)
    blocked = seating.seats_by_zone(session, layout.layout_id, deltas.blocked)
    return {zone.number: zone for zone in event_zones(seating.zones(session, layout.layout_id), deltas, blocked)}


def _move_seats(session: Session, row: ReseatingRecord, deed: Deed) -> None:
    seats = queries.seats_of_steps(session, row.id)
    changed = {ticket: (old, new) for ticket, (old, new) in seats.items() if old != new}
    inventory.move(session, row.organisation_id, row.event_id, changed, deed)
    moving.set_out(session, row.event_id, queries.replaced(session, row.id))
