"""Request counters: a signed request is accepted once; a device that fell behind learns the highest counter."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.wire.http_signatures import CounterWindow
from sync_server.devices.models import RequestCounter
from sync_server.plumbing.sql.bulk import insert_many

WINDOW = 64


def take(session: Session, organisation_id: str, device_number: int, channel: str, counter: int) -> None:
    """Mark a counter as used; raises Conflict, with the highest one used, where it was used or is too old."""
    row = _locked(session, organisation_id, device_number, channel)
    before = CounterWindow(WINDOW, row.highest, int.from_bytes(row.seen, "big"))
    after, is_new = before.accept(counter)
    if not is_new:
        raise Conflict(
            "This request was sent before, or its counter is too old. Continue above the counter given in `last`.",
            code="counter_too_low",
            last=before.highest,
            channel=channel,
        )
    row.highest, row.seen = after.highest, after.seen.to_bytes(WINDOW // 8, "big")
    session.flush()


def _locked(session: Session, organisation_id: str, device_number: int, channel: str) -> RequestCounter:
    key = {"organisation_id": organisation_id, "device_number": device_number, "channel": channel}
    locked = select(RequestCounter).filter_by(**key).with_for_update()
    row = session.scalars(locked).one_or_none()
    if row is None:
        # Two first requests may come at once: the second waits here for the first one's row.
        initial = key | {"highest": 0, "seen": bytes(WINDOW // 8)}
        insert_many(session, RequestCounter, [initial], "ON CONFLICT DO NOTHING")
        row = session.scalars(locked).one()
    return row
