"""/api/events/…/badges: which badge gates print for tickets of each type, and its layout."""

from __future__ import annotations

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from shared.badges import ready_made
from shared.badges.layout import read_layout
from shared.errors import InvalidRequest
from sync_server.events import queries as events
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.ticket_files import badge_schemas as schemas
from sync_server.ticket_files.badges import with_logo, without_logo
from sync_server.ticket_files.design import design_of
from sync_server.tickets import queries as tickets
from sync_server.tickets.types import badge_layouts

bp = APIBlueprint("badges", __name__, tag="Tickets")


@bp.get("/badge-layouts")
@requires(Action.READ)
@bp.output(schemas.ReadyMadeView)
@bp.doc(summary="List the layouts that come along")
def ready_made_layouts() -> schemas.ReadyMadeView:
    """List the layouts of badges and wristbands that come along, to be used as they are or as a beginning."""
    found = [(name, ready_made.text_of(name)) for name in ready_made.names()]
    return schemas.ReadyMadeView(
        items=[schemas.LayoutView(name=name, title=read_layout(text).title, layout=text) for name, text in found]
    )


@bp.get("/events/<event_id>/badges")
@requires(Action.READ)
@bp.output(schemas.BadgesView)
@bp.doc(summary="List the badges of an event")
def badges(event_id: str) -> schemas.BadgesView:
    """List what gates print for tickets of each type; where nothing is printed the layout is empty."""
    with parts().database.reading() as session:
        event = events.event(session, organisation(), event_id)
        layouts = badge_layouts.layouts(session, event.key)
    return schemas.BadgesView(items=[_view(number, layouts[number]) for number in sorted(layouts)])


@bp.get("/events/<event_id>/ticket-types/<int:number>/badge")
@requires(Action.READ)
@bp.output(schemas.BadgeView)
@bp.doc(summary="Show the badge of a ticket type")
def badge(event_id: str, number: int) -> schemas.BadgeView:
    """Show what gates print for tickets of this type."""
    with parts().database.reading() as session:
        return tagged(_badge_of(session, event_id, number))


@bp.put("/events/<event_id>/ticket-types/<int:number>/badge")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChooseBadge)
@bp.output(schemas.BadgeView)
@bp.doc(summary="Choose the badge of a ticket type")
def choose(event_id: str, number: int, json_data: schemas.ChooseBadge) -> schemas.BadgeView:
    """Give a ticket type a badge, or another one: a layout that comes along, or one's own. Gates have it in seconds."""
    with parts().database.writing() as session:
        return tagged(_choose(session, event_id, number, _layout(session, json_data)))


@bp.delete("/events/<event_id>/ticket-types/<int:number>/badge")
@requires(Action.EDIT_EVENTS)
@bp.doc(summary="Remove the badge of a ticket type", responses={204: "Removed"})
def remove(event_id: str, number: int) -> tuple[str, int]:
    """Print nothing any more for tickets of this type."""
    with parts().database.writing() as session:
        _choose(session, event_id, number, "")
    return "", 204


def _choose(session: Session, event_id: str, number: int, layout: str) -> schemas.BadgeView:
    key = events.event(session, organisation(), event_id, lock=True).key
    check_unchanged(lambda: _badge_of(session, event_id, number))
    tickets.ticket_type(session, *key, number)
    badge_layouts.choose(session, key, [number], layout, context())
    session.flush()
    return _badge_of(session, event_id, number)


def _layout(session: Session, chosen: schemas.ChooseBadge) -> str:
    if chosen.layout is None:
        try:
            text = ready_made.text_of(chosen.ready_made or "")
        except KeyError:
            raise InvalidRequest(
                f"Layouts that come along are {', '.join(ready_made.names())}.", field="ready_made"
            ) from None
    else:
        text = chosen.layout
        read_layout(text)
    return with_logo(text, design_of(session, organisation()).logo)


def _badge_of(session: Session, event_id: str, number: int) -> schemas.BadgeView:
    key = EventKey(organisation(), event_id)
    row = tickets.ticket_type(session, *key, number)
    return _view(row.number, row.badge_layout)


def _view(number: int, layout: str) -> schemas.BadgeView:
    plain = without_logo(layout)
    return schemas.BadgeView(
        ticket_type=number,
        title=read_layout(plain).title if plain else "",
        layout=plain,
        logo=plain != layout,
    )
