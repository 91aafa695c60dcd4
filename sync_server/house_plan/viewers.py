"""Who may look at an event's house, and how much: everybody at what is on the storefront, organisers at all of it."""

from __future__ import annotations

from dataclasses import dataclass

from shared.errors import NotFound
from shared.lifecycle import ALLOWS
from sync_server.house_plan.glances import Glance
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import maybe_principal


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at one event."""

    event_id: str
    organisation_id: str  # the event's
    organiser: bool  # of this event's organisation
    shown: bool  # whether everybody may see the event


def viewer(seen: Glance) -> Viewer:
    """Whoever asks, for this event; NotFound where it is neither theirs nor shown to everybody."""
    who = maybe_principal()
    mine = who is not None and who.organisation_id == seen.organisation_id
    organiser = who is not None and mine and parts().may(who, Action.READ)
    found = Viewer(seen.event_id, seen.organisation_id, organiser, ALLOWS[seen.status].show)
    require_shown(seen, found)
    return found


def require_shown(seen: Glance, who: Viewer) -> None:
    """NotFound once somebody who is no organiser may not see the event any more."""
    if not (who.organiser or ALLOWS[seen.status].show):
        raise NotFound("There is no such event.", code="event_not_found")
