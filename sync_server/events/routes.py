"""/api/events: creating and changing events, their status, zones and gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint
from flask import Response

from shared.lifecycle import EventStatus
from sync_server.events import queries, rules, schemas, service
from sync_server.events.cover_images.routes import bp as covers
from sync_server.events.lifecycle import replacing, status
from sync_server.events.relocation.routes import bp as places
from sync_server.events.series.routes import bp as series
from sync_server.outbox.queries import joined_elsewhere
from sync_server.plumbing.api.idempotency import run_once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, require, requires

bp = APIBlueprint("events", __name__, url_prefix="/api", tag="Events")
bp.register_blueprint(places)
bp.register_blueprint(series)
bp.register_blueprint(covers)


@bp.post("/events")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.NewEvent)
@bp.output(schemas.EventView, status_code=201)
def create(json_data: schemas.NewEvent) -> Response:
    """Create an event, as a draft."""
    _check_owner(json_data.owner_id)

    def write(session: Any) -> dict[str, Any]:
        row = service.create_event(session, organisation(), json_data.model_dump(), context())
        return schemas.EventView.of(row, parts().clock()).model_dump(mode="json")

    return run_once(write)


@bp.get("/events")
@requires(Action.READ)
@bp.input(schemas.EventsQuery, location="query")
@bp.output(schemas.EventsView)
def listing(query_data: schemas.EventsQuery) -> schemas.EventsView:
    """List the organisation's events by start."""
    with parts().database.reading() as session:
        page = queries.events(
            session, organisation(), _filter(query_data), limit=query_data.limit, after=query_data.after
        )
        joined = joined_elsewhere(session, [row.id for row in page.items])
    return schemas.EventsView.of(page.items, page.next, parts().clock(), joined)


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
        joined = joined_elsewhere(session, [row.id for row in page.items])
    return schemas.EventsView.of(page.items, page.next, parts().clock(), joined)


def _filter(query: schemas.EventsQuery) -> queries.EventFilter:
    return queries.EventFilter(
        query.statuses(),
        query.archived,
        query.venue_id,
        query.slug,
        query.recurrence_group_id,
        parts().clock() if query.upcoming else None,
    )


@bp.get("/events/<event_id>")
@requires(Action.READ)
@bp.output(schemas.EventView)
def show(event_id: str) -> schemas.EventView:
    """Show an event."""
    with parts().database.reading() as session:
        row = queries.event(session, organisation(), event_id)
        return schemas.EventView.of(row, parts().clock(), joined_elsewhere(session, [event_id]))


