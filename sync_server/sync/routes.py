"""/sync/v1: the addresses that gates speak to."""

from __future__ import annotations

from collections.abc import Sequence

from apiflask import APIBlueprint
from flask import Response, g, request
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from shared import protocol
from shared.errors import GatehouseError, InvalidRequest, NotFound, TooLarge, Unavailable
from sync_server.devices import queries as devices
from sync_server.devices import service as device_service
from sync_server.devices.identity import server_key
from sync_server.devices.rules import Act
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import parts
from sync_server.plumbing.streams import Crowd, streams
from sync_server.plumbing.web import current_actor, request_id
from sync_server.revisions.access import bell
from sync_server.sync import hello, pull, push
from sync_server.sync.signed import answer, asker, error_answer, message, signed_by_device

bp = APIBlueprint("sync", __name__, url_prefix=protocol.PATH, enable_openapi=False)


@bp.post("/enrol")
def enrol() -> Response:
    """A machine shows that it read an enrolment code."""
    asked = message(protocol.EnrolRequest)
    g.bound_to, public = asked.proof, server_key().public
    with parts().database.writing() as session:
        told = hello.enrol(session, asked, public, parts().sealer, actor=current_actor(), now=parts().clock())
    return error_answer(told) if isinstance(told, GatehouseError) else answer(told, bound_to=asked.proof)


@bp.post("/hello")
@signed_by_device("other", None)
def say_hello() -> Response:
    """A gate says what it is and holds; a device that was shut out is told so here."""
    asked = message(protocol.HelloRequest)
    with parts().database.writing() as session:
        told = hello.hello(session, asker().device, asked, parts().clock())
    return answer(told)


@bp.get("/snapshot")
@signed_by_device("pull", Act.PULL)
def snapshot() -> Response:
    """One frame of all rows of an event."""
    event, limit = _number("event", 0, 2**32 - 1), _number("limit", 1, pull.FRAME_ROWS, pull.FRAME_ROWS)
    now = parts().clock()
    with parts().database.reading() as session:
        told = pull.frame(session, asker().device.id, event, after=request.args.get("after", ""), limit=limit, now=now)
    return answer(told, position=f"{event}:{told.lineage.hex()}:{told.base_revision}")


@bp.post("/changes")
@signed_by_device("pull", Act.PULL)
def changes() -> Response:
    """What has changed; with `wait`, a long poll that holds one of the gates' own seats."""
    asked = message(protocol.ChangesRequest)
    _note_rows(asked.events)
    waiting = pull.Waiting(parts().database, bell(), parts().stop, server_key().private)
    if not asked.wait:
        return _changes(waiting, asked)
    with streams().seat(Crowd.GATE):
        return _changes(waiting, asked)


@bp.post("/journal")
@signed_by_device("push", Act.PUSH)
def journal() -> Response:
    """A stretch of a gate's journal."""
    asked = message(protocol.JournalRequest)
    with parts().database.writing() as session:
        told = push.journal(session, asker().device, asked, parts().sealer, parts().clock())
    return answer(told)


def _changes(waiting: pull.Waiting, asked: protocol.ChangesRequest) -> Response:
    told = pull.changes(waiting, asker().device.id, asked)
    position = ";".join(f"{batch.event}:{batch.lineage.hex()}:{batch.to_revision}" for batch in told.events)
    return answer(told, position=position)


def _note_rows(events: Sequence[protocol.EventAt]) -> None:
    device_id, rows = asker().device.id, hello.rows_held(events)
    with parts().database.reading() as session:
        known = devices.rows_told(session, device_id)
    if rows != known:
        with parts().database.writing() as session:
            device_service.note_rows(session, device_id, rows)


def _number(name: str, low: int, high: int, default: int | None = None) -> int:
    text = request.args.get(name)
    if text is None and default is not None:
        return default
    if text is None or not text.isdecimal() or not low <= int(text) <= high:
        raise InvalidRequest(f"`{name}` is a whole number from {low} to {high}.", field=name)
    return int(text)


@bp.errorhandler(GatehouseError)
def _told(error: GatehouseError) -> Response:
    return error_answer(error)


@bp.errorhandler(HTTPException)
def _from_web(error: HTTPException) -> Response:
    if error.code == 413:
        return error_answer(TooLarge())
    return error_answer(NotFound() if error.code == 404 else InvalidRequest(error.description))


@bp.errorhandler(OperationalError)
@bp.errorhandler(PoolTimeout)
def _database_away(error: Exception) -> Response:
    LOG.error("database_away", problem=type(error).__name__, request_id=request_id())
    # The signing key may not be known yet: then there is nothing to sign with, and a gate discards what is not signed.
    return error_answer(
        Unavailable("The server's database does not answer for the moment. Nothing was lost. Try again.")
    )


@bp.errorhandler(Exception)
def _unexpected(error: Exception) -> Response:
    LOG.error("unexpected", request_id=request_id(), exc_info=error)
    return error_answer(GatehouseError())
