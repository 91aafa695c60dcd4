"""Links that show an event's wall without a login: made, opened and ended; they show figures and no names."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict, GatehouseError, InvalidRequest, NotFound, StorageError
from shared.ids import uuid7
from sync_server.audit import service as audit
from sync_server.live.models import WallLinkRow
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer

MOST: Final = 20
"""Open links of one event: more screens than a venue has."""
_PURPOSE: Final = "wall of an event"
WallLink = WallLinkRow


class LinkEnded(GatehouseError):
    """Somebody has ended this link."""

    status, code = 410, "wall_link_ended"


def make(session: Session, event: EventKey, name: str, context: ActionContext) -> WallLink:
    """A new link for a screen, named after where it hangs."""
    named = " ".join(name.split())
    if not 1 <= len(named) <= 80:
        raise InvalidRequest("Say in 1 to 80 characters where the screen hangs.", field="name")
    if len(open_links(session, event)) >= MOST:
        raise Conflict(f"An event has at most {MOST} open links. End one first.", code="too_many_wall_links")
    link = WallLinkRow(
        organisation_id=event.organisation_id,
        id=uuid7(context.now, context.entropy),
        event_id=event.event_id,
        name=named,
        created_at=context.now,
    )
    session.add(link)
    session.flush()
    _record(session, "wall_link.made", link, context)
    return link


def end(session: Session, event: EventKey, link_id: str, context: ActionContext) -> None:
    """End a link: its screen shows nothing from its next question on. Ending it twice changes nothing."""
    link = session.get(WallLinkRow, (event.organisation_id, link_id), with_for_update=True)
    if link is None or link.event_id != event.event_id:
        raise NotFound("There is no such link.", code="wall_link_not_found")
    if link.ended_at is None:
        link.ended_at = context.now
        session.flush()
        _record(session, "wall_link.ended", link, context)


def open_links(session: Session, event: EventKey) -> Sequence[WallLink]:
    """The links of an event that are open, oldest first."""
    found = select(WallLinkRow).where(event.of(WallLinkRow), WallLinkRow.ended_at.is_(None))
    return session.scalars(found.order_by(WallLinkRow.created_at, WallLinkRow.id)).all()


def token_of(sealer: Sealer, link: WallLink) -> str:
    """The code behind the # of the link."""
    named = UUID(link.organisation_id).bytes + UUID(link.id).bytes
    return urlsafe_b64encode(sealer.seal(named, _PURPOSE)).decode().rstrip("=")


def opened(session: Session, sealer: Sealer, token: str) -> EventKey:
    """The event that a link shows; NotFound for one that was cut off, LinkEnded for one that was ended."""
    organisation_id, link_id = _named(sealer, token)
    link = session.get(WallLinkRow, (organisation_id, link_id))
    if link is None:
        raise NotFound("There is no such link.", code="wall_link_not_found")
    if link.ended_at is not None:
        raise LinkEnded("Somebody has ended this link. Ask the organiser for another.")
    return EventKey(organisation_id, link.event_id)


def _named(sealer: Sealer, token: str) -> tuple[str, str]:
    try:
        named = sealer.open(urlsafe_b64decode(token + "=" * (-len(token) % 4)), _PURPOSE)
    except (NotBase64, ValueError, StorageError):
        raise NotFound("This link is not complete.", code="wall_link_not_found") from None
    return str(UUID(bytes=named[:16])), str(UUID(bytes=named[16:]))


def _record(session: Session, action: str, link: WallLink, context: ActionContext) -> None:
    # An audit line and no fact: nothing outside this page follows from it.
    subject = "event", link.event_id, link.organisation_id
    audit.record(session, audit.AuditLine(context, action, *subject, after={"link": link.id, "name": link.name}))
