"""Opens waiting lists, and lets parties join, leave and take what they were offered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import or_, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import uuid7
from shared.lifecycle import OVER, EventStatus
from sync_server.accounts.sign_in.logins import checked_address
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.days import chosen_days
from sync_server.events.days.chosen_days import dates_of
from sync_server.events.permissions import Part
from sync_server.holds import ordering
from sync_server.holds.ordering import Held
from sync_server.plumbing import waking
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating import queries as seating
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.tickets import queries as tickets
from sync_server.waiting_list import queries
from sync_server.waiting_list.models import WaitingListRow, WaitingOfferRow, WaitingPartyRow
from sync_server.waiting_list.recording import record_party
from sync_server.waiting_list.rules import (
    DEFAULT_OFFER_MINUTES,
    STANDING,
    OfferState,
    PartyState,
    Passed,
    Waiting,
    Wish,
)

OFFER = "waiting_list.offer"
"""The job that makes offers."""
TAKEN_LASTS_MS = 15 * 60_000
"""At least so long a party has to order what it has taken."""
_STRETCHES = 200
_TOLD_AGAIN: Final = 3
"""So often at most an address is told that it waits already: whoever enters that of somebody else writes no more."""


@dataclass(frozen=True, slots=True)
class Joining:
    """Who joins, and with which wish."""

    bearer_id: str
    email: str
    locale: str
    wish: Wish


def set_list(
    session: Session, event: EventKey, context: ActionContext, *, opened: bool, offer_minutes: int | None
) -> WaitingListRow:
    """Open or close the list of an event; those who wait stay in it."""
    event_service.lock_event(session, *event)
    row = queries.waiting_list(session, event, lock=True)
    if row is None:
        row = WaitingListRow(
            organisation_id=event.organisation_id,
            event_id=event.event_id,
            offer_minutes=DEFAULT_OFFER_MINUTES,
            last_seq=0,
            wakes=0,
            leased_until=0,
        )
        session.add(row)
    row.open, row.updated_at = opened, context.now
    row.offer_minutes = row.offer_minutes if offer_minutes is None else offer_minutes
    session.flush()
    after = {"open": row.open, "offer_minutes": row.offer_minutes}
    record(session, AuditLine(context, "waiting_list.set", "event", event.event_id, event.organisation_id, after=after))
    return row


def join(session: Session, event: EventKey, joining: Joining, context: ActionContext) -> WaitingPartyRow:
    """Put a party at the end of the list; who joins again in the same session has the same place, as it stands.

    Anybody may enter any address, so nothing here says whether it waits already: it is told by mail. Of the parties of
    one address only the first is offered anything (`queries.in_turn`).
    """
    details, email = events.event(session, *event), checked_address(joining.email)
    if details.status in OVER:
        raise Conflict("The event is over or called off.", code="event_not_available")
    _require_wish(session, event, joining.wish)
    row = queries.waiting_list(session, event, lock=True)  # from here on parties join one after the other
    if row is None or not row.open:
        raise Conflict("This event has no waiting list.", code="no_waiting_list")
    before = queries.parties_of(session, event, email)
    standing = [party for party in before if party.state in STANDING]
    for party in standing:
        if party.bearer_id == joining.bearer_id:
            return party
    row.last_seq += 1
    _wake(session, row, context.now)
    wish = joining.wish
    made = WaitingPartyRow(
        organisation_id=event.organisation_id,
        id=uuid7(context.now, context.entropy),
        event_id=event.event_id,
        seq=row.last_seq,
        bearer_id=joining.bearer_id,
        email=email,
        locale=joining.locale,
        size=wish.size,
        together=wish.together,
        zone_ids=list(wish.zone_ids),
        ticket_types=list(wish.ticket_types),
        days=list(wish.days),
        state=PartyState.WAITING.value,
        joined_at=context.now,
        updated_at=context.now,
    )
    session.add(made)
    session.flush()
    record_party(session, made, "waiting_joined", context)
    if standing and len(before) <= _TOLD_AGAIN:
        record_party(session, standing[0], "waiting_joined_again", context)
    return made


def _require_wish(session: Session, event: EventKey, wish: Wish) -> None:
    """InvalidRequest for zones, ticket types and days that the event does not have, and for too large a party."""
    plan = find_event_plan(session, *event)
    policy = plan.policy if plan is not None else seating.policy(session, event.organisation_id)
    most = policy.max_seats_per_booking
    if most is not None and wish.size > most:
        raise InvalidRequest(
            f"A booking can have at most {most} places.", code="party_too_large", field="size", max=most
        )
    zones = {zone.id for zone in plan.zones.values()} if plan is not None else set()
    if unknown := sorted(set(wish.zone_ids) - zones):
        raise InvalidRequest(
            "This event has no such zone.", code="zone_not_found", field="zone_ids", zones=unknown[:20]
        )
    sold = {row.number for row in tickets.ticket_types(session, *event) if not row.hidden}
    if gone := sorted(set(wish.ticket_types) - sold):
        raise InvalidRequest("This event has no such ticket type.", field="ticket_types", types=gone[:20])
    chosen_days.choose(dates_of(events.event(session, *event)), wish.days)


def leave(session: Session, organisation_id: str, party_id: str, context: ActionContext) -> None:
    """Take a party off the list; what it was offered goes to the next. Leaving again changes nothing."""
    row = queries.party(session, organisation_id, party_id)
    event = EventKey(organisation_id, row.event_id)
    event_service.lock_event(session, *event)
    row = queries.party(session, organisation_id, party_id, lock=True)
    if row.state not in STANDING:
        return
    _end_offer(session, row, OfferState.LEFT, context)
    _become(session, row, PartyState.LEFT, "waiting_left", context)


def require_may_offer(session: Session, event: EventKey, party_id: str, context: ActionContext) -> Waiting:
    """That party, if it waits for an event that can still be sold, and whoever asks may sell it."""
    details = events.event(session, *event)
    context.require(Part.SALE.action(EventStatus(details.status)))
    row = queries.party(session, event.organisation_id, party_id)
    if row.event_id != event.event_id:
        raise queries.no_such_party()
    if details.status in OVER:
        raise Conflict("The event is over or called off.", code="event_not_available")
    if row.state != PartyState.WAITING.value:
        raise Conflict("This party is no longer waiting.", code="not_waiting")
    return Waiting(row.id, row.seq, queries.wish_of(row))


def take(
    session: Session, organisation_id: str, party_id: str, guest_id: str, context: ActionContext
) -> Sequence[Held]:
    """Give what is held for a party to this guest session, which then orders it like any other holds."""
    row = queries.party(session, organisation_id, party_id)
    event = EventKey(organisation_id, row.event_id)
    event_service.lock_event(session, *event)
    row = queries.party(session, organisation_id, party_id, lock=True)
    offer = queries.open_offer(session, organisation_id, party_id, lock=True)
    if offer is None or offer.ends_at <= context.now:
        raise Conflict("You have no open offer. Your place in the list shows what became of it.", code="no_offer")
    bearer, until = ("guest", guest_id), context.now + TAKEN_LASTS_MS
    held = ordering.hand_over(session, event, party_id, bearer, context.now, until=until)
    if sum(hold.quantity for hold in held) < row.size:
        raise Conflict("These places have been taken back by the organiser.", code="no_offer")
    offer.state, offer.done_at = OfferState.TAKEN.value, context.now
    _become(session, row, PartyState.TAKEN, "waiting_taken", context, offer=offer.id)
    return held


def _become(
    session: Session, row: WaitingPartyRow, state: PartyState, fact: str, context: ActionContext, **payload: object
) -> None:
    row.state, row.updated_at = state.value, context.now
    session.flush()
    record_party(session, row, fact, context, **payload)


def _end_offer(session: Session, row: WaitingPartyRow, state: OfferState, context: ActionContext) -> None:
    offer = queries.open_offer(session, row.organisation_id, row.id, lock=True)
    if offer is None:
        return
    offer.state, offer.done_at = state.value, context.now
    event = EventKey(row.organisation_id, row.event_id)
    ordering.give_back(session, event, events.event(session, *event).number, row.id, context)
    wake(session, event, context.now)


def lapse(session: Session, organisation_id: str, party_id: str, context: ActionContext) -> None:
    """End an offer that was not taken in time: what it held is free, and the party leaves the list."""
    row = queries.party(session, organisation_id, party_id)
    event_service.lock_event(session, organisation_id, row.event_id)
    row = queries.party(session, organisation_id, party_id, lock=True)
    offer = queries.open_offer(session, organisation_id, party_id, lock=True)
    if offer is None or offer.ends_at > context.now:
        return
    _end_offer(session, row, OfferState.LAPSED, context)
    _become(session, row, PartyState.LAPSED, "waiting_offer_lapsed", context, offer=offer.id)


def wake(session: Session, event: EventKey, now: Millis) -> None:
    """Look at the list of this event soon, if it has one: something may fit somebody."""
    row = WaitingListRow
    values = {"wakes": row.wakes + 1, "due_at": now}
    woken = update(row).where(event.of(row)).values(values)
    if session.execute(woken.returning(row.event_id).execution_options(synchronize_session=False)).first() is not None:
        waking.wake(session, OFFER)


def _wake(session: Session, row: WaitingListRow, now: Millis) -> None:
    row.wakes, row.due_at = row.wakes + 1, now
    waking.wake(session, OFFER)


def end_parties(session: Session, event: EventKey, context: ActionContext) -> None:
    """End the list of an event that is over or called off: nobody waits any more."""
    here = event.of(WaitingPartyRow), WaitingPartyRow.state == PartyState.WAITING.value
    ended = update(WaitingPartyRow).where(*here).values(state=PartyState.ENDED.value, updated_at=context.now)
    session.execute(ended.execution_options(synchronize_session=False))
    off = {"open": False, "due_at": None}
    session.execute(update(WaitingListRow).where(event.of(WaitingListRow)).values(off))


def lapsed(session: Session, now: Millis) -> list[tuple[str, str]]:
    """The organisations and parties whose offers have ended, some of them."""
    row, due = WaitingOfferRow, (WaitingOfferRow.state == OfferState.OPEN.value, WaitingOfferRow.ends_at <= now)
    return [
        (organisation_id, party_id)
        for organisation_id in organisations_due(session, row.organisation_id, *due)
        for party_id in queries.ended_offers(session, organisation_id, now)
    ]


def count_passed(session: Session, event: EventKey, passed: Passed) -> None:
    """Count for each party that was passed over in favour of somebody behind it."""
    row = WaitingPartyRow
    stretches = [row.seq.between(first, last) for found in passed.stretches.values() for first, last in found]
    for start in range(0, len(stretches), _STRETCHES):
        some = stretches[start : start + _STRETCHES]
        here = event.of(row), row.state == PartyState.WAITING.value, or_(*some)
        counted = update(row).where(*here).values(passed_over=row.passed_over + 1)
        session.execute(counted.execution_options(synchronize_session=False))


def forget(session: Session, organisation_id: str, email: str) -> int:
    """Empty this address on all waiting lists, which its parties leave; returns how many there were."""
    row = WaitingPartyRow
    here = row.organisation_id == organisation_id, row.email == email
    gone = update(row).where(*here).values(email="", state=PartyState.LEFT.value).returning(row.id)
    return len(session.execute(gone.execution_options(synchronize_session=False)).all())
