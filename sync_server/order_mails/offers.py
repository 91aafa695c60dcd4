"""Writes to who waits for places: of an offer, or that they wait already; neither is about a ticket that they have."""

from __future__ import annotations

from collections.abc import Mapping
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
class ToWaiting:
    """What is written to somebody who waits for so many places."""

    message: Message
    event: EventKey
    address: str
    locale: str
    places: int
    moments: Mapping[str, Millis]  # by their names in the words
    ends_at: Millis  # afterwards it is not sent any more
    link: str


def post_to_waiting(parts: Parts, session: Session, written: ToWaiting, context: ActionContext) -> bool:
    """Write to them; False where they want no such mails, or no mail is set up."""
    where = written.event.organisation_id
    if parts.config.mail_url is None or opting_out.is_opted_out(session, parts.sealer, where, written.address):
        return False
    reader = Reader.of(session, written.event, written.locale)
    slug = accounts.organisation(session, where).slug
    unsubscribe = opting_out.link_for(parts, where, slug, written.address)
    nothing = dict.fromkeys(("name", "number", "total"), "")
    moments = {name: reader.moment(at) for name, at in written.moments.items()}
    values = reader.event_values() | nothing | moments | {"places": str(written.places), "link": written.link}
    words = messages.write(written.message, reader.language, values, unsubscribe_link=unsubscribe)
    letter = Letter(messages.TEMPLATE, written.address, words.values(), reader.language, unsubscribe=unsubscribe)
    mail.post(session, letter, parts.sealer, context, ends_at=written.ends_at, organisation_id=where)
    return True
