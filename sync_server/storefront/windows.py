"""What the page of an event shows: the event, its ticket types, its venue and its lists; read from the cache."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.lifecycle import EventStatus
from sync_server.checkout.codes import presales
from sync_server.checkout.codes.code_schemas import OfferView, offer_view
from sync_server.checkout.codes.spending import Redeemed
from sync_server.events import public_queries as public_events
from sync_server.events import queries as events
from sync_server.events.queries import Event, EventFilter
from sync_server.listings import event_json
from sync_server.plumbing.caching import cache
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.queueing import queries as queueing
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.storefront.cards import sale_begins
from sync_server.storefront.shops import Shop
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import TicketType
from sync_server.tickets.types.remaining import Remaining, remaining_of
from sync_server.venues import queries as venues
from sync_server.waiting_list import queries as waiting_lists

_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ENDED: Final = frozenset({EventStatus.ENDED.value, EventStatus.ARCHIVED.value})
_NOT_FOR_EVERYBODY: Final = frozenset({"upcoming", "sold_out"})
_FOR_GUESTS: Final = ("house_rules", "accessibility", "directions", "age_limit", "access_rules")


@dataclass(frozen=True, slots=True)
class TypeOffer:
    """A ticket type as the shop sells it."""

    number: int
    name: str
    description: str
    price_cents: int
    fee_cents: int
    tax_rate: int
    currency: str
    min_per_order: int
    max_per_order: int
    on_sale: bool
    opened_by_code: bool
    sale_start_at: int | None
    sale_end_at: int | None
    over: bool  # its own sale is
    left: int
    days: Mapping[str, int]  # how many are left on each of its days, by date; empty at an event of one day
    every_day: bool  # it is for all days of the event
    numbered: bool  # it has seats, which are chosen on the plan
    zone: int  # as the event numbers it; 0 for all of an event without a layout
    zone_id: str  # of its places; empty where the event has no layout
    zone_name: str

    @property
    def each_cents(self) -> int:
        """What one costs in all."""
        return self.price_cents + self.fee_cents

    @property
    def most(self) -> int:
        """How many may be chosen now."""
        return min(self.max_per_order, self.left) if self.on_sale else 0

    @property
    def has_choice_of_days(self) -> bool:
        """Whether its buyer says for which days a ticket shall be."""
        return len(self.days) > 1

    def dates_within(self, dates: Sequence[str]) -> Sequence[str]:
        """Those of its days that are among these; none stands for every day."""
        return [date for date in self.days if not dates or date in dates]

    def covers(self, dates: Sequence[str]) -> bool:
        """Whether it admits on all of these days."""
        return self.every_day if not dates else not self.days or {*dates} <= self.days.keys()


@dataclass(frozen=True, slots=True)
class Window:
    """An event as its page shows it."""

    event: Mapping[str, Any]  # as the public listing has it
    types: Sequence[TypeOffer]
    venue: Mapping[str, Any]  # what guests are told of it
    place: tuple[float, float] | None
    queued: bool
    waiting: bool  # its waiting list is open
    over: str  # cancelled or ended: nothing is sold any more, and no list shows it
    by_code: bool  # some tickets are shown only to whoever has a code

    @property
    def sold_out(self) -> bool:
        """Whether nothing is left of what the shop sells."""
        on_sale = [each for each in self.types if each.on_sale]
        return self.event["sale_status"] == "sold_out" or (bool(on_sale) and not any(each.left for each in on_sale))

    @property
    def opens(self) -> bool:
        """Whether this visitor may choose: the sale is on, or a code opens what is not for everybody."""
        if self.over or self.event["mark"] == "postponed":
            return False
        by_code = any(each.opened_by_code and each.most for each in self.types)
        return self.event["sale_status"] == "on_sale" or (self.event["sale_status"] in _NOT_FOR_EVERYBODY and by_code)

    @property
    def begins(self) -> int | None:
        """When the first ticket can be bought, where that is to come and known."""
        return sale_begins(self.event) if self.event["mark"] != "postponed" else None

    @property
    def sells(self) -> bool:
        """Whether something can be chosen now."""
        return self.opens and any(each.most for each in self.types)

    @property
    def places(self) -> Sequence[TypeOffer]:
        """The types whose places are chosen by their number."""
        return [each for each in self.types if not each.numbered]

    @property
    def seats(self) -> Sequence[TypeOffer]:
        """The types whose seats are chosen on the plan."""
        return [each for each in self.types if each.numbered]

    @property
    def days_of_passes(self) -> Mapping[int, Sequence[str]]:
        """The days of the types that are for more of them than another: who takes those comes on all that are left."""
        fewest = min((len(each.days) for each in self.types), default=0)
        passes = [each for each in self.types if len(each.days) > fewest]
        return {each.number: [date for date, left in each.days.items() if left] for each in passes}

    @property
    def id(self) -> str:
        """The event."""
        return str(self.event["id"])


def window_of(parts: Parts, shop: Shop, name: str) -> Window:
    """The event of a shop by its slug or id, a second old at most; NotFound for what is not public."""

    def load() -> bytes:
        with parts.database.autocommit_reading() as session:
            row = _row(session, shop.id, name)
            return orjson.dumps(asdict(_read(session, row, parts.clock())))

    content = orjson.loads(parts.cache.fetch(cache.public_key("shop", f"{shop.id}:{name}"), cache.SHOP, load))
    types = [TypeOffer(**each) for each in content.pop("types")]
    return Window(types=types, **content)


def _row(session: Session, organisation_id: str, name: str) -> Event:
    """The event, if it is or was public; what belongs to others or is not published yet is unknown."""
    row = _named(session, organisation_id, name)
    if row is None or row.published_at is None or row.status == EventStatus.DRAFT:
        raise NotFound("There is no such event.", code="event_not_found")
    return row


def _named(session: Session, organisation_id: str, name: str) -> Event | None:
    if _ID.fullmatch(name):
        return events.event(session, organisation_id, name)
    wanted = EventFilter(slug=name, archived=True)
    found = events.events(session, organisation_id, wanted, limit=1, after=None).items
    return found[0] if found else None


def _read(session: Session, row: Event, now: int) -> Window:
    card = public_events.page(session, row.id)
    over = "" if card is not None else "ended" if row.status in _ENDED and row.cancelled_at is None else "cancelled"
    venue = venues.venue(session, row.organisation_id, row.venue_id)
    told = {name: venue.settings[name] for name in _FOR_GUESTS if venue.settings.get(name)}
    known = venue.latitude is not None and venue.longitude is not None
    listed = None if over else waiting_lists.waiting_list(session, row.key)
    return Window(
        event=event_json.page_payload(session, card if card is not None else row, now),
        types=() if over else type_offers(session, row.key, Redeemed(), now),
        venue=told | ({"website": venue.website} if venue.website else {}),
        place=(venue.latitude, venue.longitude) if known else None,  # type: ignore[arg-type]  # both are known
        queued=not over and queueing.is_queued(session, *row.key),
        waiting=listed is not None and listed.open,
        over=over,
        by_code=not over and _has_hidden_types(session, row.key),
    )


def _has_hidden_types(session: Session, event: EventKey) -> bool:
    return any(each.hidden for each in tickets.ticket_types(session, *event))


def type_offers(session: Session, event: EventKey, redeemed: Redeemed, now: int) -> Sequence[TypeOffer]:
    """The ticket types that the shop shows, and those that codes have opened."""
    plan = find_event_plan(session, *event)
    zones = {zone.number: zone.name for zone in events.zones(session, *event)}
    rows = [row for row in tickets.ticket_types(session, *event) if not row.hidden or row.number in redeemed.opened]
    # A type of no open zone has no places that anybody could hold.
    sold = [row for row in rows if plan is None or _zone_in_layout(row, plan) is not None]
    begun, remaining = (
        not presales.is_to_begin(session, event, now),
        remaining_of(session, events.event(session, *event)),
    )
    left = {row.number: remaining(row) for row in sold}
    views = {row.number: offer_view(row, left[row.number], redeemed, now, begun=begun) for row in sold}
    over = {row.number: row.sale_end_at is not None and now > row.sale_end_at for row in sold}
    return [_offer(row, views[row.number], left[row.number], plan, zones, over=over[row.number]) for row in sold]


def _offer(
    row: TicketType,
    shown: OfferView,
    remaining: Remaining,
    plan: SeatPlan | None,
    zones: Mapping[int, str],
    *,
    over: bool,
) -> TypeOffer:
    zone = _zone_in_layout(row, plan)
    return TypeOffer(
        number=row.number,
        name=row.name,
        description=row.description,
        price_cents=row.price_cents,
        fee_cents=row.fee_cents,
        tax_rate=row.tax_rate,
        currency=row.currency,
        min_per_order=row.min_per_order,
        max_per_order=row.max_per_order,
        on_sale=shown.on_sale,
        opened_by_code=shown.opened_by_code,
        sale_start_at=row.sale_start_at,
        sale_end_at=row.sale_end_at,
        over=over,
        left=remaining.most,
        days=remaining.by_day,
        every_day=remaining.every_day,
        numbered=zone is not None and plan is not None and zone in plan.numbered,
        zone=row.zone if plan is not None else 0,
        zone_id=plan.zones[zone].id if plan is not None and zone is not None else "",
        zone_name=zones.get(row.zone, ""),
    )


def _zone_in_layout(row: TicketType, plan: SeatPlan | None) -> int | None:
    """The open zone of the layout that a type is for."""
    if plan is None:
        return None
    return next((number for number in plan.zones if plan.event_zones[number] == row.zone), None)
