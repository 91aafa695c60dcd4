"""The pictures of an event: uploaded, looked at as guests will see them, described, and removed."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.events import queries
from sync_server.events.cover_images import covers
from sync_server.images import rendering
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/covers")
@page(Action.EDIT_EVENTS)
def event_covers(event_id: str) -> str:
    """The pictures in their order, and what stands in for one where there is none."""
    return _page(event_id, "")


def _page(event_id: str, problem: str) -> str:
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
    return render_page("event_covers.html", event=row, problem=problem)


def _back(event_id: str) -> WerkzeugResponse:
    return redirect(url_for("admin.event_covers", event_id=event_id))


@bp.post("/events/<event_id>/covers")
@page(Action.EDIT_EVENTS)
def add_cover(event_id: str) -> Page:
    """Add a picture; it is rendered in every size, and its file is not kept."""
    here, file = current_organisation(), request.files.get("file")
    try:
        content = file.stream.read(rendering.MAX_BYTES + 1) if file else b""
        if not content:
            raise InvalidRequest(words()("covers.choose"), field="file")
        image = rendering.render_image(content)  # before the transaction, so that no lock is held meanwhile
        with parts().database.writing() as session:
            covers.add(session, here, event_id, image, context(), alt=forms.text("alt", 300))
    except GatehouseError as error:
        return _page(event_id, error.message), error.status
    return _back(event_id)


@bp.post("/events/<event_id>/covers/<cover_id>/first")
@page(Action.EDIT_EVENTS)
def put_cover_first(event_id: str, cover_id: str) -> Page:
    """Show this picture first: on tiles, in lists and where the event is shared."""
    here = current_organisation()
    with parts().database.writing() as session:
        row = queries.event(session, here, event_id, lock=True)
        others = [each for each in row.cover_images if each != cover_id]
        covers.arrange(session, here, event_id, [cover_id, *others], context())
    return _back(event_id)


@bp.post("/events/<event_id>/covers/<cover_id>/remove")
@page(Action.EDIT_EVENTS)
def remove_cover(event_id: str, cover_id: str) -> Page:
    """Take a picture off the event."""
    with parts().database.writing() as session:
        covers.remove(session, current_organisation(), event_id, cover_id, context())
    return _back(event_id)
