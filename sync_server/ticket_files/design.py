"""What tickets of an organisation look like: reads and changes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from PIL import Image
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.accounts.service import lock_organisation
from sync_server.appearance import accents
from sync_server.audit.service import AuditLine, record
from sync_server.images import rendering
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.ticket_files.models import TicketDesignRow

DEFAULT_COLOUR: Final = "#1f2937"
_LOGO: Final = (800, 240)
"""The most pixels of a logo: on paper it is some centimetres wide."""
MAX_LOGO_PIXELS: Final = 8_000_000


def design_of(session: Session, organisation_id: str) -> TicketDesignRow:
    """The design of an organisation's tickets, or the default."""
    row = session.get(TicketDesignRow, organisation_id)
    return row or TicketDesignRow(
        organisation_id=organisation_id, colour=DEFAULT_COLOUR, terms="", logo=None, embed_origins=[], updated_at=0
    )


def accent_of(row: TicketDesignRow) -> str:
    """The accent of pages: the colour of tickets, once another than the first is chosen."""
    return accents.DEFAULT if row.colour == DEFAULT_COLOUR else row.colour


def lock_design(session: Session, organisation_id: str) -> TicketDesignRow:
    """The design, locked until the transaction ends."""
    lock_organisation(session, organisation_id)
    return design_of(session, organisation_id)


def change_design(
    session: Session, organisation_id: str, changes: Mapping[str, Any], context: ActionContext
) -> TicketDesignRow:
    """Change colour, terms, and the websites that may show the shop."""
    row = lock_design(session, organisation_id)
    before = writes.change(row, dict(changes))
    return _changed(session, row, context, before, dict(changes))


def set_logo(session: Session, organisation_id: str, logo: bytes | None, context: ActionContext) -> TicketDesignRow:
    """Change the logo, as `rendered` made it, or remove it."""
    row = lock_design(session, organisation_id)
    before = {"logo": row.logo is not None}
    row.logo = logo
    return _changed(session, row, context, before, {"logo": logo is not None})


def _changed(
    session: Session, row: TicketDesignRow, context: ActionContext, before: dict[str, Any], after: dict[str, Any]
) -> TicketDesignRow:
    row.updated_at = context.now
    session.add(row)
    session.flush()
    subject = "ticket_design", row.organisation_id
    record(session, AuditLine(context, "ticket_design.changed", *subject, row.organisation_id, before, after))
    return row


def rendered(content: bytes) -> bytes:
    """A logo as PNG without any metadata, in the size that tickets need; InvalidRequest if it is no picture."""
    rendering.image_format(content)
    try:
        with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP")) as picture:
            if picture.width * picture.height > MAX_LOGO_PIXELS:
                raise InvalidRequest(
                    "The logo has too many pixels. Make it smaller and upload it again.", code="logo_too_large"
                )
            logo = picture.convert("RGBA")
    except (OSError, SyntaxError, ValueError, EOFError):
        raise InvalidRequest(
            "The picture is damaged. Save it again as JPEG, PNG or WebP, and upload that.", code="picture_damaged"
        ) from None
    logo.thumbnail(_LOGO)
    out = io.BytesIO()
    logo.save(out, "PNG", optimize=True)
    return out.getvalue()
