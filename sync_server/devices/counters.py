"""Request counters: a signed request is good once, and a device that fell behind is told from where to go on."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.http_signatures import CounterWindow
from sync_server.devices.models import RequestCounter
from sync_server.plumbing.many import insert_many

WINDOW = 64


def take(session: Session, device_number: int, channel: str, counter: int) -> None:
    """Use up this counter; Conflict tells the highest one that was used."""
    row = _locked(session, device_number, channel)
    before = CounterWindow(WINDOW, row.highest, int.from_bytes(row.seen, "big"))
    after, fresh = before.accept(counter)
    if not fresh:
        raise Conflict(
            "This request was sent before, or its counter is older than those used since. Go on above the one given.",
            code="counter_too_low",
            last=before.highest,
            channel=channel,
        )
    row.highest, row.seen = after.highest, after.seen.to_bytes(WINDOW // 8, "big")
    session.flush()


def _locked(session: Session, device_number: int, channel: str) -> RequestCounter:
    here = RequestCounter.device_number == device_number, RequestCounter.channel == channel
    held = select(RequestCounter).where(*here).with_for_update()
    row = session.scalars(held).one_or_none()
    if row is None:
        # Two first requests may come at once: whoever is second waits here for the first one's row.
        fresh = {"device_number": device_number, "channel": channel, "highest": 0, "seen": bytes(WINDOW // 8)}
        insert_many(session, RequestCounter, [fresh], "ON CONFLICT DO NOTHING")
        row = session.scalars(held).one()
    return row
