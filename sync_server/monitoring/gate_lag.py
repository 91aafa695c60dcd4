"""How far gates are behind: scans that they have and the server has not, and changes that they have not fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.devices import queries as devices
from sync_server.devices.queries import HeardDevice
from sync_server.events import queries as events
from sync_server.events.overviews.active_events import active_event_ids
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries as revisions
from sync_server.scans import queries as scans

HEARD_WITHIN_MS: Final[Millis] = 86_400_000
"""A gate that was not heard for longer is put away."""


@dataclass(frozen=True, slots=True)
class GateLag:
    """Of the gate that is furthest behind."""

    undelivered_ms: Millis = 0
    """How long ago a gate last delivered that says it has more: nothing that is missing is older."""
    revisions: int = 0
    """Changes of a published or live event that a gate has not fetched."""


def gate_lag(session: Session, now: Millis) -> GateLag:
    """The lag of all gates that were heard within a day."""
    heard = devices.heard_since(session, now - HEARD_WITHIN_MS)
    owned = [(owner, list(group)) for owner, group in groupby(heard, lambda device: device.organisation_id)]
    since = [at for owner, group in owned for at in _undelivered_since(session, owner, group)]
    behind = [count for owner, group in owned for count in _revisions_behind(session, owner, group)]
    return GateLag(max(0, now - min(since, default=now)), max(behind, default=0))


def _undelivered_since(session: Session, organisation_id: str, heard: Sequence[HeardDevice]) -> Iterable[Millis]:
    enrolled = {device.number: device.enrolled_at for device in heard}
    missing = scans.delivered_before_missing(session, organisation_id, list(enrolled))
    return [enrolled[number] if at is None else at for number, at in missing.items()]


def _revisions_behind(session: Session, organisation_id: str, heard: Sequence[HeardDevice]) -> Iterable[int]:
    held = [(row["event"], row["revision"] or 0) for device in heard for row in device.rows]
    ids = events.ids(session, organisation_id, {number for number, _ in held})
    active = active_event_ids(session, [EventKey(organisation_id, id) for id in ids.values()])
    heads = {
        number: head.revision
        for number, id in ids.items()
        if id in active and (head := revisions.head(session, EventKey(organisation_id, id))) is not None
    }
    return [heads[number] - revision for number, revision in held if number in heads]
