"""The rows that a hold of one seat consists of: the hold, its audit line with the personal part, and its fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds.attempts import statement
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.models import HoldStatus
from sync_server.outbox import service as outbox
from sync_server.outbox.service import Fact
from sync_server.plumbing.sql.tables import bits_text
from sync_server.seating.plans.layout_seats import Seat


class SeatHold(Struct, frozen=True):
    """A hold of one seat."""

    id: str
    seat: Seat
    until: Millis
    days: ChosenDays
    group_id: str | None = None

    def result(self, sale_state: SaleState) -> HoldResult:
        """As its bearer sees it."""
        seat, zone = self.seat, sale_state.plan.zones[self.seat.zone]
        days, group_id = self.days, self.group_id
        return HoldResult(self.id, sale_state.id, seat, seat.zone, zone.name, 1, self.until, days, group_id=group_id)


class HoldRows(Struct, frozen=True):
    """Columns by name."""

    hold: dict[str, Any]
    line: dict[str, Any]
    personal: Sequence[dict[str, Any]]
    fact: dict[str, Any]

    def values(self) -> dict[str, Any]:
        """The parameters of the statements that hold one seat, without those that they have already."""
        named, line, fact = statement.named, self.line, self.fact
        return {
            **named("hold", self.hold),
            **named("line", {**line, "before": _text(line["before"]), "after": _text(line["after"])}),
            **named("personal", self.personal[0] if self.personal else {}),
            **named("fact", {**fact, "subjects": _text(fact["subjects"]), "payload": _text(fact["payload"])}),
        }


def hold_rows(sale_state: SaleState, request: HoldRequest, held: SeatHold, origin: str | None) -> HoldRows:
    """The rows of this hold; `origin` is the address, where holds of one address are limited."""
    context, where, now, seat = request.context, sale_state.organisation_id, request.now, held.seat
    kept: dict[str, Any] = {"seat": seat.number, "zone": seat.zone, "quantity": 1, "held_until": held.until}
    on_days = {"days": list(held.days.names)} if held.days.names else {}
    hold = {
        "id": held.id,
        "organisation_id": where,
        "event_id": sale_state.id,
        "days": bits_text(held.days.bits),
        "kind": "seat",
        **kept,
        "bearer_kind": request.kind,
        "bearer_id": request.id,
        "group_id": held.group_id,
        "status": HoldStatus.ACTIVE.value,
        "extended": 0,
        "source": request.source,
        "notes": request.notes,
        "origin": origin,
        "membership_id": request.card,
        "created_at": now,
        "updated_at": now,
    }
    after = {"status": "active", "event_id": sale_state.id, **kept, **on_days, "source": request.source}
    after["seat"] = sale_state.plan.layout.in_words(seat.number)
    line = AuditLine(context, "seat_reserved", "hold", held.id, where, after=after)
    audit.require_reason(line)
    written = audit.audit_rows(line, uuid7(now, context.entropy), context.entropy)
    subjects = {"hold": held.id, "event": sale_state.id, "event_number": sale_state.number}
    payload = {"kind": "seat", **kept, **on_days, "bearer": f"{request.kind}:{request.id}", "seat_id": seat.id}
    fact = outbox.fact_row(Fact("seat_held", where, now, subjects, payload), context.entropy)
    return HoldRows(hold, written.line, written.personal, fact)


def _text(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
