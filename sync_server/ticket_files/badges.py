"""Badges from the desk: the layouts that gates print, as pages of their size, with the organiser's logo in them."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from PIL import Image
from sqlalchemy.orm import Session

from shared.badges.layout import AreaKind, read_layout
from shared.errors import Conflict
from shared.words.local_moments import at
from sync_server.checkout import queries as orders
from sync_server.events import queries as events
from sync_server.events.queries import Event
from sync_server.events.snapshot_rows import window
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer
from sync_server.ticket_files.files import cannot_draw, tickets_of_order
from sync_server.tickets import queries as tickets
from sync_server.tickets.keys import codes
from sync_server.tickets.queries import Ticket
from sync_server.tickets.types import badge_layouts

Words = dict[str, str]
_SCREEN_DPI: Final = 203  # of most badge printers: what is shown is what is printed, dot by dot
_LOGO: Final = (240, 120)
"""The most pixels of a logo on a badge, which travels to every gate."""
_LOGO_LINE: Final = re.compile(r'^logo = "[^"]*"\n', re.MULTILINE)


def with_logo(layout: str, logo: bytes | None) -> str:
    """The layout with this logo in it, if it has a place for one."""
    plain = without_logo(layout)
    if logo is None or not any(area.kind is AreaKind.LOGO for area in read_layout(plain).areas):
        return plain
    return f'logo = "{base64.b64encode(_small(logo)).decode()}"\n{plain}'


def without_logo(layout: str) -> str:
    """The layout as people write it."""
    return _LOGO_LINE.sub("", layout)


def png_of(layout: str, words: Words) -> bytes:
    """A badge as a picture. Raises Unavailable where the libraries that draw are missing."""
    try:
        from shared.badges import sheets
    except OSError:
        raise cannot_draw() from None
    return sheets.png_of(read_layout(layout), words, _SCREEN_DPI)


def sample(event: Event, ticket_type: str, zone: str) -> Words:
    """What a badge of this type may look like; the code is none of a ticket."""
    shared = _of_event(event)
    guest = {"name": "Ada Lovelace" if event.name_checks else "", "number": f"{event.code}-000123"}
    return shared | guest | {"type": ticket_type, "zone": zone, "row": "C", "seat": "12", "code": "GATEHOUSE-" * 17}


def pdf_of_order(session: Session, sealer: Sealer, organisation_id: str, order_id: str) -> bytes:
    """The badges of an order's tickets, one on each page; Conflict where their types have none."""
    order = orders.order(session, organisation_id, order_id)
    rows = tickets_of_order(session, organisation_id, order_id)
    return _pdf(session, sealer, order.event, rows, order.number)


def _pdf(session: Session, sealer: Sealer, key: EventKey, rows: Sequence[Ticket], title: str) -> bytes:
    chosen = {number: read_layout(text) for number, text in badge_layouts.layouts(session, key).items() if text}
    printed = [row for row in rows if row.ticket_type in chosen]
    if not printed:
        raise Conflict(
            "No badge is chosen for these tickets. Choose one on the page Badges of the event.", code="no_layout"
        )
    event = events.event(session, *key)
    zones = {zone.number: zone.name for zone in events.zones(session, *key)}
    types = {row.number: row.name for row in tickets.ticket_types(session, *key)}
    texts = codes.code_texts(session, printed, sealer)
    badges = [
        (chosen[row.ticket_type], _of_ticket(event, row, types, zones, code))
        for row, code in zip(printed, texts, strict=True)
    ]
    try:
        from shared.badges import sheets
    except OSError:
        raise cannot_draw() from None
    return sheets.pdf_of(badges, title)


def _of_event(event: Event) -> Words:
    day = at(window(event)[0], ZoneInfo(event.timezone)).date().isoformat()
    return {"event": event.name, "venue": event.venue_name, "date": day}


def _of_ticket(event: Event, row: Ticket, types: dict[int, str], zones: dict[int, str], code: str) -> Words:
    """As gates print it: a name only where the event has names at gates."""
    return _of_event(event) | {
        "name": row.holder_name if event.name_checks else "",
        "type": types.get(row.ticket_type, ""),
        "zone": zones.get(row.zone, ""),
        "row": row.seat_row,
        "seat": row.seat_number,
        "number": row.number,
        "code": code,
    }


def _small(logo: bytes) -> bytes:
    picture = Image.open(io.BytesIO(logo)).convert("RGBA")
    paper = Image.new("RGBA", picture.size, "white")
    paper.alpha_composite(picture)
    grey = paper.convert("L")
    grey.thumbnail(_LOGO)
    out = io.BytesIO()
    grey.quantize(16).save(out, "PNG", optimize=True)
    return out.getvalue()
