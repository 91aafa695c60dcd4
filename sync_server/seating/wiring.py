"""Lets layouts follow what happens to venues and events."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.copying import COPIED
from sync_server.events.hanging import ASKED
from sync_server.events.moving import MOVED
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job
from sync_server.seating import following, releases
from sync_server.venues.service import ROOM_ASKED, USES_ASKED

RELEASES_EVERY_MS = 60_000


def wire(parts: Parts) -> None:
    """Act inside the transactions of lower floors."""
    parts.database.when(USES_ASKED, _count_layouts)
    parts.database.when(ROOM_ASKED, _say_room)
    parts.database.when(ASKED, following.count)
    parts.database.when(COPIED, following.copy_layout)
    parts.database.when(MOVED, _leave_house)
    parts.jobs.append(Job("seating.companion_releases", RELEASES_EVERY_MS, releases.look))


def _count_layouts(session: Session, asked: Any, _now: Millis) -> None:
    venue_id, uses = asked
    uses["layouts"] = following.layouts_at(session, venue_id)


def _say_room(session: Session, asked: Any, _now: Millis) -> None:
    venue_id, planned = asked
    planned |= following.room_at(session, venue_id)


def _leave_house(session: Session, moved: Any, _now: Millis) -> None:
    organisation_id, event_id, deed = moved
    following.leave_house(session, organisation_id, event_id, deed)
