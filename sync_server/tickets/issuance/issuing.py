"""Issues tickets: by number, on seats of the event's layout, or on printed seats; all of them or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from shared.ids import Entropy, uuid7
from shared.tickets import TicketFlags
from shared.wire.snapshot import MembershipState, TicketState
from sync_server.events import issued_counts, locked_events
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.days.chosen_days import ChosenDays, dates_of, joined, numbers
from sync_server.holds.selling import inventory
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.bulk import columns_of, insert_many
from sync_server.plumbing.sql.known_rows import new_row
from sync_server.revisions import service as revisions
from sync_server.seating import event_layouts
from sync_server.tickets import queries, rules, ticket_counts
from sync_server.tickets.issuance import inventory_updates, issue_request, layout_batches, wheelchairs
from sync_server.tickets.issuance.issue_request import IssueRequest, TicketBatch, TicketDraft
from sync_server.tickets.issuance.layout import IssuingLayout, issuing_layout
from sync_server.tickets.issuance.ticket_days import TicketDays
from sync_server.tickets.keys import issues, signing_keys
from sync_server.tickets.models import TicketRecord, TicketTypeRecord
from sync_server.tickets.types import type_service

SURELY_FREE: Final = 10
"""So few confirmation codes are not looked up: one in a million requests draws a code that its event has already.

