"""Makes what buyers get of their tickets: PDF, page and calendar, of one ticket or of all of an order."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, Unavailable
from sync_server.checkout import queries as orders
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer
from sync_server.ticket_files import faces
from sync_server.ticket_files.calendar import entry_of
from sync_server.ticket_files.design import design_of
from sync_server.ticket_files.face import TicketFace
from sync_server.ticket_files.faces import Setting
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import Ticket


def tickets_of_order(session: Session, organisation_id: str, order_id: str) -> list[Ticket]:
    """The tickets of an order that are its buyer's and not cancelled; Conflict where it has none."""
    lines = orders.lines(session, organisation_id, order_id)
    ids = [line.ticket_id for line in lines if line.ticket_id is not None and not line.passed_on]
    found = faces.standing(tickets.tickets_by_id(session, organisation_id, ids).values())
    if not found:
        raise Conflict(
            "This order has no tickets: it is not paid yet, or they were refunded or passed on.", code="no_tickets"
        )
    return found


def pdf_of_order(session: Session, sealer: Sealer, organisation_id: str, order_id: str, now: Millis) -> bytes:
    """The tickets of an order, one on each page, and of several the code for all, in the language of its buyer."""
    order = orders.order(session, organisation_id, order_id)
    found = tickets_of_order(session, organisation_id, order_id)
    setting = Setting.read(session, order.event, order.buyer_locale)
    return _pdf(session, sealer, setting, found, order.number, now=now, together=True)


def faces_of_order(
    session: Session, sealer: Sealer, organisation_id: str, order_id: str
) -> tuple[list[TicketFace], str, bytes | None]:
    """What stands on the tickets of an order and beside the code for all of them; the organiser's colour and logo."""
    order = orders.order(session, organisation_id, order_id)
    found = tickets_of_order(session, organisation_id, order_id)
    setting, design = Setting.read(session, order.event, order.buyer_locale), design_of(session, organisation_id)
    shown = faces.faces_of(session, sealer, setting, found)
    together = faces.party_of(session, sealer, setting, found, order.number)
    return [*shown, *together], design.colour, design.logo


def calendar_of_order(session: Session, organisation_id: str, order_id: str, now: Millis) -> bytes:
    """The file with which a calendar remembers an order; of a cancelled event, too, so that it forgets it."""
    order = orders.order(session, organisation_id, order_id)
    setting = Setting.read(session, order.event, order.buyer_locale)
    lines = orders.lines(session, organisation_id, order_id)
    return entry_of(setting, order.id, order.number, [line.valid_days for line in lines], now)


def pdf_of_ticket(session: Session, sealer: Sealer, row: Ticket, now: Millis) -> bytes:
    """One ticket, in the language of its buyer, if anybody has ordered it; Conflict where it is cancelled."""
    if not faces.standing([row]):
        raise Conflict("The ticket is cancelled and is no longer printed.", code="ticket_cancelled")
    line = orders.lines_of_tickets(session, row.organisation_id, [row.id]).get(row.id)
    locale = "" if line is None else orders.order(session, row.organisation_id, line.order_id).buyer_locale
    setting = Setting.read(session, EventKey(row.organisation_id, row.event_id), locale)
    return _pdf(session, sealer, setting, [row], row.number, now=now)


def _pdf(
    session: Session,
    sealer: Sealer,
    setting: Setting,
    rows: Sequence[Ticket],
    name: str,
    *,
    now: Millis,
    together: bool = False,
) -> bytes:
    shown = faces.faces_of(session, sealer, setting, rows)
    shown += faces.party_of(session, sealer, setting, rows, name) if together else []
    row, title = design_of(session, setting.event.organisation_id), f"{setting.event.name} · {name}"
    try:
        from sync_server.ticket_files.pdf import document
    except OSError:  # only this needs the libraries: a server without them sells and admits
        raise cannot_draw() from None
    return document.document_of(shown, row.colour, row.logo, title=title, author=setting.organiser, now=now)


def cannot_draw() -> Unavailable:
    """What to say where the libraries that draw are missing."""
    return Unavailable(
        "This server cannot draw tickets: its operator must install libpangocairo-1.0-0. Codes are shown as SVG, too.",
        code="cannot_draw",
    )
