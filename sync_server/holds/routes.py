"""/api/events/…/seats/…/reserve, /api/events/…/holds, /api/holds and /api/me/holds: seats for some minutes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import orjson
from apiflask import APIBlueprint
from flask import Response, request
from sqlalchemy.orm import Session

from shared.errors import GatehouseError, InvalidRequest, NotSignedIn
from sync_server.customers.service import origin_of
from sync_server.holds import queries, schemas, service
from sync_server.holds.asking import Asking, Held
from sync_server.holds.box_office import box_office
from sync_server.holds.known import Known
from sync_server.holds.models import NEVER, HoldRow, HoldStatus
from sync_server.holds.party import Party, Table
from sync_server.holds.reserve import Try
from sync_server.plumbing import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.shapes import iso
from sync_server.plumbing.web import (
    client_address,
    current_principal,
    deed,
    error_answer,
    organisation,
    require,
    requires,
)
from sync_server.seating import memberships
from sync_server.seating.access import Bearer, Named, name
from sync_server.seating.houses import houses
from sync_server.seating.rules import Visitor

bp = APIBlueprint("holds", __name__, url_prefix="/api", tag="Holds")

_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TIMES = ("expires_at", "sale_start_at", "sale_end_at")


@bp.after_request
def never_kept(answer: Response) -> Response:
    """What is free is another thing a moment later."""
    answer.headers["Cache-Control"] = "no-cache, no-store"
    return answer


@bp.errorhandler(NotSignedIn)
def nobody(error: NotSignedIn) -> Response:
    """Whoever holds is told so in the same word, whether they never came in or their visit has ended."""
    if error.error_code == NotSignedIn.code:
        error.error_code = "unauthorized"
    return error_answer(error)


@bp.post("/events/<event_id>/seats/<seat_id>/reserve")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.ReserveRequest)
@bp.doc(summary="Hold a seat", responses={200: "Held already, by you", 201: "Held"})
def reserve(event_id: str, seat_id: str, json_data: schemas.ReserveRequest) -> Response:
    """Hold one seat for some minutes. The same seat once more answers with the hold that you have."""
    asking = _asking(json_data)
    before = once.answered()
    if before is not None:
        return before
    told = _Told(lambda held: schemas.hold_view(held[0], asking.now))
    with _noted(asking, event_id, seat_id):
        attempt = Try(box_office(parts()), houses(), asking, _id("event_id", event_id), _id("seat_id", seat_id))
        if once.HEADER in request.headers:
            return attempt.run_within(lambda hold: told.once(lambda session: [hold(session)]))
        return told.plainly([attempt.run()])


@bp.post("/events/<event_id>/holds")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.HoldRequest)
@bp.doc(summary="Hold for a party", responses={200: "Held already, by you", 201: "Held, all of it"})
def hold(event_id: str, json_data: schemas.HoldRequest) -> Response:
    """Hold several seats, the best that are left, or places of a zone without seats: all of it or nothing."""
    asking = _asking(json_data)
    before = once.answered()
    if before is not None:
        return before
    zones = json_data.zone_ids or ([json_data.zone_id] if json_data.zone_id else [])
    party = Party(
        json_data.seat_ids or (),
        json_data.best or 0,
        json_data.count or 0,
        zones,
        json_data.wheelchairs,
        json_data.apart,
    )
    told = _Told(lambda held: _party_view(held, asking.now))
    with _noted(asking, event_id, ""):
        table = Table(box_office(parts()), houses(), asking, _id("event_id", event_id), party)
        return table.run_within(told.once) if once.HEADER in request.headers else told.plainly(table.run())


@bp.get("/me/holds")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.MineQuery, location="query")
@bp.doc(summary="What you hold", responses={200: "Your holds"})
def mine(query_data: schemas.MineQuery) -> Response:
    """List what you hold now, at one event or everywhere."""
    office, now = box_office(parts()), parts().clock()
    with parts().database.reading() as session:
        rows = queries.mine(session, organisation(), current_principal().id, now, query_data.event)
    known = {event: office.knowing.anew(organisation(), event) for event in {row.event_id for row in rows}}
    return _answer({"holds": [_row_view(known[row.event_id], row, now) for row in rows]}, 200)


@bp.delete("/holds/<hold_id>")
@requires(Action.HOLD_SEATS)
@bp.doc(summary="Give up a hold", responses={204: "Given up"})
def release(hold_id: str) -> tuple[str, int]:
    """Give up what you hold; the box office may give up anybody's."""
    with parts().database.writing() as session:
        service.release(session, organisation(), hold_id, _whose(), deed())
    return "", 204


