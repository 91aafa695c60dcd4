"""Writes to buyers what has happened: of an order at once, of an event order by order, each of them once.

A fact is followed in the transaction that moves the cursor of this subscriber, and what is to be told to all buyers of
an event has a cursor of its own: whatever is committed is committed with the mails, and is never told again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.lifecycle import EventStatus
from sync_server.accounts import queries as accounts
from sync_server.checkout import queries as orders
from sync_server.checkout.queries import Order
from sync_server.checkout.rules import LineState
from sync_server.events import queries as events
from sync_server.order_mails import posting
from sync_server.order_mails.messages import Message as Said
from sync_server.order_mails.models import EventNewsRow
from sync_server.order_mails.offers import ToWaiting, post_to_waiting
from sync_server.order_mails.posting import Told
from sync_server.outbox.catalogue import FACTS, kind_of
from sync_server.plumbing.due import due_if_any, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE, Job, Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.waking import wake
from sync_server.tickets import queries as tickets
from sync_server.waiting_list import links
from sync_server.waiting_list import queries as waiting_list

GO_ON: Final = "orders.tell"
PIECE: Final = 50
"""Orders that are told in one transaction."""
KEPT_MS: Final = 60 * 86_400_000


_OF_ONE: Final = frozenset({"order", "party", "ticket"})
"""Subjects of facts that one buyer is told of."""


def told_of_events() -> list[Said]:
    """The messages that all buyers of an event get when it changes."""
    said = [Said(kind.buyers) for kind in FACTS.values() if kind.buyers and not _OF_ONE & set(kind.subjects)]
    return list(dict.fromkeys(said))


_OPEN: Final = EventNewsRow.done_at.is_(None)


class BuyerNews:
    """Follows the facts that buyers are told of."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def subscriber(self) -> Subscriber:
        """What the relay delivers facts to."""
        return Subscriber("buyers", lambda fact: bool(kind_of(fact.name).buyers), self._on_facts)

    def job(self) -> Job:
        """Goes on where an event has more orders than are told at once."""
        return Job(GO_ON, 2_000, self._go_on, _anything_left)

    def forgetting(self) -> Job:
        """Deletes what was told long ago."""
        return Job("orders.forget_news", 3_600_000, _delete_old)

    def _on_facts(self, session: Session, facts: Sequence[Message]) -> Iterable[Notification]:
        for fact in facts:
            context = ActionContext(SYSTEM, self._parts.clock(), self._parts.entropy)
            if "order" in fact.subjects:
                self._tell_buyer(session, fact, context)
            elif "party" in fact.subjects:
                self._tell_party(session, fact, context)
            elif "ticket" in fact.subjects:
                self._tell_whoever_bought(session, fact, context)
            else:
                _note(session, fact)
        return ()

    def _tell_buyer(self, session: Session, fact: Message, context: ActionContext) -> None:
        try:
            order = orders.order(session, fact.organisation_id, str(fact.subjects["order"]))
        except NotFound:
            return
        message = Said(kind_of(fact.name).buyers)
        cents = int(fact.payload.get("cents", 0)) if message is Said.REFUNDED else 0
        if _is_told(message, order, cents):
            moments = {name: fact.payload.get(name) for name in ("new_date", "keep_until")}
            posting.post(self._parts, session, order, message, context, told=Told(cents, moments))

    def _tell_whoever_bought(self, session: Session, fact: Message, context: ActionContext) -> None:
        """Whoever bought a ticket hears of it, unless they have passed it on or given it back."""
        ticket = tickets.internal_id(str(fact.subjects["ticket"]))
        line = orders.lines_of_tickets(session, fact.organisation_id, [ticket]).get(ticket)
        if line is None or line.passed_on or line.state != LineState.ISSUED:
            return
        order = orders.order(session, fact.organisation_id, line.order_id)
        told = Told(words={f"{name}_seat": str(fact.payload[name]) for name in ("from", "to")})
        posting.post(self._parts, session, order, Said(kind_of(fact.name).buyers), context, told=told)

    def _tell_party(self, session: Session, fact: Message, context: ActionContext) -> None:
        where, party = fact.organisation_id, str(fact.subjects["party"])
        try:
            recipient = waiting_list.recipient(session, where, party)
        except NotFound:
            return
        slug = accounts.organisation(session, where).slug
        link = links.url(self._parts, slug, where, party)
        ends_at = fact.payload.get("ends_at")
        moments = {"since": recipient.joined_at} | ({} if ends_at is None else {"until": int(ends_at)})
        written = ToWaiting(
            Said(kind_of(fact.name).buyers),
            EventKey(where, recipient.event_id),
            recipient.email,
            recipient.locale,
            recipient.size,
            moments,
            moments.get("until", context.now + posting.KEPT_TRYING_MS),
            link,
        )
        post_to_waiting(self._parts, session, written, context)

    def _go_on(self, session: Session, context: ActionContext) -> object:
        row = _next(session)
        if row is None:
            return None
        key = EventKey(row.organisation_id, row.event_id)
        # Refunds begin with the cancellation: whoever had theirs first is told all the same.
        since = row.created_at if row.message == Said.CANCELLED else None
        piece = orders.bought(session, key, after=row.last_order_id, limit=PIECE, refunded_since=since)
        for order in piece:
            row.told += posting.post(self._parts, session, order, Said(row.message), context)
            row.last_order_id = order.id
        if len(piece) < PIECE:
            row.done_at = context.now
        session.flush()
        return MORE


