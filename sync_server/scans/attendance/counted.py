"""How many more or fewer people supervisors have counted at gates than were scanned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.journal.scans import EntryKind, decode, zone_of
from sync_server.accounts import queries as accounts
from sync_server.plumbing.event_key import EventKey
from sync_server.scans.decisions import change_of
from sync_server.scans.models import DECISIONS, ScanEntry


class Counted(NamedTuple):
    """One correction, and where it was made."""

    gate: int
    zone: int
    change: int


def recorded(event: EventKey, since: Millis) -> ColumnElement[bool]:
    """Which entries may be corrections that still count: since the event day began, or the venue was emptied."""
    here = event.of(ScanEntry), DECISIONS, ScanEntry.kind == EntryKind.COUNT_CORRECTION, ScanEntry.at >= since
    return and_(*here, ~ScanEntry.quarantined)


def corrections(session: Session, event: EventKey, bodies: Sequence[bytes]) -> list[Counted]:
    """The corrections among these entries, which only supervisors of the organisation make."""
    if not bodies:
        return []
    supervisors = {row.number for row in accounts.supervisors(session, event.organisation_id)}
    entries = (decode(body) for body in bodies)
    found = [Counted(one.gate, zone_of(one), change_of(one)) for one in entries if one.override_by in supervisors]
    return [one for one in found if one.change]
