"""A ticket's code as text and as an image, made on request."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

import segno
from sqlalchemy.orm import Session

from shared import claims, parties
from shared.errors import Conflict
from shared.tickets import SIGNED_AS, as_text, party_claims, sign
from shared.wire.snapshot import TicketState
from sync_server.plumbing.sealing import Sealer
from sync_server.tickets.keys import issues, signing_keys
from sync_server.tickets.models import TicketRecord

MODULE_PIXELS: Final = 8
QUIET_ZONE: Final = 4
_MASK: Final = 3
"""Trying all eight takes four fifths of the time, and a signed code is as good as random.

Of sixty codes this mask had a penalty of 2,323 on average; the best of the eight, taken for each, 2,239.
"""


def code_text(session: Session, row: TicketRecord, sealer: Sealer) -> str:
    """The text of the code; Conflict for a cancelled ticket."""
    if row.state == TicketState.CANCELLED:
        raise Conflict("The ticket is cancelled and has no code.", code="ticket_cancelled")
    return code_texts(session, [row], sealer)[0]


def code_texts(session: Session, rows: Sequence[TicketRecord], sealer: Sealer) -> list[str]:
    """The codes of several tickets, unsealing each key once."""
    issues.finalise_claims(session, rows)
    keys = {(row.organisation_id, row.key_id) for row in rows}
    private = {name: signing_keys.private_key(signing_keys.key(session, *name), sealer) for name in keys}
    signers = [private[row.organisation_id, row.key_id] for row in rows]
    return [as_text(row.claims + key.sign(SIGNED_AS + row.claims)) for row, key in zip(rows, signers, strict=True)]


def party_text(session: Session, rows: Sequence[TicketRecord], sealer: Sealer) -> str:
    """The code that is good for all these tickets of one event, none of them cancelled; empty for one, or too many.

    Their own codes must have been asked for before. It is signed by the key of the newest of them, which every gate
    that knows that ticket holds, and is as old as that.
    """
    if not parties.SMALLEST <= len(rows) <= parties.LARGEST:
        return ""
    newest = max(rows, key=lambda row: (row.issued_at, row.id))
    _, key_id, event_number, *_ = claims.HEAD.unpack_from(newest.claims)
    members = (parties.Member(row.id, row.issue) for row in rows)
    key = signing_keys.key(session, newest.organisation_id, key_id)
    return sign(party_claims(key_id, event_number, newest.issued_at, members), signing_keys.private_key(key, sealer))


def svg(text: str) -> bytes:
    """A QR code as SVG, alphanumeric, error correction M."""
    out = io.BytesIO()
    qr_code(text).save(out, kind="svg", scale=MODULE_PIXELS, border=QUIET_ZONE, xmldecl=False)
    return out.getvalue()


def png(text: str) -> bytes:
    """A QR code as PNG."""
    out = io.BytesIO()
    qr_code(text).save(out, kind="png", scale=MODULE_PIXELS, border=QUIET_ZONE)
    return out.getvalue()


def qr_code(text: str) -> segno.QRCode:
    """The code as modules: alphanumeric, error correction M."""
    return segno.make_qr(text, error="m", mode="alphanumeric", boost_error=False, mask=_MASK)
