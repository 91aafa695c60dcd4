"""/api/events/…/covers: the images that an event is shown with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint
from flask import Response, request

from shared.errors import InvalidRequest
from sync_server.events import queries
from sync_server.events.cover_images import cover_schemas, covers
from sync_server.events.models import EventRecord
from sync_server.images import rendering
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import repeatable, run_once, stored_response
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("covers", __name__, url_prefix="/events/<event_id>/covers", tag="Covers")

_MULTIPART_OVERHEAD = 64 * 1024


@bp.get("")
@requires(Action.READ)
@bp.output(cover_schemas.CoversView)
def listing(event_id: str) -> cover_schemas.CoversView:
    """List the covers of an event, in order."""
    with parts().database.reading() as session:
        return tagged(_view(queries.event(session, organisation(), event_id)))


@bp.post("")
@requires(Action.EDIT_EVENTS)
@bp.output(cover_schemas.CoversView, status_code=201)
@bp.doc(
    summary="Add a cover: JPEG, PNG or WebP, as the body or as `file` of a form, with `alt` in query or form",
    responses={
        400: "Missing or damaged image",
        409: "The event already has eight covers",
        413: "Too many bytes or pixels",
    },
)
@repeatable
def add(event_id: str) -> Response:
    """Add a cover; it is rendered in every size, and the original file is not stored."""
    with parts().database.reading() as session:
        queries.event(session, organisation(), event_id)
    content, alt = _uploaded()
    body = alt.encode() + b"\n" + content  # not the raw body: form boundaries differ each time
    stored = stored_response(said=body)
    if stored is not None:
        return stored
    image = rendering.render_image(content)  # before the transaction, so that no lock is held meanwhile

    return run_once(
        lambda session: _view(covers.add(session, organisation(), event_id, image, context(), alt=alt)), said=body
    )


def _uploaded() -> tuple[bytes, str]:
    request.max_content_length = rendering.MAX_BYTES + _MULTIPART_OVERHEAD
    alt = request.args.get("alt", "")
    if request.mimetype == "multipart/form-data":
        file = request.files.get("file")
        if file is None:
            raise InvalidRequest("Send the image as `file` of the form, or as the request body.", field="file")
        content, alt = file.read(), request.form.get("alt", alt)
    else:
        content = request.get_data()
    if not content:
        raise InvalidRequest("This request has no image. Send it as the request body.", field="file")
    return content, _clean_alt(alt)


def _clean_alt(alt: str) -> str:
    text = " ".join(alt.split())
    if len(text) > 300 or not text.isprintable():
        raise InvalidRequest("alt: at most 300 printable characters.", field="alt")
    return text


@bp.put("")
@requires(Action.EDIT_EVENTS)
@bp.input(cover_schemas.CoverOrder)
@bp.output(cover_schemas.CoversView)
def arrange(event_id: str, json_data: cover_schemas.CoverOrder) -> cover_schemas.CoversView:
    """Put the covers in this order; those left out are removed."""
    return _apply(event_id, lambda session: covers.arrange(session, organisation(), event_id, json_data.ids, context()))


@bp.patch("/<cover_id>")
@requires(Action.EDIT_EVENTS)
@bp.input(cover_schemas.CoverText)
@bp.output(cover_schemas.CoversView)
def describe(event_id: str, cover_id: str, json_data: cover_schemas.CoverText) -> cover_schemas.CoversView:
    """Change the alternative text of a cover."""
    alt = _clean_alt(json_data.alt)
    return _apply(
        event_id, lambda session: covers.describe(session, organisation(), event_id, cover_id, context(), alt=alt)
    )


@bp.delete("/<cover_id>")
@requires(Action.EDIT_EVENTS)
@bp.output(cover_schemas.CoversView)
def remove(event_id: str, cover_id: str) -> cover_schemas.CoversView:
    """Remove a cover; the image is deleted with the last event that uses it."""
    return _apply(event_id, lambda session: covers.remove(session, organisation(), event_id, cover_id, context()))


def _apply(event_id: str, change: Callable[[Any], EventRecord]) -> cover_schemas.CoversView:
    with parts().database.writing() as session:
        check_unchanged(lambda: _view(queries.event(session, organisation(), event_id, lock=True)))
        return tagged(_view(change(session)))


def _view(row: EventRecord) -> cover_schemas.CoversView:
    return cover_schemas.CoversView(items=cover_schemas.cover_views(row.cover_images, row.cover_alts))
