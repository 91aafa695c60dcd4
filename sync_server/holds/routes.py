"""/api/events/…/seats/…/reserve, /api/events/…/holds, /api/holds and /api/me/holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from apiflask import APIBlueprint
from flask import Response
from msgspec import structs
from sqlalchemy.orm import Session

from shared.errors import Conflict, GatehouseError, InvalidRequest, NotSignedIn
from shared.ids import UNKNOWN_ID, as_id
from sync_server.customers import queries as customers
from sync_server.customers.service import address_hash
from sync_server.holds import queries, schemas, service
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.groups.companions import NONE as NO_COMPANIONS
from sync_server.holds.groups.companions import Companions, companions_of, concern
from sync_server.holds.groups.group_holds import GroupHold, GroupRequest
from sync_server.holds.models import NEVER, HoldRow, HoldStatus
from sync_server.holds.ports import HoldPorts
from sync_server.holds.reserve import SeatReservation
from sync_server.holds.shown_codes import shown_codes
from sync_server.plumbing.api import idempotency
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import (
    client_address,
    context,
    current_principal,
    error_response,
    organisation,
    require,
    requires,
    sent_header,
)
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.rules import Visitor
from sync_server.seating.zone_access import memberships
from sync_server.seating.zone_access.entitlements import Bearer, GuestIdKind, guest_key

bp = APIBlueprint("holds", __name__, url_prefix="/api", tag="Holds")

MINE = "mine"
"""In place of a card: the membership that the customer has linked."""
_TIMES = ("expires_at", "sale_start_at", "sale_end_at")


@bp.after_request
def no_store(response: Response) -> Response:
    """What is free changes from moment to moment: nothing here may be cached."""
    response.headers.add("Cache-Control", "no-cache, no-store")  # no view sets it
    return response


@bp.errorhandler(NotSignedIn)
def not_signed_in(error: NotSignedIn) -> Response:
    """One code for guests who have no session, whether they never had one or it has ended."""
    if error.error_code == NotSignedIn.code:
        error.error_code = "unauthorized"
    return error_response(error)


@bp.post("/events/<event_id>/seats/<seat_id>/reserve")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.ReserveBody)
@bp.output(schemas.HoldAnswer, status_code=201)
@bp.doc(summary="Hold a seat", responses={200: "Already held by you", 201: "Held"})
@idempotency.repeatable
def reserve(event_id: str, seat_id: str, json_data: schemas.ReserveBody) -> Response:
    """Hold one seat for some minutes. Holding the same seat again returns the hold you have.

    A presale code, sent as `X-Codes`, may open the sale before it begins.
    """
    hold_request = _hold_request(json_data, event_id)
    stored = idempotency.stored_response()
    if stored is not None:
        return stored
    responder = _Responder(lambda held, beside: schemas.hold_view(held[0], hold_request.now, beside))
    with _recording_refusals(hold_request, event_id, seat_id):
        attempt = SeatReservation(
            hold_runtime(parts()), event_seatings(), hold_request, _id("event_id", event_id), _id("seat_id", seat_id)
        )
        if sent_header(idempotency.HEADER) is not None:
            return attempt.run_within(lambda hold: responder.idempotent(lambda session: [hold(session)]))
        return responder.plain([attempt.run()])


@bp.post("/events/<event_id>/holds")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.HoldBody)
@bp.output(schemas.GroupAnswer, status_code=201)
@bp.doc(summary="Hold for a group", responses={200: "Already held by you", 201: "All of it held"})
@idempotency.repeatable
def hold(event_id: str, json_data: schemas.HoldBody) -> Response:
    """Hold several seats, the best that are left, or places of a zone without seats: all of it or nothing."""
    hold_request = _hold_request(json_data, event_id)
    stored = idempotency.stored_response()
    if stored is not None:
        return stored
    responder = _Responder(lambda held, beside: _group_view(held, hold_request.now, beside))
    with _recording_refusals(hold_request, event_id, ""):
        attempt = _group_hold(hold_request, event_id, json_data)
        return (
            attempt.run_within(responder.idempotent)
            if sent_header(idempotency.HEADER) is not None
            else responder.plain(attempt.run())
        )


@bp.post("/events/<event_id>/holds/preview")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.PreviewBody)
@bp.output(schemas.PreviewAnswer)
@bp.doc(summary="Preview the best seats", responses={200: "The seats that the group would get"})
def preview(event_id: str, json_data: schemas.PreviewBody) -> Response:
    """Say which of the best seats a group would get now. Nothing is held, and others may be quicker."""
    return _json_response(
        schemas.preview_view(_group_hold(_hold_request(json_data, event_id), event_id, json_data).preview()), 200
    )


def _group_hold(hold_request: HoldRequest, event_id: str, body: schemas.HoldBody) -> GroupHold:
    group = GroupRequest(
        body.seat_ids or (),
        body.best or 0,
        body.count or 0,
        body.zone_ids or ([body.zone_id] if body.zone_id else []),
        body.wheelchairs,
        body.apart,
        body.price_category,
        body.passed_over_seat_ids,
    )
    return GroupHold(hold_runtime(parts()), event_seatings(), hold_request, _id("event_id", event_id), group)


@bp.get("/me/holds")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.MineQuery, location="query")
@bp.output(schemas.HoldsAnswer)
@bp.doc(summary="List your holds", responses={200: "Your holds"})
def mine(query_data: schemas.MineQuery) -> Response:
    """List your holds, at one event or at all."""
    runtime, now = hold_runtime(parts()), parts().clock()
    with parts().database.reading() as session:
        rows = queries.mine(session, organisation(), current_principal().id, now, query_data.event)
    states = {event: runtime.sale_states.current(organisation(), event) for event in {row.event_id for row in rows}}
    return _json_response({"holds": [_row_view(states[row.event_id], row, now) for row in rows]}, 200)


@bp.delete("/holds/<hold_id>")
@requires(Action.HOLD_SEATS)
@bp.doc(summary="Release a hold", responses={204: "Released"})
def release(hold_id: str) -> tuple[str, int]:
    """Release a hold of yours; the box office may release anybody's."""
    with parts().database.writing() as session:
        service.release(session, organisation(), hold_id, _bearer_id(), context())
    return "", 204


