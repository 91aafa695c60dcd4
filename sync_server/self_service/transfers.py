"""Passes tickets on: offered by a link in a mail, and the recipient's with a new code once that is used.

Everything that decides about a ticket happens under the lock on its event and order, as refunds do: of two transfers,
or of a transfer and a refund, one comes first, and the other sees what has become of the ticket.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound, TooMany
from shared.ids import uuid7
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.logins import checked_address
from sync_server.accounts.sign_in.passwords import new_token, token_hash
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.audit.service import AuditLine, record
from sync_server.checkout import queries as orders
from sync_server.checkout.orders.locking import lock_order
from sync_server.events import queries as events
from sync_server.mail import service as mail
from sync_server.mail.letters import Letter
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.self_service import owners, rules, settings
from sync_server.self_service.models import TransferRow
from sync_server.self_service.owners import TicketKey
from sync_server.self_service.rules import TransferState
from sync_server.tickets import queries as tickets
from sync_server.tickets import service as ticket_service
from sync_server.tickets.queries import Ticket


@dataclass(frozen=True, slots=True)
class Gift:
    """To whom a ticket is given, and who gives it, as the mail says."""

    email: str
    giver: str
    locale: str = ""


def offer(parts: Parts, session: Session, key: TicketKey, gift: Gift, context: ActionContext) -> TransferRow:
    """Offer a ticket to the owner of an address. It stays its owner's until the link in the mail is used."""
    address = checked_address(gift.email)
    if parts.config.mail_url is None:
        raise Conflict("This server sends no mail, so tickets cannot be passed on. Ask the organiser.", code="no_mail")
    row, passed_on, ends_at = _require_transferable(session, key, context.now)
    if key.ticket_id in owners.offered(session, key.organisation_id, [key.ticket_id]):
        raise Conflict("This ticket is already offered to somebody. Withdraw that offer first.", code="already_offered")
    _require_patience(session, key, context)
    code = new_token(context.entropy)
    made = TransferRow(
        organisation_id=key.organisation_id,
        id=uuid7(context.now, context.entropy),
        event_id=row.event_id,
        order_id=key.order_id,
        ticket_id=key.ticket_id,
        step=passed_on + 1,
        recipient_email=address,
        code_hash=token_hash(code),
        state=TransferState.OFFERED.value,
        ends_at=ends_at,
        created_at=context.now,
    )
    session.add(made)
    session.flush()
    _mail(parts, session, made, gift, code=code, context=context)
    _record(session, made, "ticket.transfer_offered", context)
    return made


def _require_transferable(session: Session, key: TicketKey, now: Millis) -> tuple[Ticket, int, Millis]:
    """The ticket with its event and order locked, how often it was passed on, and until when an offer may be open."""
    order = lock_order(session, key.organisation_id, key.order_id)
    event = events.details(session, key.organisation_id, order.event_id)
    row = tickets.ticket(session, key.organisation_id, key.ticket_id)
    last = owners.accepted(session, key.organisation_id, [key.ticket_id]).get(key.ticket_id)
    passed_on, policy = (last.step if last is not None else 0), settings.settings_of(session, key.organisation_id)
    allowed = settings.allowed_at(policy, event)
    refusal = rules.refuse_transfer(allowed, owners.standing_of(session, row, passed_on), now)
    if refusal is not None:
        raise refusal
    return row, passed_on, min(now + policy.transfer_days * rules.DAY_MS, allowed.transfer_until)