Then the unique index refuses it, and the request runs again.
"""


@dataclass(frozen=True, slots=True)
class _Common:
    """What all tickets of one request have in common."""

    event: events.EventHead
    request: IssueRequest
    key_id: int
    group_id: str
    codes: Iterator[str]
    dates: tuple[str, ...]  # of the event's days


def lock(session: Session, organisation_id: str, event_id: str) -> events.EventHead:
    """Lock an event whose tickets are about to be issued; Conflict where it issues none, or moves its guests."""
    lock_alone(session, organisation_id, event_id)
    event_layouts.require_not_moving(session, organisation_id, event_id)
    event = events.head(session, organisation_id, event_id)
    rules.require_issuing(event.status)
    return event


def lock_alone(session: Session, organisation_id: str, event_id: str) -> None:
    """Lock an event, unless this transaction has done so; nobody waits for the lock while its guests are moved."""
    if not locked_events.is_locked(session, organisation_id, event_id):
        event_layouts.require_not_moving(session, organisation_id, event_id)
        event_service.lock_event(session, organisation_id, event_id)


def plan(
    session: Session, event: events.EventHead, request: IssueRequest, context: ActionContext
) -> Sequence[TicketBatch]:
    """What the request would issue, by ticket type; the refusals of seats, zones, access and wheelchair places.

    Whether the seats are free, and the quotas large enough, shows when they are taken.
    """
    layout = issuing_layout(session, event.organisation_id, event.id, context.now, context.actor.id)
    return _batches(session, event, layout, request, _days(session, event, request))


def _days(session: Session, event: events.EventHead, request: IssueRequest) -> TicketDays:
    dates = dates_of(events.event(session, event.organisation_id, event.id))
    if request.held is not None:
        return TicketDays(dates, request.dates, inventory.days_of(request.held))
    held = inventory.days_of_holds(session, event.organisation_id, event.id, request.holds)
    return TicketDays(dates, request.dates, held)


def issue(
    session: Session,
    organisation_id: str,
    event_id: str,
    request: IssueRequest,
    context: ActionContext,
    *,
    batches: Sequence[TicketBatch] | None = None,
) -> Sequence[TicketRecord]:
    """Issue tickets; all of them or none. `batches` is what `plan` says of this request, where it was asked already.

    Conflict `insufficient_inventory`, `capacity_exceeded`, `seat_taken` or `zone_full` if there are not enough left.
    """
    event = lock(session, organisation_id, event_id)
    if not 1 <= request.total <= rules.MAX_TICKETS_PER_REQUEST:
        raise InvalidRequest(f"Ask for 1 to {rules.MAX_TICKETS_PER_REQUEST} tickets at a time.", field="count")
    key_id = signing_keys.signing_key_id(session, organisation_id, context.now)
    layout = issuing_layout(session, organisation_id, event_id, context.now, context.actor.id)
    if batches is None:
        batches = _batches(session, event, layout, request, _days(session, event, request))
    dates = dates_of(events.event(session, organisation_id, event_id))
    group_id = request.group_id or uuid7(context.now, context.entropy)
    codes = iter(_confirmation_codes(session, event, request.total, context.entropy))
    common = _Common(event, request, key_id, group_id, codes, dates)
    tickets = [row for batch in batches for row in _create(session, common, batch, context)]
    if layout is not None:
        inventory_updates.sell_inventory(session, layout, tickets, request, context)
        wheelchairs.record_wheelchair_sales(session, layout, tickets, context)
    elif request.holds:
        inventory.use_holds(session, organisation_id, event_id, request.total, context, holds=request.holds)
    inventory.require_capacity(session, organisation_id, event_id, context.now)
    _insert(session, tickets)
    ticket_counts.count_new(session, tickets)
    revisions.put_new(session, event.key, [queries.ticket_row(row, name_checks=event.name_checks) for row in tickets])
    return tickets


def _batches(
    session: Session,
    event: events.EventHead,
    layout: IssuingLayout | None,
    request: IssueRequest,
    days: TicketDays,
) -> list[TicketBatch]:
    if layout is None:
        ticket_type = queries.ticket_type(session, event.organisation_id, event.id, request.ticket_type)
        issue_request.require_printed_seats(request.seats)
        labels = issue_request.seat_labels(ticket_type.zone, request.seats)
        _check_free(session, event, labels, days.of_places(ticket_type))
        return [issue_request.batch_without_layout(ticket_type, request, days)]
    if not request.seats:
        return [
            layout_batches.batch_of_places(
                layout,
                queries.ticket_type(session, event.organisation_id, event.id, request.ticket_type),
                request,
                days,
            )
        ]
    ticket_types = queries.types_of_locked(session, event.organisation_id, event.id)
    return layout_batches.batches_of_seats(layout, ticket_types, request, days)


def _check_free(session: Session, event: events.EventHead, keys: dict[str, str], days: ChosenDays) -> None:
    """Name the seats that are taken on one of these days: the event is locked, and the unique index the last guard."""
    found = queries.seats_taken(session, event.organisation_id, event.id, list(keys)) if keys else {}
    chosen, count = {*days.numbers}, len(days.dates)
    taken = {key: {day for bits in bitmaps for day in numbers(bits, count)} & chosen for key, bitmaps in found.items()}
    occupied = [keys[key] for key, on_days in taken.items() if on_days]
    if occupied:
        raise issue_request.seats_taken_error(occupied, days.names_of({day for on in taken.values() for day in on}))


def _create(session: Session, common: _Common, batch: TicketBatch, context: ActionContext) -> Iterable[TicketRecord]:
    """The tickets of a batch, counted against the event and the ticket type."""
    count = len(batch.drafts)
    days = [draft.days for draft in batch.drafts]
    first = issued_counts.allocate_ticket_numbers(session, common.event.organisation_id, common.event.id, count, days)
    if common.request.reserved:
        type_service.use_reservation(session, common.event.key, batch.ticket_type.number, count)
    else:
        type_service.reserve_quantity(session, batch.ticket_type, days)
    prices = common.request.prices.get(batch.ticket_type.number, [batch.ticket_type.price_cents] * count)
    for offset, draft in enumerate(batch.drafts):
        row = _ticket(common, batch.ticket_type, draft, context, first + offset, prices[offset])
        issues.freeze_claims(session, row, common.event.number, common.key_id, context.now)
        yield row
    _record_issued(session, common, batch, first, context)


def _ticket(  # noqa: PLR0917 - all that a ticket is made of
    common: _Common,
    ticket_type: TicketTypeRecord,
    draft: TicketDraft,
    context: ActionContext,
    sequence: int,
    price_cents: int,
) -> TicketRecord:
    event, request, member = common.event, common.request, draft.member
    seat = draft.printed or rules.Seat()
    flags = TicketFlags(ticket_type.flags) | rules.flags_of(request.flags) | draft.flags
    state = member.state if member else MembershipState.NONE
    values: dict[str, Any] = {
        "id": request.ids.get(draft.seat) or ticket_id(context.entropy),
        "organisation_id": event.organisation_id,
        "event_id": event.id,
        "sequence": sequence,
        "number": f"{event.code}-{sequence}",
        "confirmation_code": next(common.codes),
        "key_id": common.key_id,
        "issue": 1,
        "issued_at": 0,
        "claims": b"",
        "state": int(TicketState.UNPAID if request.unpaid else TicketState.VALID),
        "ticket_type": ticket_type.number,
        "zone": draft.zone,
        "seat": draft.seat,
        "seat_id": seat.seat_id,
        "section": seat.section,
        "seat_row": seat.row,
        "seat_number": seat.number,
        "seat_key": draft.key,
        "group_id": common.group_id,
        "valid_days": draft.days.bits,
        "entitlement": ticket_type.entitlement,
        "entry_limit": ticket_type.entry_limit,
        "flags": int(flags),
        "not_before": ticket_type.not_before,
        "not_after": ticket_type.not_after,
        "membership_tier": member.tier if member else "",
        "membership_id": member.id if member else "",
        "membership_state": int(state),
        "membership_until": member.until if member else 0,
        "holder_name": seat.holder_name or request.holder_name,
        "notes": request.notes,
        "price_cents": price_cents,
        "currency": ticket_type.currency,
        "created_at": context.now,
        "updated_at": context.now,
    }
    return new_row(TicketRecord, values)


def ticket_id(entropy: Entropy) -> int:
    """The id of a new ticket."""
    return int.from_bytes(entropy(8), "big") or 1


def _confirmation_codes(session: Session, event: events.EventHead, count: int, entropy: Entropy) -> list[str]:
    if count <= SURELY_FREE:
        return [rules.confirmation_code(entropy(8)) for _ in range(count)]
    codes: dict[str, None] = {}
    while len(codes) < count:
        fresh = iter([rules.confirmation_code(entropy(8)) for _ in range(count - len(codes))])
        while batch := list(islice(fresh, 1000)):
            taken = queries.codes_taken(session, event.organisation_id, event.id, batch)
            codes.update((code, None) for code in batch if code not in taken)
    return list(codes)


def _insert(session: Session, tickets: Sequence[TicketRecord]) -> None:
    try:
        insert_many(session, TicketRecord, columns_of(TicketRecord, tickets))
    except IntegrityError as error:
        if "seat" not in str(error.orig):
            raise  # a number or code that another issue has taken at this moment: the request runs again
        raise Conflict(
            "One of these seats was taken at the same moment. Nothing was issued.", code="seat_taken"
        ) from None


def _record_issued(session: Session, common: _Common, batch: TicketBatch, first: int, context: ActionContext) -> None:
    event, count = common.event, len(batch.drafts)
    after: dict[str, Any] = {
        "ticket_type": batch.ticket_type.number,
        "count": count,
        "first": first,
        "last": first + count - 1,
    }
    after["seats"] = [draft.seat for draft in batch.drafts if draft.seat]
    if len(common.dates) > 1:
        after["days"] = list(ChosenDays(common.dates, joined([draft.days.bits for draft in batch.drafts])).names)
    subjects = {"event": event.id, "event_number": event.number}
    fact = Fact("tickets_issued", event.organisation_id, context.now, subjects, after)
    record_change(session, context, Subject("event", event.id, None, after, common.request.override), fact)