@bp.patch("/events/<event_id>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeEvent)
@bp.output(schemas.EventView)
def change(event_id: str, json_data: schemas.ChangeEvent) -> schemas.EventView:
    """Change an event; only the fields sent are changed."""
    _check_owner(json_data.owner_id)
    short_notice_ms = parts().config.short_notice_hours * 3_600_000
    with parts().database.writing() as session:
        row = service.change_event(
            session, organisation(), event_id, json_data.changes(), context(), short_notice_ms=short_notice_ms
        )
        return schemas.EventView.of(row, parts().clock())


def _check_owner(owner_id: str | None) -> None:
    """Only those who may change an event's status may give it to somebody else."""
    if owner_id is not None and owner_id != current_principal().id:
        require(Action.CHANGE_STATUS)


def _transition(path: str, target: EventStatus, summary: str) -> Callable[..., schemas.EventView]:
    """The route of one transition."""

    def transition(event_id: str, json_data: schemas.Why) -> schemas.EventView:
        with parts().database.writing() as session:
            row = status.change_status(session, organisation(), event_id, target, context(), reason=json_data.reason)
            return schemas.EventView.of(row, parts().clock())

    transition.__name__ = path.replace("-", "_")
    transition.__doc__ = summary
    view = bp.output(schemas.EventView)(transition)
    view = bp.input(schemas.Why)(view)
    view = requires(rules.action_for(target))(view)
    return bp.post(f"/events/<event_id>/{path}")(view)


def _call_off(path: str, target: EventStatus, summary: str) -> Callable[..., schemas.EventView]:
    """The route of a transition that may name a replacement."""

    def call_off(event_id: str, json_data: schemas.CalledOff) -> schemas.EventView:
        with parts().database.writing() as session:
            row = replacing.call_off(
                session,
                organisation(),
                event_id,
                target,
                context(),
                reason=json_data.reason,
                by=json_data.replaced_by_event_id,
            )
            return schemas.EventView.of(row, parts().clock())

    call_off.__name__, call_off.__doc__ = path, summary
    view = bp.output(schemas.EventView)(call_off)
    view = bp.input(schemas.CalledOff)(view)
    return bp.post(f"/events/<event_id>/{path}")(requires(rules.action_for(target))(view))


publish = _transition(
    "publish", EventStatus.PUBLISHED, "Publish an event: visitors see it, and it is on sale in its window."
)
unpublish = _transition(
    "unpublish", EventStatus.DRAFT, "Return a published event to draft, while no tickets are issued."
)
go_live = _transition("go-live", EventStatus.LIVE, "Open the doors: gates admit guests from now on.")
end = _transition("end", EventStatus.ENDED, "End an event: no more sales or admissions.")
cancel = _call_off("cancel", EventStatus.CANCELLED, "Cancel an event for good.")
postpone = _call_off("postpone", EventStatus.POSTPONED, "Postpone an event; sales stop until it has a new date.")
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
        return schemas.EventView.of(row, parts().clock())


@bp.post("/events/<event_id>/empty-house")
@requires(Action.CHANGE_STATUS)
@bp.input(schemas.Why)
@bp.output(schemas.EventView)
def empty_house(event_id: str, json_data: schemas.Why) -> schemas.EventView:
    """Discard all admissions so far: nobody is inside, no entry is used."""
    with parts().database.writing() as session:
        row = status.empty_venue(session, organisation(), event_id, context(), reason=json_data.reason)
        return schemas.EventView.of(row, parts().clock())


@bp.get("/events/<event_id>/zones")
@requires(Action.READ)
@bp.output(schemas.ZonesView)
def zones(event_id: str) -> schemas.ZonesView:
    """List the zones of an event."""
    with parts().database.reading() as session:
        queries.event(session, organisation(), event_id)
        return schemas.ZonesView(
            items=[schemas.ZoneView.of(row) for row in queries.zones(session, organisation(), event_id)]
        )


@bp.post("/events/<event_id>/zones")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.NewZone)
@bp.output(schemas.ZoneView, status_code=201)
def add_zone(event_id: str, json_data: schemas.NewZone) -> Response:
    """Add a zone to an event."""

    def write(session: Any) -> dict[str, Any]:
        row = service.add_zone(session, organisation(), event_id, json_data.model_dump(), context())
        return schemas.ZoneView.of(row).model_dump(mode="json")

    return run_once(write)


@bp.patch("/events/<event_id>/zones/<int:number>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeZone)
@bp.output(schemas.ZoneView)
def change_zone(event_id: str, number: int, json_data: schemas.ChangeZone) -> schemas.ZoneView:
    """Change a zone of an event."""
    with parts().database.writing() as session:
        row = service.change_zone(
            session, organisation(), event_id, number, changes=json_data.changes(), context=context()
        )
        return schemas.ZoneView.of(row)


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
        service.set_gate_zones(session, organisation(), event_id, number, zones=json_data.zones, context=context())
        return _gates(session, event_id)


def _gates(session: Any, event_id: str) -> schemas.EventGatesView:
    event = queries.event(session, organisation(), event_id)
    return schemas.EventGatesView(items=[schemas.EventGateView.of(row) for row in queries.gate_rows(session, event)])
