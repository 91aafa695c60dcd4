"""What follows from entries that count: movements for the other gates, and counts for the organiser."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.admission import Direction, Mode
from shared.scans import EntryKind, movement_of
from shared.snapshot import Movement
from sync_server.plumbing.many import insert_many
from sync_server.revisions import service as revisions
from sync_server.scans.keeping import Stored
from sync_server.scans.models import MovementRow, ScanCount

_ADD_UP = "ON CONFLICT (event, gate, direction, reason) DO UPDATE SET n = scan_counts.n + excluded.n"
_WAYS = frozenset(Direction)
_PRESENTED = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})


def count(session: Session, stored: Sequence[Stored]) -> None:
    """Add real presentations to the counts of their gates; in one order for all, so that no two wait in a ring."""
    tally = Counter(
        (one.entry.event, one.entry.gate, one.entry.direction, one.entry.reason[:24])
        for one in stored
        if one.entry.kind in _PRESENTED
        and one.entry.mode == Mode.REAL
        and one.entry.event
        and one.entry.direction in _WAYS
    )
    names = ("event", "gate", "direction", "reason")
    rows = [dict(zip(names, name, strict=True)) | {"n": n} for name, n in sorted(tally.items())]
    insert_many(session, ScanCount, rows, _ADD_UP)


def _counts(one: Stored) -> bool:
    entry = one.entry
    shown = entry.kind in _PRESENTED and entry.mode == Mode.REAL
    return shown and entry.event > 0 and entry.direction in _WAYS


def tell_gates(session: Session, stored: Sequence[Stored]) -> None:
    """Number the movements in the order of commits. Late in the transaction: it locks the heads of the events."""
    by_event: dict[int, list[tuple[Movement, bytes]]] = defaultdict(list)
    for one in stored:
        movement = movement_of(one.entry, one.at)
        if movement is not None and one.entry.event:
            by_event[one.entry.event].append((movement, one.hash))
    for event in sorted(by_event):
        arrivals = revisions.allot_arrivals(session, event, len(by_event[event]))
        numbered = zip(arrivals, by_event[event], strict=True)
        rows = [_row(event, arrival, movement, digest) for arrival, (movement, digest) in numbered]
        insert_many(session, MovementRow, rows, "ON CONFLICT DO NOTHING")


def _row(event: int, arrival: int, movement: Movement, digest: bytes) -> dict[str, object]:
    device, branch, seq = movement.annuls or (None, None, None)
    return {
        "device": movement.device,
        "branch": movement.branch,
        "seq": movement.seq,
        "hash": digest,
        "event": event,
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