def _require_patience(session: Session, key: TicketKey, context: ActionContext) -> None:
    wait = throttling.count(session, [Tried(rules.MAILED_OFFERS, key.order_id)], context.now)
    if wait:
        raise TooMany(
            "Too many tickets of this order have been offered. Wait a little and try again.",
            retry_after=-(-wait // 1000),
        )


def _mail(parts: Parts, session: Session, row: TransferRow, gift: Gift, *, code: str, context: ActionContext) -> None:
    shop = accounts.organisation(session, row.organisation_id)
    event = events.details(session, row.organisation_id, row.event_id)
    link = f"{parts.config.base_url.rstrip('/')}/o/{shop.slug}/ticket#{code}"
    days = max(1, -(-(row.ends_at - context.now) // rules.DAY_MS))
    giver = gift.giver or shop.name
    values = {"giver": giver, "event": event.name, "organisation": shop.name, "link": link, "days": days}
    letter = Letter("ticket_transfer", row.recipient_email, values, gift.locale[:2] or shop.language)
    mail.post(session, letter, parts.sealer, context, ends_at=row.ends_at, organisation_id=row.organisation_id)


def withdraw(session: Session, key: TicketKey, context: ActionContext) -> None:
    """Withdraw the open offer of a ticket; NotFound where there is none."""
    lock_order(session, key.organisation_id, key.order_id)
    row = owners.offered(session, key.organisation_id, [key.ticket_id]).get(key.ticket_id)
    if row is None:
        raise NotFound("This ticket is not offered to anybody.", code="transfer_not_found")
    _end(session, row, TransferState.WITHDRAWN, context)


def find(session: Session, organisation_id: str, code: str, now: Millis) -> TransferRow:
    """The open offer with this code; NotFound for one that has ended."""
    row = TransferRow
    here = row.organisation_id == organisation_id, row.code_hash == token_hash(code)
    wanted = select(row).where(*here, row.state == TransferState.OFFERED.value, row.ends_at > now)
    found = session.execute(wanted.execution_options(populate_existing=True)).scalar_one_or_none()
    if found is None:
        raise NotFound("This link has been used or withdrawn, or has expired.", code="link_ended")
    return found


def accept(session: Session, organisation_id: str, code: str, name: str, context: ActionContext) -> Ticket:
    """Make the ticket the recipient's: with their name and a new code, and every earlier code is worth nothing."""
    seen = find(session, organisation_id, code, context.now)
    key = TicketKey(organisation_id, seen.order_id, seen.ticket_id)
    _require_transferable(session, key, context.now)
    row = find(session, organisation_id, code, context.now)  # again, under the lock
    ticket = ticket_service.reissue(
        session, organisation_id, key.ticket_id, context, reason="passed on to another person", holder_name=name
    )
    line = orders.lines_of_tickets(session, organisation_id, [key.ticket_id])[key.ticket_id]
    line.passed_on, line.holder_name = True, name
    row.recipient_name = name
    _end(session, row, TransferState.ACCEPTED, context)
    return ticket


def decline(session: Session, organisation_id: str, code: str, context: ActionContext) -> None:
    """The recipient does not want the ticket: it stays its owner's."""
    seen = find(session, organisation_id, code, context.now)
    lock_order(session, organisation_id, seen.order_id)
    _end(session, find(session, organisation_id, code, context.now), TransferState.DECLINED, context)


def _end(session: Session, row: TransferRow, state: TransferState, context: ActionContext) -> None:
    row.state, row.done_at = state.value, context.now
    session.flush()
    _record(session, row, f"ticket.transfer_{state.value}", context)


def _record(session: Session, row: TransferRow, action: str, context: ActionContext) -> None:
    """An audit line without the recipient's address."""
    subject = "ticket", tickets.public_id(row.ticket_id), row.organisation_id
    record(session, AuditLine(context, action, *subject, after={"transfer": row.id, "step": row.step}))


def end_offers(session: Session, organisation_id: str, ids: list[int], context: ActionContext) -> None:
    """Withdraw the open offers of tickets that are given back."""
    for row in owners.offered(session, organisation_id, ids).values():
        _end(session, row, TransferState.WITHDRAWN, context)


def lapse(session: Session, now: Millis) -> None:
    """End offers that nobody has accepted in time: their tickets stay with their owners."""
    row, due = TransferRow, (TransferRow.state == TransferState.OFFERED.value, TransferRow.ends_at <= now)
    for organisation_id in organisations_due(session, row.organisation_id, *due):
        here = update(row).where(row.organisation_id == organisation_id, *due)
        lapsed = here.values(state=TransferState.LAPSED.value, done_at=now)
        session.execute(lapsed.execution_options(synchronize_session=False))
