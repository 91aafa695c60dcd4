"""Posts messages about one order, in the transaction of what they tell of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from sync_server.checkout import queries as orders
from sync_server.checkout.queries import Order
from sync_server.mail import service as mail
from sync_server.mail.letters import Attachment, Letter
from sync_server.order_mails import messages
from sync_server.order_mails.messages import Message
from sync_server.order_mails.values import Reader, order_values
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.ticket_files import files

TICKETS_FILE: Final = "order_tickets"
CALENDAR_FILE: Final = "order_calendar"
TRANSFER_FILE: Final = "order_transfer"
KEPT_TRYING_MS: Final = 2 * 86_400_000

_CARRIES: Final = {
    Message.INVOICE: (TRANSFER_FILE,),
    Message.TICKETS: (TICKETS_FILE, CALENDAR_FILE),
    Message.NEW_DATE: (TICKETS_FILE, CALENDAR_FILE),
    Message.TAKES_PLACE: (CALENDAR_FILE,),
    Message.MOVED: (CALENDAR_FILE,),
    Message.NEW_TIME: (TICKETS_FILE, CALENDAR_FILE),
    Message.OTHER_SEAT: (TICKETS_FILE,),
    Message.POSTPONED: (CALENDAR_FILE,),
    Message.CANCELLED: (CALENDAR_FILE,),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What a message says beside what is known of the order."""

    cents: int = 0
    moments: Mapping[str, Millis | None] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


def post(
    parts: Parts, session: Session, order: Order, message: Message, context: ActionContext, *, told: Told | None = None
) -> bool:
    """Write to the buyer of an order; False where that is not possible: no address, or no mail on this server."""
    if parts.config.mail_url is None or not order.buyer_email:
        return False
    reader = Reader.of(session, order.event, order.buyer_locale)
    more = told or Told()
    known = order_values(parts, session, reader, order, more.cents)
    values = {**known, **more.words, **{name: reader.moment(at) for name, at in more.moments.items()}}
    written = messages.write(message, reader.language, values)
    letter = Letter(
        messages.TEMPLATE,
        order.buyer_email,
        written.values(),
        reader.language,
        tuple(Attachment(kind, order.id) for kind in _CARRIES.get(message, ())),
    )
    ends_at = context.now + KEPT_TRYING_MS
    mail.post(session, letter, parts.sealer, context, ends_at=ends_at, organisation_id=order.organisation_id)
    return True


def send_tickets_again(
    parts: Parts, session: Session, organisation_id: str, order_id: str, context: ActionContext
) -> None:
    """Mail the tickets of an order once more; Conflict where it has none, or nobody to write to."""
    order = orders.order(session, organisation_id, order_id)
    files.tickets_of_order(session, organisation_id, order_id)
    if not order.buyer_email:
        raise Conflict("This order has no address. Print the tickets, or show them on a phone.", code="no_address")
    if not post(parts, session, order, Message.TICKETS, context):
        raise Conflict("No mail is set up on this server. Print the tickets instead.", code="no_mail")
