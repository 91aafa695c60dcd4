"""/sync/v1: the routes of the sync protocol for gates."""

from __future__ import annotations

import math
from typing import cast

from apiflask import APIBlueprint
from flask import Response, g, request
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from shared.errors import GatehouseError, InvalidRequest, NotFound, TooLarge
from shared.wire import protocol
from shared.words.numerals import whole
from sync_server.devices import queries as devices
from sync_server.devices import service as device_service
from sync_server.devices.identity import server_key
from sync_server.devices.rules import DeviceAction
from sync_server.plumbing.parts import parts
from sync_server.plumbing.sql.failures import Failure, failure_of, refusal
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.plumbing.web import context, request_id
from sync_server.revisions.service import gates_topic
from sync_server.sync import hello, pull, push
from sync_server.sync.signed import (
    answer,
    as_response,
    error_answer,
    message,
    signed_by_device,
    signer,
    signing_device,
)
from sync_server.waiting.handing_over import Answer, LongPoll, ReaderKind, hand_over, listener_url, may_wait

HELD_HERE_S = 1.0
"""How long a request that waits holds a thread where it did not come through the streams listener."""

bp = APIBlueprint("sync", __name__, url_prefix=protocol.PATH, enable_openapi=False)


@bp.post("/enrol")
def enrol() -> Response:
    """Enrol a machine that proves it read an enrolment code."""
    enrolment = message(protocol.EnrolRequest)
    g.bound_to, public = enrolment.proof, server_key().public
    with parts().database.writing() as session:
        result = hello.enrol(session, enrolment, public, parts().sealer, context())
    return error_answer(result) if isinstance(result, GatehouseError) else answer(result, bound_to=enrolment.proof)


@bp.post("/hello")
@signed_by_device("other", None)
def say_hello() -> Response:
    """Take a gate's report; a revoked device learns here that it is revoked."""
    report = message(protocol.HelloRequest)
    with parts().spans.span("gate sync hello"), parts().database.writing() as session:
        response = hello.hello(session, signing_device().device, report, listener_url(), parts().clock())
    return answer(response)


@bp.get("/snapshot")
@signed_by_device("pull", DeviceAction.PULL)
def snapshot() -> Response:
    """One frame of the rows of an event."""
    event, limit = _number("event", 0, 2**32 - 1), _number("limit", 1, pull.FRAME_ROWS, pull.FRAME_ROWS)
    now = parts().clock()
    with parts().spans.span("gate sync snapshot"), parts().database.reading() as session:
        response = pull.frame(
            session, signing_device().device, event, after=request.args.get("after", ""), limit=limit, now=now
        )
    return answer(response, position=f"{event}:{response.lineage.hex()}:{response.base_revision}")


@bp.post("/changes")
@signed_by_device("pull", DeviceAction.PULL)
def changes() -> Response:
    """What has changed; with `wait`, as soon as anything has."""
    wanted = message(protocol.ChangesRequest)
    _store_passing(wanted)
    poll = _long_poll(wanted)
    if may_wait():
        return hand_over(poll)
    found = poll.answer(not wanted.wait)
    if not isinstance(found, Answer):
        # An older gate, or one that cannot reach the listener. It asks again and again, so it is slowed down.
        parts().stop.wait(min(wanted.wait, HELD_HERE_S))
        found = poll.answer(True)
    return as_response(cast(Answer, found))


@bp.post("/journal")
@signed_by_device("push", DeviceAction.PUSH)
def journal() -> Response:
    """Take a part of a gate's journal."""
    upload = message(protocol.JournalRequest)
    with parts().spans.span("gate sync journal", entries=len(upload.entries)), parts().database.writing() as session:
        response = push.journal(session, signing_device().device, upload, parts().sealer, parts().clock())
    return answer(response)


def _long_poll(wanted: protocol.ChangesRequest) -> LongPoll:
    """What is new for the device that signed the request; runs on any thread."""
    database, device, sign = parts().database, signing_device().device, signer()
    key, spans = server_key().private, parts().spans

    def answer_now(over: bool) -> Answer | float:
        try:
            with spans.span("gate sync changes", events=len(wanted.events)):
                found = pull.changes(database, key, device, wanted, empty=over)
        except GatehouseError as error:  # such as a device that was revoked while it waited
            return sign.sign_error(error)
        if found is None:
            return math.inf
        position = ";".join(f"{batch.event}:{batch.lineage.hex()}:{batch.to_revision}" for batch in found.events)
        return sign.sign(found, position=position)

    with database.reading() as session:
        allowed = pull.allowed(session, device)
    topics = [gates_topic(event) for event in allowed.values()]
    return LongPoll(topics, wanted.wait, answer_now, ReaderKind.GATE)


def _store_passing(wanted: protocol.ChangesRequest) -> None:
    device, said = signing_device().device, hello.said_in_passing(wanted)
    with parts().database.reading() as session:
        rows, unsent = devices.reported(session, device.organisation_id, device.id)
    if said.health is not None or said.rows != rows or said.unsent not in {None, unsent}:
        with parts().database.writing() as session:
            device_service.store_passing(session, device.organisation_id, device.id, said, parts().clock())


def _number(name: str, low: int, high: int, default: int | None = None) -> int:
    text = request.args.get(name)
    if text is None and default is not None:
        return default
    number = whole(text or "", high)
    if number is None or number < low:
        raise InvalidRequest(f"`{name}` is a whole number from {low} to {high}.", field=name)
    return number


@bp.errorhandler(GatehouseError)
def _refusal(error: GatehouseError) -> Response:
    return error_answer(error)


@bp.errorhandler(HTTPException)
def _http_error(error: HTTPException) -> Response:
    if error.code == 413:
        return error_answer(TooLarge())
    return error_answer(NotFound() if error.code == 404 else InvalidRequest(error.description))


@bp.errorhandler(DBAPIError)
@bp.errorhandler(PoolTimeout)
def _database_failed(error: Exception) -> Response:
    # The signing key may not be loaded yet. Then the answer is unsigned, and the gate discards it and tries again.
    failure = failure_of(error)
    if failure is Failure.OURS:
        return _unexpected(error)
    LOG.error(f"database_{failure.name.lower()}", problem=type(error).__name__, request_id=request_id())
    return error_answer(refusal(failure))


@bp.errorhandler(Exception)
def _unexpected(error: Exception) -> Response:
    LOG.error("unexpected", request_id=request_id(), exc_info=error)
    return error_answer(GatehouseError())
