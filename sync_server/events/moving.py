"""Moves an event to another venue: freely before sales, with explicit consent once somebody counts on the old one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus
from shared.snapshot import AnyRow, Row, RowKind
from sync_server.events import consent, queries, rules, showing
from sync_server.events.derived import derive, refuse_double
from sync_server.events.hanging import Hanging, hanging
from sync_server.events.models import EventRecord, GateZonesRecord
from sync_server.events.rows import own_rows
from sync_server.events.service import flush_or_say, place_of, put, tell
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.sealing import Sealer
from sync_server.venues import queries as venues
from sync_server.venues.queries import Place
from sync_server.venues.rules import check_open

MOVED: Final = "event_moved"


@dataclass(frozen=True, slots=True)
class Wish:
    """Where an event shall take place instead."""

    venue_id: str
    reason: str = ""
    token: str | None = None  # the consent that an earlier answer asked for


@dataclass(frozen=True, slots=True)
class _Move:
    """A move with everything that is looked up for it."""

    row: EventRecord
    there: Place
    means: dict[str, Any]
    wish: Wish
    deed: Deed


def move(
    session: Session,
    organisation_id: str,
    event_id: str,
    wish: Wish,
    deed: Deed,
    *,
    sealer: Sealer,
    may_consent: Callable[[], None],
) -> EventRecord:
    """The event at its new venue, with gates, layout and snapshot that fit.

    Conflict `consent_required` says what that means; `may_consent` raises for those who may not agree to it.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.check_movable(EventStatus(row.status))
    there = venues.venue(session, organisation_id, wish.venue_id, lock=True)
    _check_place(row, there)
    hangs = hanging(session, row, deed.now)
    move = _Move(row, there, _means(session, row, there, hangs), wish, deed)
    if row.ticket_sequence or hangs.taken:
        _require_consent(move, sealer, may_consent)
    _carry_out(session, move)
    return row


def _check_place(row: EventRecord, there: Place) -> None:
    if there.id == row.venue_id:
        raise Conflict("The event takes place at this venue already.", code="same_venue")
    check_open(there.archived_at is not None)
    rules.check_capacity(row.capacity, row.tickets_issued, there.max_capacity)


def _means(session: Session, row: EventRecord, there: Place, hangs: Hanging) -> dict[str, Any]:
    """What the move means, for people to read and for the consent to name."""
    return {
        "event_id": row.id,
        "from_venue": {"id": row.venue_id, "name": row.venue_name, "timezone": row.timezone},
        "to_venue": {"id": there.id, "name": there.name, "timezone": there.timezone},
        "tickets_issued": row.tickets_issued,
        "sold_or_held": hangs.taken,
        "layout_is_dropped": bool(hangs.uses.get("layouts")),
        "devices_choose_gates_anew": hangs.uses.get("devices", 0),
        "zones": [zone.name for zone in queries.zones(session, row.id)],
        "gates_that_go": [gate.code for gate in venues.gates(session, row.venue_id)],
        "gates_that_come": [gate.code for gate in venues.gates(session, there.id)],
    }


def _require_consent(move: _Move, sealer: Sealer, may_consent: Callable[[], None]) -> None:
    means, now = move.means, move.deed.now
    if means["layout_is_dropped"] and means["sold_or_held"]:
        raise Conflict(
            f"{means['sold_or_held']} seats or places of the present layout are sold or held, and the new venue does "
            "not have them. Cancel or move those tickets first, then move the event.",
            code="seats_taken",
            means=means,
        )
    purpose = f"move of event {move.row.id} of {move.row.organisation_id}"
    token = move.wish.token
    if token is None or not consent.given(sealer, purpose, means, token, now):
        raise _asking(means, consent.ask(sealer, purpose, means, now), stale=token is not None, now=now)
    may_consent()
    if not move.wish.reason:
        raise InvalidRequest("reason: say why the event moves; ticket holders will ask.", field="reason")


def _asking(means: dict[str, Any], token: str, *, stale: bool, now: Millis) -> Conflict:
    return Conflict(
        ("This consent is over, or things have changed since. " if stale else "")
        + f"{means['tickets_issued']} tickets are issued for {means['from_venue']['name']}. Moving to "
        f"{means['to_venue']['name']} keeps them good, changes the gates, and everybody must be told. Read what it "
        "means; an owner or admin who agrees sends the same again within ten minutes, with `consent` and a `reason`.",
        code="consent_required",
        means=means,
        consent=token,
        consent_until=now + consent.LASTS_MS,
    )


def _carry_out(session: Session, move: _Move) -> None:
    row, deed = move.row, move.deed
    old = venues.gates(session, row.venue_id)
    place = place_of(move.there)
    before = {name: getattr(row, name) for name in place}
    for name, value in place.items():
        setattr(row, name, value)
    row.updated_at = deed.now
    if row.status in queries.SHOWN:
        showing.check_findable(row, move.there)
    derive(row)
    refuse_double(session, row)
    flush_or_say(session)
    session.execute(delete(GateZonesRecord).where(GateZonesRecord.event_id == row.id))  # they speak of the old gates
    announce(session, MOVED, (row.organisation_id, row.id, deed), deed.now)
    rows: list[AnyRow | Row] = [Row(RowKind.GATE, gate.number, None) for gate in old]
    put(session, row, [*rows, *own_rows(row), *queries.gate_rows(session, row)])
    after = {**place, "means": move.means}
    tell(session, row, "event_moved", deed, before=before, after=after, reason=move.wish.reason)
