"""What an answer says of companion seats: which are kept beside a held wheelchair place, and at what price."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.days.chosen_days import joined
from sync_server.holds import queries
from sync_server.holds.attempts.hold_request import HoldResult
from sync_server.holds.caches.sale_state import SaleState
from sync_server.plumbing.ports import ports_of
from sync_server.seating.layouts.plan import Category
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.taken import SeatingPorts

_SPECIAL = frozenset({Category.WHEELCHAIR, Category.COMPANION})


@dataclass(frozen=True, slots=True)
class Companions:
    """Companion seats that a bearer may still have, and the price categories of those that he has."""

    kept: Mapping[int, Sequence[tuple[Seat, str]]] = field(default_factory=dict)  # by wheelchair place, with price
    prices: Mapping[int, str] = field(default_factory=dict)  # of held seats, where they differ from the seat's own


NONE = Companions()


def concern(held: Collection[HoldResult]) -> bool:
    """Whether any of these seats is a wheelchair place or a companion seat."""
    return any(each.seat is not None and each.seat.category in _SPECIAL for each in held)


def companions_of(
    session: Session, sale_state: SaleState, bearer_id: str, held: Collection[HoldResult], now: Millis
) -> Companions:
    """The companion seats beside what is held, and what those that are held cost."""
    plan, seats = sale_state.plan, [each.seat for each in held if each.seat is not None]
    mine = queries.mine(session, sale_state.organisation_id, bearer_id, now, sale_state.id)
    party = {row.seat for row in mine if row.seat is not None} | {seat.number for seat in seats}
    beside = {seat.number: plan.places.companions_of(seat.number) for seat in seats}
    wanted = {companion for some in beside.values() for companion in some}
    days = joined([each.days.bits for each in held])
    where = sale_state.organisation_id, sale_state.id
    found = ports_of(session, SeatingPorts).taken_seats(session, *where, wanted, days)
    gone = {number for number, until in found if until > now} | plan.blocked
    return Companions(
        {
            place: _priced(sale_state, [seat for seat in some if seat not in gone], party)
            for place, some in beside.items()
        },
        {seat.number: plan.price_category(seat, party) for seat in seats},
    )


def _priced(sale_state: SaleState, numbers: Sequence[int], party: Collection[int]) -> list[tuple[Seat, str]]:
    seats = (sale_state.plan.layout.seat(number) for number in numbers)
    return [(seat, sale_state.plan.price_category(seat, party)) for seat in seats]
