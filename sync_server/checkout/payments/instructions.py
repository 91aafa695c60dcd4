"""What the buyer of an order needs to pay it, in the way that was chosen."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.checkout.models import OrderRow
from sync_server.checkout.money import ledger
from sync_server.checkout.payments.methods import METHODS, Instructions
from sync_server.checkout.rules import OPEN, OrderState
from sync_server.checkout.settings import settings_of


def instructions_of(session: Session, order: OrderRow, due_cents: int) -> Instructions | None:
    """What the buyer who owes so much needs to know; None where nothing is chosen, or nothing is left to pay."""
    method = METHODS.get(order.method)
    if method is None or OrderState(order.state) not in OPEN:
        return None
    return method.instructions(order, settings_of(session, order.organisation_id), due_cents)


def transfer_code(session: Session, order: OrderRow) -> str:
    """The text of the code that fills in the transfer of an order; NotFound where there is none to make."""
    found = instructions_of(session, order, ledger.balance(session, order).due)
    if found is None or not found.qr_text:
        raise NotFound("There is no transfer in euros to make for this order.", code="no_transfer")
    return found.qr_text
