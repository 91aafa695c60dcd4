"""Ends holds (converted, expired, cancelled) and records it: audit log, facts, caches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final

import orjson
from sqlalchemy import ARRAY, BigInteger, ColumnElement, Executable, String, any_, func, null, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds.endings import outcomes
from sync_server.holds.models import HoldRow, HoldStatus
from sync_server.holds.signals import HoldsEnded
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.database import database_of
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.seating.plans.seat_plans import find_event_plan

FACTS: Final = {
    HoldStatus.CONVERTED: "seat_hold_converted",
    HoldStatus.EXPIRED: "seat_hold_expired",
    HoldStatus.CANCELLED: "seat_hold_released",
}
_PRESUMED: Final = 10
"""Elements of an array that PostgreSQL does not know yet."""
IS_OPEN: Final = HoldRow.status.in_((HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value))
"""The condition for holds that have not ended."""


def open_holds(session: Session, organisation_id: str, ids: Collection[str]) -> list[HoldRow]:
    """Those of these holds that have not ended, locked. The caller has locked their seats and places first."""
    if not ids:
        return []
    these = HoldRow.organisation_id == organisation_id, HoldRow.id.in_(sorted(ids))
    wanted = select(HoldRow).where(*these, IS_OPEN).order_by(HoldRow.id)
    rows = session.execute(wanted.with_for_update().execution_options(populate_existing=True)).scalars()
    return list(rows)


def end(
    session: Session,
    event_number: int,
    holds: Sequence[HoldRow],
    status: HoldStatus,
    context: ActionContext,
    *,
    dates: tuple[str, ...],
    reason: str = "",
) -> None:
    """Give these open holds their final status; the caller frees or sells their seats and places.

    `dates` are those of the event's days, by which facts name the days of a hold.
    """
    close(session, holds, status, context)
    record(session, event_number, holds, context, dates=dates, reason=reason)


def record(
    session: Session,
    event_number: int,
    holds: Sequence[HoldRow],
    context: ActionContext,
    *,
    dates: tuple[str, ...],
    reason: str = "",
) -> None:
    """Record how these holds have ended: an audit line and a fact for each."""
    for hold in holds:
        _record(session, event_number, hold, context, (reason, dates))


def close(session: Session, holds: Sequence[HoldRow], status: HoldStatus, context: ActionContext) -> None:
    """End holds without an audit line and a fact for each: the caller records them together."""
    if not holds:
        return
    for hold in holds:
        for name, value in _final(status, context).items():
            setattr(hold, name, value)
    session.flush()
    _tell(session, holds, status)


def convert(
    session: Session, holds: Sequence[HoldRow], context: ActionContext, for_order: str = ""
) -> Sequence[HoldRow]:
    """End holds of one organisation that were just sold, if they are still as they were; returns those that are.

    They become those of the order `for_order`, if there is one: only where no order had them before.
    """
    statement, values = asks_to_convert(session, holds, context, for_order)
    converted = {(str(row.id), row.quantity) for row in statement.rows(session, **values)}
    ended = [hold for hold in holds if (hold.id, hold.quantity) in converted]  # others were split since
    final = _final(HoldStatus.CONVERTED, context) | ({"order_id": for_order} if for_order else {})
    for hold in ended:
        for name, value in final.items():
            set_committed_value(hold, name, value)
    _tell(session, ended, HoldStatus.CONVERTED)
    return ended


def asks_to_convert(session: Session, holds: Sequence[HoldRow], context: ActionContext, for_order: str) -> Question:
    """What `convert` asks."""
    values = {"organisation": holds[0].organisation_id, "now": context.now}
    values |= {"order": for_order} if for_order else {}
    values["ids"] = among([hold.id for hold in holds], database_of(session).embedded)
    return _CONVERT[bool(for_order)], values


def _convert(embedded: bool, *, for_order: bool) -> Executable:
    row = HoldRow
    mine = row.organisation_id == placeholder("organisation"), is_among(embedded), IS_OPEN
    free = (row.order_id.is_(None), row.held_until > placeholder("now")) if for_order else ()
    values = {"status": HoldStatus.CONVERTED.value, "updated_at": placeholder("now", BigInteger())}
    values |= {"remaining_ms": null(), "origin": null(), "membership_id": null()}
    values |= {"order_id": placeholder("order")} if for_order else {}
    return update(row).where(*mine, *free).values(values).returning(row.id, row.quantity)


def among(ids: Collection[str], embedded: bool) -> Any:
    """The value of `ids` in `is_among`.

    For PostgreSQL the last one is repeated until there are as many as a plan for any list presumes: a shorter list
    would seem cheaper than that plan, and be planned anew each time, which takes longer than running it.
    """
    listed = sorted(ids)
    return orjson.dumps(listed).decode() if embedded else [*listed, *listed[-1:] * (_PRESUMED - len(listed))]


def is_among(embedded: bool) -> ColumnElement[bool]:
    """Whether a hold is one of `ids`, a placeholder."""
    if embedded:
        each = func.json_each(placeholder("ids", String())).table_valued("value")
        return HoldRow.id.in_(select(each.c.value))
    return HoldRow.id == any_(placeholder("ids", ARRAY(HoldRow.id.type)))


_CONVERT: Final = {for_order: PreparedChange(partial(_convert, for_order=for_order)) for for_order in (False, True)}


def _final(status: HoldStatus, context: ActionContext) -> dict[str, Any]:
    """What a hold is left with when it has ended."""
    changed = {"status": status.value, "remaining_ms": None, "updated_at": context.now}
    return changed | {"origin": None, "membership_id": None}


def _tell(session: Session, holds: Sequence[HoldRow], status: HoldStatus) -> None:
    for hold in holds:
        outcomes.count(session, EventKey(hold.organisation_id, hold.event_id), [(status.value, hold.days)])
    send(session, HoldsEnded(holds))


def _record(
    session: Session, event_number: int, hold: HoldRow, context: ActionContext, why: tuple[str, tuple[str, ...]]
) -> None:
    (reason, dates), status = why, HoldStatus(hold.status)
    name, where, now = FACTS[status], hold.organisation_id, context.now
    seat = seat_in_words(session, hold)
    after: dict[str, Any] = {"status": status.value, "event_id": hold.event_id, "seat": seat, "zone": hold.zone}
    after |= on_days(hold, dates)
    fact = Fact(name, where, now, subjects_of(hold, event_number), payload_of(hold, dates))
    record_change(session, context, Subject("hold", hold.id, None, after, reason), fact)


def seat_in_words(session: Session, hold: HoldRow) -> str | None:
    """The seat of a hold as people say it; None for places."""
    if hold.seat is None:
        return None
    plan = find_event_plan(session, hold.organisation_id, hold.event_id)
    return plan.layout.in_words(hold.seat) if plan is not None and plan.layout.has(hold.seat) else str(hold.seat)


def subjects_of(hold: HoldRow, event_number: int) -> dict[str, Any]:
    """The subjects of a fact about a hold."""
    return {"hold": hold.id, "event": hold.event_id, "event_number": event_number}


def on_days(hold: HoldRow, dates: tuple[str, ...]) -> dict[str, Any]:
    """The dates of the days that a hold is for, where an event has several."""
    names = ChosenDays(dates, hold.days).names
    return {"days": list(names)} if names else {}


def payload_of(hold: HoldRow, dates: tuple[str, ...]) -> dict[str, Any]:
    """The payload of a fact about a hold."""
    return {
        "kind": hold.kind,
        "seat": hold.seat,
        "zone": hold.zone,
        "quantity": hold.quantity,
        "held_until": hold.held_until,
        "bearer": f"{hold.bearer_kind}:{hold.bearer_id}",
        **on_days(hold, dates),
    }
