"""Writes to who waits for places: an offer, which is not about a ticket that they have."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.mail import service as mail
from sync_server.mail.letters import Letter
from sync_server.order_mails import messages, opting_out
from sync_server.order_mails.messages import Message
from sync_server.order_mails.values import Reader
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext


@dataclass(frozen=True, slots=True)
class Offer:
    """Places that are kept for somebody for a while."""

    event: EventKey
    address: str
    locale: str
    name: str
    places: int
    until: Millis
    link: str


def post_offer(parts: Parts, session: Session, offer: Offer, context: ActionContext) -> bool:
    """Write of places that are kept; False where they want no offers, or no mail is set up."""
    where = offer.event.organisation_id
    if parts.config.mail_url is None or opting_out.is_opted_out(session, parts.sealer, where, offer.address):
        return False
    reader = Reader.of(session, offer.event, offer.locale)
    slug = accounts.organisation(session, where).slug
    unsubscribe = opting_out.link_for(parts, where, slug, offer.address)
    values = reader.event_values() | {
        "name": offer.name,
        "number": "",
        "total": "",
        "places": str(offer.places),
        "until": reader.moment(offer.until),
        "link": offer.link,
    }
    written = messages.write(Message.WAITING_OFFER, reader.language, values, unsubscribe_link=unsubscribe)
    letter = Letter(messages.TEMPLATE, offer.address, written.values(), reader.language, unsubscribe=unsubscribe)
    mail.post(session, letter, parts.sealer, context, ends_at=offer.until, organisation_id=where)
    return True
