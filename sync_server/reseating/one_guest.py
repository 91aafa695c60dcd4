"""Moves one guest to another seat of the event: the ticket gets a new code, and the old one dies at every gate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, NotFound
from shared.lifecycle import OVER, EventStatus
from shared.tickets import TicketFlags
from shared.wire.snapshot import TicketState
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds.selling import inventory
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.reseating.planning import WHEELCHAIR
from sync_server.reseating.sides import Side
from sync_server.seating import event_layouts, queries
from sync_server.seating.layouts.plan import Category
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import event_plan
from sync_server.seating.taken import taken
from sync_server.tickets import queries as tickets
from sync_server.tickets import rules, seat_moves
from sync_server.tickets.issuance import seat_flags, wheelchairs
from sync_server.tickets.issuance.seat_flags import SeatTraits
from sync_server.tickets.issuance.wheelchairs import WheelchairSeating
from sync_server.tickets.queries import Ticket
from sync_server.tickets.seat_moves import NewSeat
from sync_server.tickets.types.seat_types import SoldIn

_PAIRED: Final = frozenset({Category.WHEELCHAIR, Category.COMPANION})
_LESS: Final = "restricted_view"


@dataclass(frozen=True, slots=True)
class SeatChange:
    """Which ticket moves to which seat, by its id or name; `agreed`: the guest takes what the new seat lacks."""

    ticket_id: int
    seat: str
    agreed: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """A move that is possible, and in what the new seat differs: price, view, wheelchair, companion, whole."""

    ticket: Ticket
    to: NewSeat
    differs: tuple[str, ...]

    @property
    def label(self) -> str:
        """The new seat as it will be printed."""
        return self.to.printed.label


def examine(session: Session, organisation_id: str, move: SeatChange, now: Millis) -> Examined:
    """What a move would change; a GatehouseError says why it is impossible. Whether the seat is free is not asked."""
    row = tickets.ticket(session, organisation_id, move.ticket_id)
    _require_movable(session, row)
    plan = event_plan(session, organisation_id, row.event_id)
    number = plan.layout.find(move.seat)
    if number is None:
        raise NotFound(f"The layout has no seat “{move.seat}”.", code="unknown_seat")
    side = Side(
        plan.layout,
        queries.event_layout(session, organisation_id, row.event_id).layout_version,
        plan.deltas,
        plan.zones,
    )
    old, new = (side.seat(each, any_price=False) for each in (row.seat, number))
    if new.number == old.number:
        raise Conflict("The guest already has this seat.", code="same_seat")
    if new.closed:
        raise Conflict("This seat is not for sale. Open it first, or choose another.", code="seat_not_for_sale")
    if new.access not in {old.access, ""}:
        raise Forbidden("The zone of this seat is closed to this guest. Choose another.", code="zone_access_denied")
    paired = _Paired.of(session, row, plan, number, now)
    kind = tickets.ticket_type(session, organisation_id, row.event_id, row.ticket_type)
    sold_here = SoldIn.at(plan, plan.layout.zone_of(number)).has(kind)
    found = {
        "price": old.price != new.price or not sold_here,
        "view": new.kind == _LESS != old.kind,
        "wheelchair": (old.kind == WHEELCHAIR) != (new.kind == WHEELCHAIR),
        "companion": paired.kept_for_others,
        "whole": number in plan.sold_whole and plan.sold_whole[number] is not plan.sold_whole.get(old.number),
    }
    flags = _flags(plan, row, number, paired.given, TicketFlags(kind.flags))
    return Examined(
        row, NewSeat.of(plan, number, new_code=True, flags=flags), tuple(key for key in found if found[key])
    )


def move_guest(session: Session, organisation_id: str, move: SeatChange, context: ActionContext) -> Ticket:
    """Move the guest. Conflict `guest_must_agree` if the seat is of another kind, `seat_taken` if somebody has it."""
    event_id = tickets.event_of(session, organisation_id, move.ticket_id)
    event_layouts.require_not_moving(session, organisation_id, event_id)
    event_service.lock_event(session, organisation_id, event_id)  # lock order: event, ticket, seats
    event_layouts.require_not_moving(session, organisation_id, event_id)
    row = tickets.ticket(session, organisation_id, move.ticket_id, lock=True)
    found = examine(session, organisation_id, move, context.now)
    if found.differs and not move.agreed:
        raise Conflict(
            f"The new seat differs: {', '.join(found.differs)}. Move the guest only if they agree; nothing is charged "
            "or paid back.",
            code="guest_must_agree",
            differs=list(found.differs),
        )
    left = row.seat, tickets.printed_seat(row)
    inventory.move(session, organisation_id, event_id, {row.id: (row.seat, found.to.seat)}, context)
    seat_moves.apply_moves(session, organisation_id, event_id, {row.id: found.to}, context)
    _record(session, row, left, move.reason, context)
    return row


def _record(session: Session, row: Ticket, left: tuple[int, rules.Seat], reason: str, context: ActionContext) -> None:
    (old, before), after = left, tickets.printed_seat(row)
    where, public = row.organisation_id, tickets.public_id(row.id)
    number = events.event(session, where, row.event_id).number
    subject = Subject("ticket", public, {"seat": before.seat_id}, {"seat": after.seat_id, "issue": row.issue}, reason)
    subjects = {"ticket": public, "event": row.event_id, "event_number": number}
    payload = {"seats": [old, row.seat], "from": before.label, "to": after.label, "issue": row.issue}
    record_change(session, context, subject, Fact("ticket_moved", where, context.now, subjects, payload))


def _require_movable(session: Session, row: Ticket) -> None:
    if row.state == TicketState.CANCELLED:
        raise Conflict("A cancelled ticket has no seat to move from.", code="ticket_cancelled")
    if not row.seat:
        raise Conflict("This ticket has no seat of the layout.", code="ticket_has_no_seat")
    status = EventStatus(events.event(session, row.organisation_id, row.event_id).status)
    if status in OVER:
        raise Conflict(f"No guest can be moved any more: the event is {status.value}.", code="event_not_available")
    rules.require_next_issue(row.issue)


@dataclass(frozen=True, slots=True)
class _Paired:
    """What wheelchair places make of the new seat."""

    given: TicketFlags = TicketFlags.NONE
    kept_for_others: bool = False

    @classmethod
    def of(cls, session: Session, row: Ticket, plan: SeatPlan, number: int, now: Millis) -> _Paired:
        """Of this seat, together with those of the guest's party."""
        seat = plan.layout.seat(number)
        if seat.category not in _PAIRED:
            return cls()
        key = EventKey(row.organisation_id, row.event_id)
        party = tickets.seats_of_party(session, key, row.group_id) - {row.seat}
        occupied = taken(session, *key, now, row.valid_days).seats
        places = plan.places

        def percent(zone: int) -> float:
            return 100.0 * _count(plan, occupied, zone) / max(1, plan.zones[zone].capacity)

        kept = places.check({number}, owned=party, occupancy=percent) is not None
        companions = {pairing.wheelchair: pairing.companions for pairing in places.pairings}
        seating = WheelchairSeating(companions, places.reserved_companions(percent) - occupied, party | {number})
        return cls(wheelchairs.flags_of(seat, seating), kept)


def _count(plan: SeatPlan, occupied: Collection[int], zone: int) -> int:
    return plan.layout.count_by_zone(occupied)[zone]


def _flags(plan: SeatPlan, row: Ticket, number: int, given: TicketFlags, of_type: TicketFlags) -> int:
    """The flags of the ticket on the new seat, by the same rules as at issue."""
    before, after = plan.layout.seat(row.seat), plan.layout.seat(number)
    return int(
        seat_flags.flags_after_move(
            TicketFlags(row.flags),
            of_type,
            SeatTraits(plan.zones.get(before.zone), before.category),
            SeatTraits(plan.zones.get(after.zone), after.category, given),
            member=tickets.depends_on_membership(row),
        )
    )
