"""The place of a guest in a queue, for the API and for pages: joining, and looking, which moves the queue on."""

from __future__ import annotations

from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.queueing import admission, queries, rules, schemas, service
from sync_server.queueing.figures import queue_figures
from sync_server.queueing.models import QueueEntryRow
from sync_server.queueing.service import Joined


def join(event: EventKey, guest_id: str) -> Joined:
    """Join the queue; whoever has a place keeps it."""
    to_be_drawn = queue_figures(parts()).of(*event).due(parts().clock(), None)
    with parts().database.writing() as session:
        if to_be_drawn:  # whoever joins now comes after those who waited
            admission.advance(session, *event, parts().sealer, context())
        return service.join(session, *event, guest_id, context())


def find(event: EventKey, guest_id: str) -> QueueEntryRow | None:
    """The guest's latest place."""
    with parts().database.autocommit_reading() as session:
        return queries.latest_entry(session, *event, guest_id)


def current(event: EventKey, entry: QueueEntryRow) -> schemas.PlaceView:
    """A place as it is now: whoever is next moves the queue on, and whoever waits keeps the place."""
    figures, now = queue_figures(parts()).of(*event), parts().clock()
    if entry.state == "waiting" and figures.due(now, entry.seq):
        with parts().database.writing() as session:
            admission.advance(session, *event, parts().sealer, context(), wait=False)
        entry = find(event, entry.bearer_id) or entry
        figures = queue_figures(parts()).of(*event, fresh=True)
    if entry.state == "waiting" and now < entry.expires_at and rules.renews(entry.expires_at, figures.opening, now):
        entry.expires_at = rules.expires_at(figures.opening, now)
        with parts().database.writing() as session:
            service.renew(session, *event, entry.bearer_id, entry.expires_at)
    return schemas.place_view(entry, figures, now)
