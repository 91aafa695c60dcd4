"""A ticket's code as text and as a picture, made when it is asked for."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

import segno
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.snapshot import TicketState
from shared.tickets import SIGNED_AS, as_text
from sync_server.plumbing.sealing import Sealer
from sync_server.tickets import issues, signing
from sync_server.tickets.models import TicketRecord

MODULE_PIXELS: Final = 8
QUIET_ZONE: Final = 4


def text_of(session: Session, row: TicketRecord, sealer: Sealer) -> str:
    """What is printed; Conflict for a ticket that is cancelled."""
    if row.state == TicketState.CANCELLED:
        raise Conflict("The ticket is cancelled: there is no code for it.", code="ticket_cancelled")
    return texts_of(session, [row], sealer)[0]


def texts_of(session: Session, rows: Sequence[TicketRecord], sealer: Sealer) -> list[str]:
    """The same for many tickets, unsealing each key once."""
    issues.make_final(session, rows)
    keys = {(row.organisation_id, row.key_id) for row in rows}
    private = {name: signing.private_part(signing.key(session, *name), sealer) for name in keys}
    signers = [private[row.organisation_id, row.key_id] for row in rows]
    return [as_text(row.claims + key.sign(SIGNED_AS + row.claims)) for row, key in zip(rows, signers, strict=True)]


def svg(text: str) -> bytes:
    """A QR code in alphanumeric mode, error correction M, as a picture that scales."""
    out = io.BytesIO()
    _drawn(text).save(out, kind="svg", scale=MODULE_PIXELS, border=QUIET_ZONE, xmldecl=False)
    return out.getvalue()


def png(text: str) -> bytes:
    """The same in pixels."""
    out = io.BytesIO()
    _drawn(text).save(out, kind="png", scale=MODULE_PIXELS, border=QUIET_ZONE)
    return out.getvalue()


def _drawn(text: str) -> segno.QRCode:
    return segno.make_qr(text, error="m", mode="alphanumeric", boost_error=False)
