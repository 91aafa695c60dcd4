"""/api/events: creating and changing events, their status, zones and gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.lifecycle import EventStatus
from sync_server.events import queries, rules, schemas, service
from sync_server.events.cover_images.routes import bp as covers
from sync_server.events.lifecycle import replacing, status
from sync_server.events.models import EventRecord
from sync_server.events.relocation.routes import bp as places
from sync_server.events.series.routes import bp as series
from sync_server.events.views import event_view, event_views
from sync_server.outbox.queries import joined_elsewhere
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import once
from sync_server.plumbing.api.pagination import Page
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, require, requires, search

bp = APIBlueprint("events", __name__, url_prefix="/api", tag="Events")
bp.register_blueprint(places)
bp.register_blueprint(series)
bp.register_blueprint(covers)


@bp.post("/events")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.NewEvent)
@bp.output(schemas.EventView, status_code=201)
@once
def create(session: Session, json_data: schemas.NewEvent) -> schemas.EventView:
    """Create an event, as a draft."""
    _check_owner(json_data.owner_id)
    return _view(session, service.create_event(session, organisation(), json_data.model_dump(), context()))


@bp.get("/events")
@requires(Action.READ)
@bp.input(schemas.EventsQuery, location="query")
@bp.output(schemas.EventsView)
@search("status", "upcoming", "limit")
def listing(query_data: schemas.EventsQuery) -> schemas.EventsView:
    """List the organisation's events by start."""
    with parts().database.reading() as session:
        page = queries.events(
            session, organisation(), _filter(query_data), limit=query_data.limit, after=query_data.after
        )
        return _page(session, page)


@bp.get("/me/events")
@requires(Action.READ)
@bp.input(schemas.EventsQuery, location="query")
@bp.output(schemas.EventsView)
def mine(query_data: schemas.EventsQuery) -> schemas.EventsView:
    """List the events that you own, newest first."""
    owner_id = current_principal().id
    with parts().database.reading() as session:
        page = queries.events_of_owner(
            session, organisation(), owner_id, _filter(query_data), limit=query_data.limit, after=query_data.after
        )
        return _page(session, page)


def _page(session: Session, page: Page[EventRecord]) -> schemas.EventsView:
    joined = joined_elsewhere(session, [row.id for row in page.items])
    return schemas.EventsView(items=event_views(session, page.items, parts().clock(), joined), next=page.next)


def _view(session: Session, row: EventRecord, joined: Mapping[str, int] | None = None) -> schemas.EventView:
    return event_view(session, row, parts().clock(), joined)


def _filter(query: schemas.EventsQuery) -> queries.EventFilter:
    upcoming_from = parts().clock() if query.upcoming else None
    return queries.EventFilter(upcoming_from=upcoming_from, statuses=query.statuses(), **query.equal())


@bp.get("/events/<event_id>")
@requires(Action.READ)
@bp.output(schemas.EventView)
def show(event_id: str) -> schemas.EventView:
    """Show an event."""
    with parts().database.reading() as session:
        row = queries.event(session, organisation(), event_id)
        return tagged(_view(session, row, joined_elsewhere(session, [event_id])))


