"""Adds movements for the other gates, and counts for the organiser, from accepted entries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.admission import Direction, Mode
from shared.journal.scans import Entry, EntryKind, movement_of
from shared.wire.snapshot import Movement
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.revisions import service as revisions
from sync_server.scans.models import MovementRow, ScanCount
from sync_server.scans.storage import Stored

_ADD_UP = (
    "ON CONFLICT (organisation_id, event_id, gate, direction, reason) DO UPDATE SET n = scan_counts.n + excluded.n"
)
_DIRECTIONS = frozenset(Direction)
_PRESENTED = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})


def add_counts(session: Session, organisation_id: str, stored: Sequence[Stored]) -> None:
    """Add real presentations to the counts of their gates, in one order everywhere to avoid deadlocks."""
    counted = Counter(
        (organisation_id, one.event_id, one.entry.gate, one.entry.direction, one.entry.reason[:24])
        for one in stored
        if one.event_id and _is_counted(one.entry)
    )
    columns = ("organisation_id", "event_id", "gate", "direction", "reason")
    rows = [dict(zip(columns, key, strict=True)) | {"n": n} for key, n in sorted(counted.items())]
    insert_many(session, ScanCount, rows, _ADD_UP)


def _is_counted(entry: Entry) -> bool:
    presented = entry.kind in _PRESENTED and entry.mode == Mode.REAL
    return presented and entry.direction in _DIRECTIONS


def add_movements(session: Session, organisation_id: str, stored: Sequence[Stored]) -> None:
    """Number movements in commit order. Call it late in the transaction: it locks the heads of the events."""
    by_event: dict[EventKey, list[tuple[Movement, bytes]]] = defaultdict(list)
    for one in stored:
        movement = movement_of(one.entry, one.at)
        if movement is not None and one.event_id:
            by_event[EventKey(organisation_id, one.event_id)].append((movement, one.hash))
    for event in sorted(by_event):
        arrivals = revisions.allot_arrivals(session, event, len(by_event[event]))
        numbered = zip(arrivals, by_event[event], strict=True)
        rows = [_row(event, arrival, movement, digest) for arrival, (movement, digest) in numbered]
        insert_many(session, MovementRow, rows, "ON CONFLICT DO NOTHING")


def _row(event: EventKey, arrival: int, movement: Movement, digest: bytes) -> dict[str, object]:
    device, branch, seq = movement.annuls or (None, None, None)
    return event._asdict() | {
        "device": movement.device,
        "branch": movement.branch,
        "seq": movement.seq,
        "hash": digest,
        "arrival": arrival,
        "kind": int(movement.kind),
        "ticket": movement.ticket_id,
        "issue": movement.issue,
        "code_hash": movement.code_hash,
        "at": movement.at,
        "gate": movement.gate,
        "zone": movement.zone,
        "annuls_device": device,
        "annuls_branch": branch,
        "annuls_seq": seq,
    }