@bp.post("/holds/<hold_id>/extend")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.ReserveBody)
@bp.output(schemas.HoldAnswer)
@bp.doc(summary="Extend a hold", responses={200: "Extended"})
def extend(hold_id: str, json_data: schemas.ReserveBody) -> Response:
    """Extend a hold by its full time from now, once."""
    runtime = hold_runtime(parts())
    with parts().database.reading() as session:
        event_id = queries.hold(session, organisation(), _bearer_id(), hold_id).event_id
    hold_request = _hold_request(json_data, event_id)
    sale_state = runtime.sale_states.current(organisation(), event_id)
    with parts().database.writing() as session:
        row = service.extend(session, sale_state, hold_id, hold_request)
    return _json_response(_row_view(sale_state, row, hold_request.now), 200)


@dataclass(frozen=True, slots=True)
class _Responder:
    """Builds responses: 201 where anything was held now, 200 where the bearer held all of it before."""

    view: Callable[[list[HoldResult], Companions], dict[str, Any]]

    def plain(self, held: list[HoldResult]) -> Response:
        """A response for a request without an Idempotency-Key."""
        beside = NO_COMPANIONS
        if concern(held):
            with parts().database.reading() as session:
                beside = _companions(session, held)
        return self._counted(_json_response(self.view(held, beside), _status(held)))

    def idempotent(self, hold: Callable[[Session], list[HoldResult]]) -> Response:
        """The stored response of an Idempotency-Key, made at the first request."""
        held: list[HoldResult] = []

        def write(session: Session) -> dict[str, Any]:
            held[:] = hold(session)
            return {"data": self.view(held, _companions(session, held) if concern(held) else NO_COMPANIONS)}

        return self._counted(idempotency.run_once(write, status=lambda: _status(held)))

    @staticmethod
    def _counted(response: Response) -> Response:
        hold_runtime(parts()).metrics.count_attempt("held" if response.status_code == 201 else "held_already")
        return response


def _companions(session: Session, held: list[HoldResult]) -> Companions:
    sale_state = hold_runtime(parts()).sale_states.event(organisation(), held[0].event_id)
    return companions_of(session, sale_state, current_principal().id, held, parts().clock())


def _status(held: list[HoldResult]) -> int:
    return 201 if any(each.created for each in held) else 200


@contextmanager
def _recording_refusals(hold_request: HoldRequest, event_id: str, seat_id: str) -> Iterator[None]:
    """Count and audit refusals, and write their times as text."""
    try:
        yield
    except GatehouseError as refusal:
        runtime = hold_runtime(parts())
        runtime.metrics.count_attempt(refusal.error_code)
        seat = _seat_in_words(event_id, seat_id) if isinstance(refusal, Conflict) else None
        runtime.failures.note(hold_request, event_id, seat_id, refusal, seat)
        raise _with_iso_times(refusal) from None


