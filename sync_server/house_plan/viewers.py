"""Who may look at an event's house, and how much: everybody at what is on the storefront, organisers at all of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.lifecycle import ALLOWS
from sync_server.events import public_queries
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


def viewer(session: Session, event_id: str) -> Viewer:
    """Whoever asks, for this event; NotFound where it is neither theirs nor shown to everybody."""
    facts = public_queries.listed_facts(session, event_id)
    who = maybe_principal()
    mine = facts is not None and who is not None and who.organisation_id == facts.organisation_id
    organiser = who is not None and mine and parts().may(who, Action.READ)
    if facts is None or not (organiser or ALLOWS[facts.status].show):
        raise _not_found()
    return Viewer(event_id, facts.organisation_id, organiser, ALLOWS[facts.status].show)


def require_shown(session: Session, who: Viewer) -> None:
    """NotFound once somebody who is no organiser may not see the event any more."""
    facts = public_queries.listed_facts(session, who.event_id)
    if facts is None or not (who.organiser or ALLOWS[facts.status].show):
        raise _not_found()


def _not_found() -> NotFound:
    return NotFound("There is no such event.", code="event_not_found")