@bp.post("/holds/<hold_id>/extend")
@requires(Action.HOLD_SEATS)
@bp.input(schemas.ReserveRequest)
@bp.doc(summary="Hold for longer", responses={200: "Held for as long again"})
def extend(hold_id: str, json_data: schemas.ReserveRequest) -> Response:
    """Hold for as long again, from now; once."""
    asking, office = _asking(json_data), box_office(parts())
    with parts().database.reading() as session:
        event_id = queries.hold(session, organisation(), _whose(), hold_id).event_id
    known = office.knowing.anew(organisation(), event_id)
    with parts().database.writing() as session:
        row = service.extend(session, known, hold_id, asking)
    return _answer(_row_view(known, row, asking.now), 200)


@dataclass(frozen=True, slots=True)
class _Told:
    """How those who hold are answered: 201 where anything was held now, 200 where all of it was theirs before."""

    view: Callable[[list[Held]], dict[str, Any]]

    def plainly(self, held: list[Held]) -> Response:
        """An answer that nobody remembers."""
        return self._counted(_answer(self.view(held), _status(held)))

    def once(self, hold: Callable[[Session], list[Held]]) -> Response:
        """The answer to an Idempotency-Key: the first one, however often it is asked for."""
        held: list[Held] = []

        def write(session: Session) -> dict[str, Any]:
            held[:] = hold(session)
            return {"data": self.view(held)}

        return self._counted(once.once(write, status=lambda: _status(held)))

    @staticmethod
    def _counted(answer: Response) -> Response:
        box_office(parts()).measures.tried("held" if answer.status_code == 201 else "held_already")
        return answer


def _status(held: list[Held]) -> int:
    return 201 if any(each.made for each in held) else 200


@contextmanager
def _noted(asking: Asking, event_id: str, seat_id: str) -> Iterator[None]:
    """Refusals are counted, written down and told in words."""
    try:
        yield
    except GatehouseError as why:
        office = box_office(parts())
        office.measures.tried(why.error_code)
        office.failures.note(asking, event_id, seat_id, why)
        raise _worded(why) from None


def _asking(said: schemas.ReserveRequest) -> Asking:
    who = current_principal()
    if said.override:
        require(Action.ISSUE_TICKETS)
    where = organisation()
    roles = frozenset(role for role in (who.role, who.platform_role) if role)
    visitor = _with_membership(Visitor(signed_in=who.kind != "guest", roles=roles), said.membership)
    names = frozenset({name(parts().sealer, where, Named.CODE, said.invitation)} if said.invitation else ())
    return Asking(
        where,
        who.kind,
        who.id,
        origin_of(client_address()),
        deed(),
        Bearer(visitor, names),
        said.override,
        said.source,
        said.notes,
    )


def _with_membership(visitor: Visitor, shown: str | None) -> Visitor:
    """The same with the membership of a card that is shown; whoever sells may name it by its id."""
    if not shown:
        return visitor
    may_name = parts().may(current_principal(), Action.ISSUE_TICKETS)
    with parts().database.reading() as session:
        found = memberships.shown(session, organisation(), shown, parts().sealer, or_named=may_name)
    if found is None:
        raise InvalidRequest("There is no such membership card.", code="membership_not_found", field="membership")
    tier, active = found.tier, found.counts(parts().clock())
    return replace(visitor, signed_in=True, membership_tier=tier, membership_active=active)


def _whose() -> str | None:
    """Whose holds these are: one's own, or for the box office anybody's."""
    who = current_principal()
    return None if parts().may(who, Action.ISSUE_TICKETS) else who.id


def _id(field: str, text: str) -> str:
    if not _ID.fullmatch(text):
        raise InvalidRequest(f"{field}: an id like 01980000-0000-7000-8000-000000000000 is expected.", field=field)
    return text.lower()


def _worded(why: GatehouseError) -> GatehouseError:
    """Times as people and scripts read them."""
    for told in _TIMES:
        if isinstance(why.details.get(told), int):
            why.details[told] = iso(why.details[told])
    return why


def _party_view(held: list[Held], now: int) -> dict[str, Any]:
    # Who asks for the same again is told of the same party.
    party_id = next((each.party_id for each in (*filter(lambda one: one.made, held), *held)), None)
    return {"party_id": party_id, "holds": [schemas.hold_view(each, now) for each in held]}


def _row_view(known: Known, row: HoldRow, now: int) -> dict[str, Any]:
    spot = known.plan.spots.get(known.plan.numbers.get(row.seat, "")) if row.seat is not None else None
    zone = known.plan.zones.get(row.zone)
    held = Held(
        row.id,
        row.event_id,
        spot,
        row.zone,
        zone.name if zone else "",
        row.quantity,
        row.held_until,
        party_id=row.party_id,
    )
    view = schemas.hold_view(held, now)
    if row.status == HoldStatus.SUSPENDED.value or row.held_until == NEVER:
        left = (row.remaining_ms or 0) // 1000
        view |= {"status": "suspended", "held_until": None, "held_until_unix": None, "expires_in_seconds": left}
        view["message"] = "The event is postponed. Your time stands still until it has a new date."
    return view


def _answer(data: dict[str, Any], status: int) -> Response:
    return Response(orjson.dumps({"data": data}), status, content_type="application/json")