@bp.patch("/events/<event_id>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeEvent)
@bp.output(schemas.EventView)
def change(event_id: str, json_data: schemas.ChangeEvent) -> schemas.EventView:
    """Change an event; only the fields sent are changed."""
    short_notice_ms = parts().config.short_notice_hours * 3_600_000
    with parts().database.writing() as session:
        check_unchanged(lambda: _view(session, queries.event(session, organisation(), event_id, lock=True)))
        row = service.change_event(
            session, organisation(), event_id, json_data.changes(), context(), short_notice_ms=short_notice_ms
        )
        return tagged(_view(session, row))


def _check_owner(owner_id: str | None) -> None:
    """Only those who may change an event's status may give it to somebody else."""
    if owner_id is not None and owner_id != current_principal().id:
        require(Action.CHANGE_STATUS)


def _transition(path: str, target: EventStatus, summary: str) -> Callable[..., schemas.EventView]:
    """The route of one transition; an event that is called off may name its replacement."""
    action = rules.action_for(target)
    body = schemas.CalledOff if action is Action.CALL_OFF else schemas.Why

    def transition(event_id: str, json_data: schemas.Why) -> schemas.EventView:
        reason, by = json_data.reason, getattr(json_data, "replaced_by_event_id", None)
        with parts().database.writing() as session:
            issued = queries.event(session, organisation(), event_id, lock=True).tickets_issued
            row = replacing.change_status(session, organisation(), event_id, target, context(), reason=reason, by=by)
            affected = issued if action is Action.CALL_OFF else None
            return _view(session, row).model_copy(update={"tickets_affected": affected})

    transition.__name__, transition.__doc__ = path.replace("-", "_"), summary
    view = bp.input(body)(bp.output(schemas.EventView)(transition))
    return bp.post(f"/events/<event_id>/{path}")(requires(action)(view))


publish = _transition(
    "publish", EventStatus.PUBLISHED, "Publish an event: visitors see it, and it is on sale in its window."
)
unpublish = _transition(
    "unpublish", EventStatus.DRAFT, "Return a published event to draft, while no tickets are issued."
)
go_live = _transition("go-live", EventStatus.LIVE, "Open the doors: gates admit guests from now on.")
end = _transition("end", EventStatus.ENDED, "End an event: no more sales or admissions.")
cancel = _transition("cancel", EventStatus.CANCELLED, "Cancel an event for good.")
postpone = _transition("postpone", EventStatus.POSTPONED, "Postpone an event; sales stop until it has a new date.")
archive = _transition("archive", EventStatus.ARCHIVED, "Archive an event that is over.")


@bp.post("/events/<event_id>/reschedule")
@requires(Action.CHANGE_STATUS)
@bp.input(schemas.NewDate)
@bp.output(schemas.EventView)
def reschedule(event_id: str, json_data: schemas.NewDate) -> schemas.EventView:
    """Give a postponed event a new date; sale windows and ticket times shift with it unless `move_times` is false."""
    with parts().database.writing() as session:
        row = status.reschedule(
            session,
            organisation(),
            event_id,
            json_data.rescheduled_at,
            context(),
            move_times=json_data.move_times,
            reason=json_data.reason,
        )
        return _view(session, row)


@bp.post("/events/<event_id>/empty-house")
@requires(Action.CHANGE_STATUS)
@bp.input(schemas.Why)
@bp.output(schemas.EventView)
def empty_house(event_id: str, json_data: schemas.Why) -> schemas.EventView:
    """Discard all admissions so far: nobody is inside, no entry is used."""
    with parts().database.writing() as session:
        row = status.empty_venue(session, organisation(), event_id, context(), reason=json_data.reason)
        return _view(session, row)


@bp.get("/events/<event_id>/zones")
@requires(Action.READ)
@bp.output(schemas.ZonesView)
def zones(event_id: str) -> schemas.ZonesView:
    """List the zones of an event."""
    with parts().database.reading() as session:
        queries.event(session, organisation(), event_id)
        return schemas.ZonesView.of_all(queries.zones(session, organisation(), event_id))


@bp.post("/events/<event_id>/zones")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.NewZone)
@bp.output(schemas.ZoneView, status_code=201)
@once
def add_zone(session: Session, event_id: str, json_data: schemas.NewZone) -> schemas.ZoneView:
    """Add a zone to an event."""
    return schemas.ZoneView.of(service.add_zone(session, organisation(), event_id, json_data.model_dump(), context()))


@bp.patch("/events/<event_id>/zones/<int:number>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeZone)
@bp.output(schemas.ZoneView)
def change_zone(event_id: str, number: int, json_data: schemas.ChangeZone) -> schemas.ZoneView:
    """Change a zone of an event."""
    with parts().database.writing() as session:
        check_unchanged(lambda: schemas.ZoneView.of(queries.zone(session, *_locked(session, event_id), number)))
        changes = json_data.changes()
        return tagged(
            schemas.ZoneView.of(
                service.change_zone(session, organisation(), event_id, number, changes=changes, context=context())
            )
        )


@bp.get("/events/<event_id>/gates")
@requires(Action.READ)
@bp.output(schemas.EventGatesView)
def gates(event_id: str) -> schemas.EventGatesView:
    """List the entrances of an event, with the zones that they serve."""
    with parts().database.reading() as session:
        return _gates(session, event_id)


@bp.put("/events/<event_id>/gates/<int:number>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ServedZones)
@bp.output(schemas.EventGatesView)
def serve_zones(event_id: str, number: int, json_data: schemas.ServedZones) -> schemas.EventGatesView:
    """Let an entrance serve only these zones at this event; an empty list means all."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _gate(session, _locked(session, event_id).event_id, number))
        service.set_gate_zones(session, organisation(), event_id, number, zones=json_data.zones, context=context())
        return _gates(session, event_id)


def _locked(session: Session, event_id: str) -> EventKey:
    return queries.event(session, organisation(), event_id, lock=True).key


def _gate(session: Session, event_id: str, number: int) -> schemas.EventGateView:
    found = next((gate for gate in _gates(session, event_id).items if gate.number == number), None)
    if found is None:
        raise NotFound("This entrance does not exist.", code="gate_not_found")
    return found


def _gates(session: Session, event_id: str) -> schemas.EventGatesView:
    event = queries.event(session, organisation(), event_id)
    return schemas.EventGatesView.of_all(queries.gate_rows(session, event))