def _seat_in_words(event_id: str, seat_id: str) -> str | None:
    """The seat that was just refused, by the event's cached plan."""
    if not seat_id:  # places, or several seats
        return None
    layout = hold_runtime(parts()).sale_states.event(organisation(), as_id(event_id)).plan.layout
    number = layout.find(seat_id)
    return layout.in_words(number) if number is not None else None


def _hold_request(body: schemas.ReserveBody, event_id: str) -> HoldRequest:
    principal = current_principal()
    if body.override:
        require(Action.ISSUE_TICKETS)
    organisation_id, address = organisation(), client_address()
    roles = frozenset(role for role in (principal.role, principal.platform_role) if role)
    visitor, card = _with_membership(Visitor(signed_in=principal.kind != "guest", roles=roles), body.membership)
    guest_keys = frozenset(
        {guest_key(parts().sealer, organisation_id, GuestIdKind.CODE, body.invitation)} if body.invitation else ()
    )
    return HoldRequest(
        organisation_id,
        principal.kind,
        principal.id,
        address_hash(address),
        context(),
        Bearer(visitor, guest_keys),
        body.override,
        body.source,
        body.notes,
        address,
        card,
        tuple(body.days or ()),
        (sent_header("X-Queue-Tab") or "")[:128],
        _is_let_in_early(event_id),
    )


def _is_let_in_early(event_id: str) -> bool:
    """Whether the codes of this request open the sale of the event before it begins."""
    codes = shown_codes()
    if not codes:
        return False
    event = EventKey(organisation(), _id("event_id", event_id))
    return parts().database.ports.of(HoldPorts).opens_sale(event, codes, context())


def _with_membership(visitor: Visitor, card: str | None) -> tuple[Visitor, str | None]:
    """The visitor with the membership of the card shown, and its id, which whoever issues tickets may give instead."""
    if not card:
        return visitor, None
    by_id = parts().may(current_principal(), Action.ISSUE_TICKETS)
    with parts().database.reading() as session:
        linked = _linked_membership(session) if card == MINE else ""
        found = (
            memberships.by_id(session, organisation(), linked)
            if linked
            else memberships.find_by_card(session, organisation(), card, parts().sealer, or_named=by_id)
        )
    if found is None:
        raise InvalidRequest("There is no such membership card.", code="membership_not_found", field="membership")
    tier, active = found.tier, found.counts(parts().clock())
    return structs.replace(visitor, signed_in=True, membership_tier=tier, membership_active=active), found.id


def _linked_membership(session: Session) -> str:
    """The membership that the customer who is signed in in this browser has proved to hold."""
    return customers.membership_of_guest(session, organisation(), current_principal().id, parts().clock())


def _bearer_id() -> str | None:
    """The bearer whose holds may be named; None, for anybody's, for the box office."""
    principal = current_principal()
    return None if parts().may(principal, Action.ISSUE_TICKETS) else principal.id


def _id(field: str, text: str) -> str:
    id = as_id(text)
    if id == UNKNOWN_ID:
        raise InvalidRequest(f"{field}: must be an id like 01980000-0000-7000-8000-000000000000.", field=field)
    return id


def _with_iso_times(refusal: GatehouseError) -> GatehouseError:
    """Times in the details of a refusal, as ISO 8601."""
    for name in _TIMES:
        if isinstance(refusal.details.get(name), int):
            refusal.details[name] = iso(refusal.details[name])
    return refusal


def _group_view(held: list[HoldResult], now: int, beside: Companions) -> dict[str, Any]:
    # A repeated request gets the same group id.
    group_id = next((each.group_id for each in (*filter(lambda one: one.created, held), *held)), None)
    return {"party_id": group_id, "holds": [schemas.hold_view(each, now, beside) for each in held]}


def _row_view(sale_state: SaleState, row: HoldRow, now: int) -> dict[str, Any]:
    seat = sale_state.plan.seat(row.seat) if row.seat is not None else None
    view = schemas.hold_view(service.result_of(sale_state, row, seat), now)
    if row.status == HoldStatus.SUSPENDED.value or row.held_until == NEVER:
        seconds_left = (row.remaining_ms or 0) // 1000
        view |= {"status": "suspended", "held_until": None, "held_until_unix": None, "expires_in_seconds": seconds_left}
        view["message"] = "The event is postponed. Your hold is suspended until it has a new date."
    return view


def _json_response(data: dict[str, Any], status: int) -> Response:
    return Response(orjson.dumps({"data": data}), status, content_type="application/json")