def _is_told(message: Said, order: Order, cents: int) -> bool:
    """Whoever gave up before choosing how to pay is not reminded of it; nor of a refund of nothing."""
    if message in {Said.ORDER_EXPIRED, Said.ORDER_CANCELLED}:
        return order.due_at is not None
    return message is not Said.REFUNDED or cents > 0


def _is_back(fact: Message) -> bool:
    """Whether an event that had no date takes place after all; one with a new date was told of when it got it."""
    before = fact.payload.get("before") or {}
    return before.get("status") == EventStatus.POSTPONED.value and before.get("rescheduled_at") is None


def _begins_elsewhen(fact: Message) -> bool:
    """Whether what changed of an event is when guests have to be there."""
    before, after = fact.payload.get("before") or {}, fact.payload.get("after") or {}
    return any(name in after and before.get(name) != after[name] for name in ("start_at", "doors_at"))


_ONLY_IF: Final[Mapping[str, Callable[[Message], bool]]] = {
    Said.TAKES_PLACE.value: _is_back,
    Said.NEW_TIME.value: _begins_elsewhen,
}
"""Facts that buyers are told of in some cases only."""


def _note(session: Session, fact: Message) -> None:
    """Note that the buyers of an event are to be told."""
    only_if = _ONLY_IF.get(kind_of(fact.name).buyers)
    if only_if is not None and not only_if(fact):
        return
    key = EventKey(fact.organisation_id, str(fact.subjects["event"]))
    if session.get(EventNewsRow, (key.organisation_id, fact.message_id)) is not None:
        return
    try:
        events.event(session, *key)
    except NotFound:
        return
    message = kind_of(fact.name).buyers
    row = EventNewsRow(**key._asdict(), id=fact.message_id, message=message, created_at=fact.at)
    session.add(row)
    session.flush()
    wake(session, GO_ON)


def _next(session: Session) -> EventNewsRow | None:
    """The news that waits longest in the first organisation that has any which no other worker is telling."""
    for organisation_id in organisations_due(session, EventNewsRow.organisation_id, _OPEN):
        mine = EventNewsRow.organisation_id == organisation_id, _OPEN
        waiting = select(EventNewsRow).where(*mine).order_by(EventNewsRow.created_at).limit(1)
        row = session.execute(waiting.with_for_update(skip_locked=True)).scalar_one_or_none()
        if row is not None:
            return row
    return None


def _anything_left(session: Session, _now: Millis) -> Millis | None:
    return due_if_any(session, EventNewsRow.organisation_id, _OPEN)


def _delete_old(session: Session, context: ActionContext) -> None:
    old = EventNewsRow.done_at < context.now - KEPT_MS
    for organisation_id in organisations_due(session, EventNewsRow.organisation_id, old):
        session.execute(delete(EventNewsRow).where(EventNewsRow.organisation_id == organisation_id, old))
