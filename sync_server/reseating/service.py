"""Moves ticket holders to another layout in two acts: a report first, then what it says and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.events import service as event_service
from sync_server.holds import clearing, inventory
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.reseating import queries
from sync_server.reseating.models import ReseatingRecord
from sync_server.reseating.proposal import Proposal, propose
from sync_server.reseating.report import report
from sync_server.seating import event_layouts
from sync_server.seating.event_layouts import Chosen
from sync_server.tickets import moving, rules
from sync_server.tickets.moving import NewSeat


@dataclass(frozen=True, slots=True)
class Move:
    """What shall be done: to which layout, with which of its ways, and what becomes of holds."""

    chosen: Chosen
    any_price: bool = False  # guests may be sent to seats of another price category
    holds: Literal["refuse", "release"] = "refuse"
    reason: str = ""
    fingerprint: str = ""  # of the report that shall be carried out
    said: frozenset[str] = frozenset()  # the parts of the choice that come along from nowhere else


def prepare(session: Session, organisation_id: str, event_id: str, move: Move, deed: Deed) -> ReseatingRecord:
    """The first act: the report, kept. Nothing else changes."""
    found = propose(session, organisation_id, event_id, move.chosen, deed, any_price=move.any_price, said=move.said)
    living = clearing.going_on(session, event_id, deed.now)
    row = ReseatingRecord(
        id=uuid7(deed.now, deed.entropy), organisation_id=organisation_id, event_id=event_id,
        from_layout_id=found.before.layout_id, to_layout_id=found.after.layout_id, fingerprint=found.fingerprint,
        state="planned", report=report(found, holds=living), reason=move.reason, made_at=deed.now,
        made_by=deed.actor.id, done_at=None, done_by="",
    )  # fmt: skip
    session.add(row)
    session.flush()
    after = {"reseating": row.id, "to": row.to_layout_id, **row.report["counts"]}
    line = AuditLine(
        deed.actor, "reseating_planned", "event", event_id, organisation_id, deed.now, None, after, move.reason
    )
    record(session, line)
    return row


def carry_out(session: Session, organisation_id: str, event_id: str, move: Move, deed: Deed) -> ReseatingRecord:
    """The second act, in one transaction: what the report of this fingerprint says.

    Conflict `report_outdated` where anything has changed since, `guests_without_seats` where somebody would lose his
    seat, `holds_active` where seats are held that nobody said to release.
    """
    row = queries.planned(session, organisation_id, event_id, move.fingerprint)
    event_service.lock(session, organisation_id, event_id)
    found = propose(session, organisation_id, event_id, move.chosen, deed, any_price=move.any_price, said=move.said)
    _require(found, move.fingerprint)
    _end_holds(session, found, move, deed)
    _carry(session, found, deed)
    row.state, row.done_at, row.done_by, row.reason = "done", deed.now, deed.actor.id, move.reason
    session.flush()
    _tell(session, row, deed)
    return row


def _require(found: Proposal, fingerprint: str) -> None:
    if found.fingerprint != fingerprint:
        raise Conflict(
            "Tickets, the layout or what you asked for have changed since this report was made. Ask for a new report, "
            "look at it, and carry that one out.",
            code="report_outdated",
        )
    if not found.leaves_nobody_out:
        raise Conflict(
            "Some guests would have no seat. Open more seats, let guests sit in other price categories (any_price), or "
            "cancel their tickets first.",
            code="guests_without_seats",
        )


def _end_holds(session: Session, found: Proposal, move: Move, deed: Deed) -> None:
    count = clearing.going_on(session, found.event_id, deed.now)
    if count and move.holds == "refuse":
        raise Conflict(
            f"{count} holds are going on. Wait until they are over, or say holds: release.",
            code="holds_active", holds=count,
        )  # fmt: skip
    clearing.end_all(session, found.organisation_id, found.event_id, deed, reason="the house is laid out anew")


def _carry(session: Session, found: Proposal, deed: Deed) -> None:
    """Seats and places first, under the old layout's numbers and then the new one's; the tickets follow."""
    organisation_id, event_id = found.organisation_id, found.event_id
    for zone in found.places:
        inventory.free_places(session, event_id, zone.before, zone.sold, deed.now)
    row = event_layouts.move(session, organisation_id, event_id, found.chosen, deed)
    for zone in found.places:
        if zone.after is not None:
            inventory.sell_places(session, organisation_id, event_id, zone.after, zone.sold, deed)
    numbers = found.seats
    changed = {guest.id: (guest.seat, numbers[guest.id]) for guest in found.guests if guest.seat != numbers[guest.id]}
    inventory.move(session, organisation_id, event_id, changed, deed)
    known = {int(number): int(event_zone) for number, event_zone in row.event_zones.items()}
    moving.reseat(session, organisation_id, event_id, _new_seats(found, known), deed)


def _new_seats(found: Proposal, event_zones: dict[int, int]) -> dict[int, NewSeat]:
    seats = {}
    for guest in found.guests:
        place = found.plan.moves.get(guest.id) or found.plan.stays[guest.id]
        seat, before = found.after.seats[place.number], found.before.seats[guest.seat]
        words = rules.Seat(seat.row, seat.seat_number, "", seat.section, seat.seat_id)
        same = (seat.number, seat.seat_id, seat.section, seat.row, seat.seat_number, seat.zone)
        flags = found.flags[guest.id]
        known = (before.number, before.seat_id, before.section, before.row, before.seat_number, before.zone)
        if same != known or flags != guest.flags:
            seats[guest.id] = NewSeat(event_zones[seat.zone], seat.number, words, guest.id in found.plan.moves, flags)
    return seats


def _tell(session: Session, row: ReseatingRecord, deed: Deed) -> None:
    where, counts = row.organisation_id, row.report["counts"]
    before, after = {"layout": row.from_layout_id}, {"layout": row.to_layout_id, "reseating": row.id, **counts}
    line = AuditLine(deed.actor, "event_reseated", "event", row.event_id, where, deed.now, before, after, row.reason)
    record(session, line)
    subjects = {"event": row.event_id, "reseating": row.id}
    payload = {"from": row.from_layout_id, "to": row.to_layout_id, "stay": counts["stay"], "move": counts["move"]}
    record_fact(session, Fact("event_reseated", where, deed.now, subjects, payload))
