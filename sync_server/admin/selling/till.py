"""The box office: type, best seats or seats by name, and how it is paid; then it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest, NotFound
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, may, page, render_page
from sync_server.checkout import queries, selling, views
from sync_server.checkout.orders.order_request import Buyer, Chosen, OrderRequest
from sync_server.checkout.orders.parcels import Access
from sync_server.checkout.payments.methods import METHODS, method_named
from sync_server.checkout.rules import Channel
from sync_server.checkout.schemas import OrderView
from sync_server.checkout.selling import Sale
from sync_server.checkout.settings import settings_of
from sync_server.customers.service import address_hash
from sync_server.events import queries as events
from sync_server.holds import service as holds
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.holds.groups.group_holds import GroupHold, GroupRequest
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import client_address, context, current_principal
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.tickets import queries as tickets

MOST_AT_ONCE = 50
_BY_HAND = ("cash", "card")


@bp.get("/events/<event_id>/sell")
@page(Action.ISSUE_TICKETS)
def box_office(event_id: str) -> str:
    """What can be sold, and how it is paid; after a sale also what was sold, to be printed."""
    return _till(event_id, sold=request.args.get("sold", ""))


def _till(event_id: str, problem: str = "", sold: str = "") -> str:
    here = current_organisation()
    with parts().database.reading() as session:
        event = events.event(session, here, event_id)
        rows = tickets.ticket_types(session, here, event_id)
        seated = find_event_plan(session, here, event_id) is not None
        invoices = settings_of(session, here).invoices
        just_sold = _order(session, event_id, sold) if sold and may(Action.READ_ORDERS) else None
    methods = [*_BY_HAND, *(["invoice"] if invoices else [])]
    shown = {"types": rows, "seated": seated, "methods": methods, "problem": problem, "typed": request.form}
    return render_page("selling/till.html", event=event, most=MOST_AT_ONCE, sold=just_sold, **shown)


def _order(session: Session, event_id: str, order_id: str) -> OrderView | None:
    """What was sold last, as the address of the page names it; None for anything else."""
    try:
        row = queries.order(session, current_organisation(), order_id)
    except NotFound:
        return None
    return views.view_of(session, row, parts().clock()) if row.event_id == event_id else None


@bp.post("/events/<event_id>/sell")
@page(Action.ISSUE_TICKETS)
def sell(event_id: str) -> str | tuple[str, int] | WerkzeugResponse:
    """Sell; then the same page prints the tickets, and is ready for whoever comes next."""
    try:
        order_id = _sold(event_id)
    except GatehouseError as error:
        return _till(event_id, error.message), error.status
    if not may(Action.READ_ORDERS):
        return redirect(url_for("admin.order", order_id=order_id, sold=1))
    return redirect(url_for("admin.box_office", event_id=event_id, sold=order_id))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was typed: how many of each type, seats by name, and how it is paid."""

    counts: Mapping[int, int]
    seats: tuple[str, ...]
    method: str

    @classmethod
    def of_form(cls, types: Mapping[int, tickets.TicketType]) -> _Wanted:
        """What stands in the form; InvalidRequest where nothing is chosen."""
        counts = {number: forms.number(f"type-{number}") or 0 for number in types}
        chosen = {number: min(count, MOST_AT_ONCE) for number, count in counts.items() if count > 0}
        seats = tuple(name for name in forms.text("seats").replace(",", " ").split() if name)[:MOST_AT_ONCE]
        if not chosen and not seats:
            raise InvalidRequest("Choose at least one ticket.", field="types")
        if seats and len(chosen) > 1:
            raise InvalidRequest("Choose one ticket type for the named seats.", field="seats")
        free = not any(types[number].price_cents + types[number].fee_cents for number in chosen) and bool(chosen)
        return cls(chosen, seats, "free" if free else method_named(forms.text("method", 20)).name)


def _sold(event_id: str) -> str:
    here, principal, held = current_organisation(), current_principal(), list[str]()
    with parts().database.reading() as session:
        types = {row.number: row for row in tickets.ticket_types(session, here, event_id)}
        plan = find_event_plan(session, here, event_id)
    wanted = _Wanted.of_form(types)
    roles = tuple(role for role in (principal.role, principal.platform_role) if role)
    buyer = Buyer(forms.text("buyer_name", 100), forms.text("buyer_email", 254).casefold())
    try:
        chosen = list(_chosen(event_id, wanted, types, plan, held))
        who = (principal.kind, principal.id)
        asked = OrderRequest(here, event_id, Channel.BOX_OFFICE, *who, chosen, buyer, Access(roles))
        with parts().database.writing() as session:
            return selling.sell(session, parts().sealer, Sale(asked, METHODS[wanted.method]), context()).id
    except GatehouseError:
        _release(held)
        raise


def _chosen(
    event_id: str,
    wanted: _Wanted,
    types: Mapping[int, tickets.TicketType],
    plan: SeatPlan | None,
    held: list[str],
) -> Iterator[Chosen]:
    """What is ordered. The best seats, and whatever waits for an invoice, are held first; `held` collects the holds."""
    if wanted.seats:
        number = next(iter(wanted.counts), 0)
        group = GroupRequest(seat_ids=wanted.seats)
        yield from _held(event_id, group, number, held)
        return
    for number, count in wanted.counts.items():
        zones = [] if plan is None else _zones(plan, types[number].zone)
        numbered = plan is not None and any(zone in plan.numbered for zone in zones)
        if numbered and plan is not None:
            ids = [plan.zones[zone].id for zone in zones if zone in plan.numbered]
            yield from _held(event_id, GroupRequest(best=count, zone_ids=ids), number, held)
        elif wanted.method == "invoice":
            ids = [plan.zones[zone].id for zone in zones] if plan is not None else []
            yield from _held(event_id, GroupRequest(count=count, zone_ids=ids), number, held)
        else:
            yield Chosen(types={number: count})


def _zones(plan: SeatPlan, zone: int) -> list[int]:
    """The open zones of the layout in which a ticket type of this zone of the event is sold."""
    return [number for number in plan.zones if not zone or plan.event_zones.get(number) == zone]


def _held(event_id: str, group: GroupRequest, ticket_type: int, held: list[str]) -> Iterator[Chosen]:
    principal = current_principal()
    asks = HoldRequest(
        current_organisation(), principal.kind, principal.id, address_hash(client_address()), context(), override=True
    )
    for found in GroupHold(hold_runtime(parts()), event_seatings(), asks, event_id, group).run():
        held.append(found.id)
        count = 1 if found.seat is not None else found.quantity
        yield Chosen(found.id, types={ticket_type: count} if ticket_type else {})


def _release(held: list[str]) -> None:
    """What was held for a sale that did not happen is free again."""
    with parts().database.writing() as session:
        for hold_id in held:
            _release_one(session, hold_id)


def _release_one(session: Session, hold_id: str) -> None:
    holds.release(session, current_organisation(), hold_id, None, context())
