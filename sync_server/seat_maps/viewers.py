"""Who may see an event's map: everybody if the event is public, and its organisers always, in more detail."""

from __future__ import annotations

from dataclasses import dataclass

from shared.errors import NotFound
from shared.lifecycle import ALLOWS
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import maybe_principal
from sync_server.seat_maps.map_inputs import MapInputs


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer of one event."""

    event_id: str
    organisation_id: str  # the event's
    organiser: bool  # of this event's organisation


def viewer(inputs: MapInputs) -> Viewer:
    """The client as a viewer of this event; NotFound if it is neither theirs nor public."""
    who = maybe_principal()
    own = who is not None and who.organisation_id == inputs.organisation_id
    organiser = who is not None and own and parts().may(who, Action.READ)
    return _shown(inputs, organiser=organiser)


def visitor(inputs: MapInputs) -> Viewer:
    """Everybody, whoever the client is; NotFound if the event is not public."""
    return _shown(inputs, organiser=False)


def _shown(inputs: MapInputs, *, organiser: bool) -> Viewer:
    found = Viewer(inputs.event_id, inputs.organisation_id, organiser)
    require_shown(inputs, found)
    return found


def require_shown(inputs: MapInputs, who: Viewer) -> None:
    """NotFound if the event is no longer shown to this viewer."""
    if not (who.organiser or ALLOWS[inputs.status].show):
        raise NotFound("There is no such event.", code="event_not_found")
