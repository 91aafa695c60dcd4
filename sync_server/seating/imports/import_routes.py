"""/api/imports, and the large bodies that become imports instead of being read while everybody waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from apiflask import APIBlueprint
from flask import Response, request
from sqlalchemy.orm import Session

from shared.errors import TooLarge
from sync_server.plumbing.api.idempotency import run_once
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, require, requires
from sync_server.seating.imports import import_schemas as schemas
from sync_server.seating.imports import queue
from sync_server.seating.imports.queue import GuestUpload, Upload

DIRECT_BYTES: Final = 256 * 1024
"""Of a layout that is read while its sender waits: some thousand seats, a fraction of a second."""
UNNAMED: Final = "Seating plan"

P = ParamSpec("P")
T = TypeVar("T")

bp = APIBlueprint("imports", __name__, url_prefix="/imports", tag="Seating")


def is_large() -> bool:
    """Whether the body of this request takes so long to read that it becomes an import."""
    return len(request.get_data(cache=True)) > DIRECT_BYTES


def imported_if_large(view: Callable[P, T]) -> Callable[P, T | Response]:
    """Make an import of a large layout in our own JSON, before anything reads its body."""

    @wraps(view)
    def either(*args: P.args, **kwargs: P.kwargs) -> T | Response:
        if not is_large():
            return view(*args, **kwargs)
        given: Any = kwargs
        return start(Upload(given["venue_id"], given.get("layout_id"), "gatehouse", UNNAMED))

    return either


def refused_if_large(view: Callable[P, T]) -> Callable[P, T]:
    """Refuse a large layout where it would replace a draft in one go."""

    @wraps(view)
    def direct(*args: P.args, **kwargs: P.kwargs) -> T:
        if is_large():
            raise TooLarge(
                f"Drafts of more than {DIRECT_BYTES // 1024} kB are not replaced in place: "
                "send this layout as a new version, to …/versions.",
                code="layout_too_large",
            )
        return view(*args, **kwargs)

    return direct


def start(upload: Upload) -> Response:
    """Take the body of this request as a file to import; 202, and where to look at it."""
    return start_parts(upload, queue.pieces(request.get_data(cache=True)))


def start_parts(upload: Upload | GuestUpload, pieces: Iterable[bytes]) -> Response:
    """Take these parts as a file to import; 202, and where to look at it."""
    begun: list[str] = []

    def receive(session: Session) -> schemas.ImportView:
        row = queue.receive(session, organisation(), upload, context())
        begun.append(row.id)
        return schemas.import_view(row)

    response = run_once(receive, status=202)
    for import_id in begun:  # none where the request was repeated
        queue.store_parts(parts().database, organisation(), import_id, pieces)
    response.headers["Location"] = f"/api/imports/{response.get_json()['id']}"
    return response


@bp.get("")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.ImportsView)
def listing(query_data: PageQuery) -> schemas.ImportsView:
    """List imports of layouts and guest lists, the newest first; those of the last month."""
    with parts().database.reading() as session:
        page = queue.imports(session, organisation(), limit=query_data.limit, after=query_data.after)
    return schemas.ImportsView(items=[schemas.import_view(row) for row in page.items], next=page.next)


@bp.get("/<import_id>")
@requires(Action.READ)
@bp.output(schemas.ImportView)
def show(import_id: str) -> schemas.ImportView:
    """Show how far an import is, its mistakes, and what became of it."""
    with parts().database.reading() as session:
        return schemas.import_view(queue.find(session, organisation(), import_id))


@bp.post("/<import_id>/cancel")
@requires(Action.EDIT_EVENTS)
@bp.output(schemas.ImportView)
def cancel(import_id: str) -> schemas.ImportView:
    """Cancel an import; what is stored of it is deleted. Whoever cancels that of a layout may edit venues too."""
    with parts().database.writing() as session:
        if queue.find(session, organisation(), import_id).event_id is None:
            require(Action.EDIT_VENUES)
        return schemas.import_view(queue.cancel(session, organisation(), import_id, context()))
