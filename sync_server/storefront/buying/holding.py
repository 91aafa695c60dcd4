"""Holds the places that a visitor chose by their number, and shows what the visitor holds at an event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.codes import presales
from sync_server.customers.service import address_hash
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.holds import queries, service
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.holds.groups.group_holds import GroupHold, GroupRequest
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import client_address, context
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.storefront.buying.baskets import Basket
from sync_server.storefront.visitors import GUEST
from sync_server.storefront.windows import TypeOffer
from sync_server.tickets.types.seat_types import SoldIn, types_in_shop

_Places = tuple[str, tuple[str, ...]]
"""A zone, and the dates of some days; none: every day."""


@dataclass(frozen=True, slots=True)
class Held:
    """A seat, or places of a zone, that the visitor holds and has not ordered."""

    id: str
    seat: str  # in words; empty for places
    where: SoldIn
    price_category: str  # which decides the price of a seat; empty for places
    quantity: int
    until: Millis
    extended: bool
    numbered: bool
    dates: tuple[str, ...]  # of the days for which it is held; none: every day of the event

    @property
    def zone(self) -> int:
        """Its zone, as ticket types name it."""
        return self.where.event_zone

    def sold_as(self, offers: Iterable[TypeOffer], opened: Collection[int]) -> list[TypeOffer]:
        """The ticket types as which it can be bought now; places are of the types of their own zone."""
        if self.numbered:
            types = types_in_shop(offers, self.where, self.price_category, opened=opened)
        else:
            types = [each for each in offers if each.zone == self.zone]
        on_sale = [each for each in types if each.on_sale and (not each.days or each.dates_within(self.dates))]
        # Whoever holds several days is offered what is for all of them, where there is such a type.
        return [each for each in on_sale if each.covers(self.dates)] or on_sale


def held_at(session: Session, event: EventKey, guest_id: str, now: Millis) -> Sequence[Held]:
    """What this guest holds at an event, in the order in which it was chosen."""
    rows = queries.mine(session, event.organisation_id, guest_id, now, event.event_id)
    plan = find_event_plan(session, *event) if rows else None
    rows = [row for row in rows if row.order_id is None]
    party = {row.seat for row in rows if row.seat is not None}
    dates = dates_of(events.event(session, *event)) if rows else ()
    return [
        Held(
            row.id,
            _seat_in_words(plan, row.seat),
            SoldIn.at(plan, row.zone) if plan is not None else SoldIn(0),
            _price_category(plan, row.seat, party),
            row.quantity,
            row.held_until,
            row.extended > 0,
            row.seat is not None,
            ChosenDays(dates, row.days).names if row.days else (),
        )
        for row in rows
    ]


def _seat_in_words(plan: SeatPlan | None, seat: int | None) -> str:
    if plan is None or seat is None or not plan.layout.has(seat):
        return ""
    return plan.layout.in_words(seat)


def _price_category(plan: SeatPlan | None, seat: int | None, party: Collection[int]) -> str:
    if plan is None or seat is None or not plan.layout.has(seat):
        return ""
    return plan.price_category(plan.layout.seat(seat), party)


def hold_places(
    event: EventKey, guest_id: str, offers: Sequence[TypeOffer], wanted: Mapping[int, int], basket: Basket
) -> None:
    """Hold so many places of these types, instead of the places that the guest held before; the refusals of a hold.

    What was held before is given up only where other numbers are wanted.
    """
    places: Counter[_Places] = Counter()
    for offer in offers:
        if count := wanted.get(offer.number, 0):
            places[offer.zone_id, basket.dates_of(offer.number)] += count
    with parts().database.reading() as session:
        before = [each for each in held_at(session, event, guest_id, parts().clock()) if not each.numbered]
        kept = _same(session, event, before, places)
    for each in before:
        if each.id not in kept.values():
            _release(event, guest_id, each.id)
    for where, count in places.items():
        if where not in kept:
            _hold(event, guest_id, where, count, basket)


def _same(
    session: Session, event: EventKey, before: Sequence[Held], places: Mapping[_Places, int]
) -> dict[_Places, str]:
    """The zones of which just so many places are held for these days already, with their holds."""
    plan = find_event_plan(session, *event)
    numbers = (
        {"": 0} if plan is None else {zone.id: plan.event_zones.get(number, 0) for number, zone in plan.zones.items()}
    )
    held = {(each.zone, each.dates, each.quantity): each.id for each in before}
    found = {where: held.get((numbers.get(where[0], -1), where[1], count)) for where, count in places.items()}
    return {where: hold_id for where, hold_id in found.items() if hold_id is not None}


def _release(event: EventKey, guest_id: str, hold_id: str) -> None:
    with parts().database.writing() as session:
        service.release(session, event.organisation_id, hold_id, guest_id, context())


def _hold(event: EventKey, guest_id: str, where: _Places, count: int, basket: Basket) -> None:
    zone_id, dates = where
    group, asked = GroupRequest(count=count, zone_ids=[zone_id] if zone_id else []), request_of(event, guest_id, basket)
    asked = structs.replace(asked, dates=dates)
    GroupHold(hold_runtime(parts()), event_seatings(), asked, event.event_id, group).run()


def request_of(event: EventKey, guest_id: str, basket: Basket) -> HoldRequest:
    """The guest, as whoever asks for a hold."""
    return HoldRequest(
        event.organisation_id,
        GUEST,
        guest_id,
        address_hash(client_address()),
        context(),
        address=client_address(),
        queue_tab=basket.tab,
        early=presales.opener(parts())(event, basket.codes, context()),
    )


def release_all(event: EventKey, guest_id: str) -> None:
    """Give up all that the guest holds at an event and has not ordered."""
    with parts().database.reading() as session:
        held = held_at(session, event, guest_id, parts().clock())
    for each in held:
        _release(event, guest_id, each.id)


def extend_all(event: EventKey, guest_id: str, basket: Basket) -> None:
    """Once more the full time for all that the guest holds; each hold only once."""
    runtime, asked = hold_runtime(parts()), request_of(event, guest_id, basket)
    sale_state = runtime.sale_states.current(event.organisation_id, event.event_id)
    with parts().database.writing() as session:
        for each in held_at(session, event, guest_id, parts().clock()):
            if not each.extended:
                service.extend(session, sale_state, each.id, asked)
