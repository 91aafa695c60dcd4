"""/api/events/…/covers: the pictures that an event is shown with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint
from flask import Response, request
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.events import cover_schemas, covers, queries
from sync_server.events.models import EventRecord
from sync_server.pictures import drawing
from sync_server.plumbing.once import answered, once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires

bp = APIBlueprint("covers", __name__, url_prefix="/events/<event_id>/covers", tag="Covers")

_AROUND = 64 * 1024  # what multipart adds to a picture


@bp.get("")
@requires(Action.READ)
@bp.output(cover_schemas.CoversView)
def listing(event_id: str) -> cover_schemas.CoversView:
    """List the covers of an event, the first one first."""
    with parts().database.reading() as session:
        return _view(queries.event(session, organisation(), event_id))


@bp.post("")
@requires(Action.EDIT_EVENTS)
@bp.output(cover_schemas.CoversView, status_code=201)
@bp.doc(
    summary="Add a cover: JPEG, PNG or WebP, as the whole body or as `file` of a form, with `alt` in query or form",
    responses={400: "No picture, or a damaged one", 409: "Eight covers hang already", 413: "Too many bytes or pixels"},
)
def add(event_id: str) -> Response:
    """Add a cover; it is drawn anew in every size, and nothing else of the file is kept."""
    with parts().database.reading() as session:
        queries.event(session, organisation(), event_id)
    content, alt = _sent()
    said = alt.encode() + b"\n" + content  # a form's own marks differ each time that it is sent
    before = answered(said=said)
    if before is not None:
        return before
    drawn = drawing.draw(content)  # before the transaction: others must not wait for it

    def write(session: Session) -> dict[str, Any]:
        return _view(covers.add(session, organisation(), event_id, drawn, deed(), alt=alt)).model_dump(mode="json")

    return once(write, said=said)


def _sent() -> tuple[bytes, str]:
    request.max_content_length = drawing.MOST_BYTES + _AROUND
    alt = request.args.get("alt", "")
    if request.mimetype == "multipart/form-data":
        file = request.files.get("file")
        if file is None:
            raise InvalidRequest("Send the picture as `file` of the form, or as the whole body.", field="file")
        content, alt = file.read(), request.form.get("alt", alt)
    else:
        content = request.get_data()
    if not content:
        raise InvalidRequest("There is no picture in this request: send it as the whole body.", field="file")
    return content, _words(alt)


def _words(alt: str) -> str:
    words = " ".join(alt.split())
    if len(words) > 300 or not words.isprintable():
        raise InvalidRequest("alt: at most 300 characters, all of them printable.", field="alt")
    return words


@bp.put("")
@requires(Action.EDIT_EVENTS)
@bp.input(cover_schemas.CoverOrder)
@bp.output(cover_schemas.CoversView)
def arrange(event_id: str, json_data: cover_schemas.CoverOrder) -> cover_schemas.CoversView:
    """Put the covers into this order; those that are left out are taken off."""
    return _changed(lambda session: covers.arrange(session, organisation(), event_id, json_data.ids, deed()))


@bp.patch("/<cover_id>")
@requires(Action.EDIT_EVENTS)
@bp.input(cover_schemas.CoverWords)
@bp.output(cover_schemas.CoversView)
def describe(event_id: str, cover_id: str, json_data: cover_schemas.CoverWords) -> cover_schemas.CoversView:
    """Say what a cover shows, for those who cannot see it."""
    words = _words(json_data.alt)
    return _changed(lambda session: covers.describe(session, organisation(), event_id, cover_id, deed(), alt=words))


@bp.delete("/<cover_id>")
@requires(Action.EDIT_EVENTS)
@bp.output(cover_schemas.CoversView)
def remove(event_id: str, cover_id: str) -> cover_schemas.CoversView:
    """Take a cover off; the picture is dropped with the last event that shows it."""
    return _changed(lambda session: covers.remove(session, organisation(), event_id, cover_id, deed()))


def _changed(change: Callable[[Any], EventRecord]) -> cover_schemas.CoversView:
    with parts().database.writing() as session:
        return _view(change(session))


def _view(row: EventRecord) -> cover_schemas.CoversView:
    return cover_schemas.CoversView(items=cover_schemas.covers_of(row.cover_images, row.cover_alts))
