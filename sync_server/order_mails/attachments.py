"""The files that mails carry, made when they are sent: a ticket that was cancelled meanwhile is in none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy.orm import Session

from shared.errors import Conflict, NotFound, Unavailable
from sync_server.checkout import queries as orders
from sync_server.checkout.money import epc
from sync_server.checkout.payments import instructions
from sync_server.mail.letters import File
from sync_server.order_mails.messages import TRANSFER_PICTURE
from sync_server.order_mails.posting import CALENDAR_FILE, TICKETS_FILE, TRANSFER_FILE
from sync_server.plumbing.parts import Parts
from sync_server.ticket_files import files

Maker = Callable[[Session, str, str], File | None]


def makers(parts: Parts) -> Mapping[str, Maker]:
    """What makes each kind of file, of an order."""

    def tickets(session: Session, organisation_id: str, order_id: str) -> File | None:
        try:
            content = files.pdf_of_order(session, parts.sealer, organisation_id, order_id, parts.clock())
            name = orders.order(session, organisation_id, order_id).number
        except (
            Conflict,
            NotFound,
            Unavailable,
        ):  # none is left, or this server cannot draw: the link shows what there is
            return None
        return File(f"{name}.pdf", "application/pdf", content)

    def calendar(session: Session, organisation_id: str, order_id: str) -> File | None:
        try:
            content = files.calendar_of_order(session, organisation_id, order_id, parts.clock())
        except NotFound:
            return None
        return File("event.ics", "text/calendar", content)

    def transfer(session: Session, organisation_id: str, order_id: str) -> File | None:
        order = orders.order(session, organisation_id, order_id)
        try:
            code = epc.picture(instructions.transfer_code(session, order), "png")
        except NotFound:  # paid or ended meanwhile, or not in euros
            return None
        return File(f"{order.number}.png", "image/png", code, shown_as=TRANSFER_PICTURE)

    return {TICKETS_FILE: tickets, CALENDAR_FILE: calendar, TRANSFER_FILE: transfer}
