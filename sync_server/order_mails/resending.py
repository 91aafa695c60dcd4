"""Mails the tickets of an order once more, for whoever looks for them: not many times in a row."""

from __future__ import annotations

from typing import Final

from sync_server.accounts.rules import Limit
from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.checkout import queries as orders
from sync_server.checkout.payments.paying import OrderKey
from sync_server.order_mails import posting
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext

MAILED_TICKETS: Final = Limit("tickets by mail of", 2, 5 * 60_000, 12 * 3_600_000, 24 * 3_600_000)
"""Of one order, whoever asks for them: a buyer who looks for a mail needs one or two."""


def resend(parts: Parts, key: OrderKey, context: ActionContext) -> None:
    """Mail the tickets of an order; NotFound, Conflict without tickets or address, or too many attempts."""
    with parts.database.reading() as session:
        orders.order(session, *key)
    message = "These tickets were mailed a short time ago. Wait {seconds} seconds, and look among unwanted mail, too."
    throttling.check(parts.database, [Tried(MAILED_TICKETS, key.order_id)], context.now, message)
    with parts.database.writing() as session:
        posting.send_tickets_again(parts, session, *key, context)
