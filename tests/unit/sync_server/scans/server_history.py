"""What the server knew and when, and scans to be judged by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from shared.admission import Room
from shared.journal.scans import Entry
from shared.wire.rows import EventRow, GateRow, PolicyRow, TicketRow, TicketTypeRow, ZoneRow
from sync_server.scans.reconcile import ConflictKind, Facts, Judged, Reconciliation
from tests.unit.shared.wire_builders import EIGHT, a_ticket_row, an_entry, an_event_row

MINUTE = 60_000


@dataclass
class ServerHistory:
    """What the server knew and when: revision n is the n-th of `rows`, each from its time on."""

    rows: list[tuple[int, TicketRow | None]] = field(default_factory=lambda: [(0, a_ticket_row())])
    event: EventRow = field(default_factory=an_event_row)
    zone_room: Room | None = None
    code_hash: bytes = b""

    def at_position(self, entry: Entry) -> Facts | None:
        if not 1 <= entry.revision <= len(self.rows):
            return None
        since, row = self.rows[entry.revision - 1]
        return self._facts(row, since)

    def at_time(self, entry: Entry, at: int) -> Facts:
        known = [row for since, row in self.rows if since <= at]
        return self._facts(known[-1] if known else None, at)

    def first_row(self, entry: Entry) -> TicketRow | None:
        return next((row for _, row in self.rows if row is not None), None)

    def code_was_issued(self, entry: Entry) -> bool:
        return not self.code_hash or entry.code_hash == self.code_hash

    def _facts(self, row: TicketRow | None, as_of: int) -> Facts:
        return Facts(
            organisation=self.event.organisation,
            event=self.event,
            gate=GateRow(2, "A", "North door"),
            zone=ZoneRow(1, "Floor", "ga_standing", capacity=100),
            row=row,
            ticket_type=TicketTypeRow(1, "Full price"),
            policy=PolicyRow(),
            as_of=as_of,
            zone_room=self.zone_room,
        )


def a_scan(minute: int = 0, *, uncertainty: int = 100, **different: Any) -> Judged:
    """Shown at gate A of device 4 so many minutes after eight, as the rows of revision 1 say."""
    marks = {name: different.pop(name) for name in ("fork", "quarantined", "revoked", "ref") if name in different}
    entry = an_entry(**{"revision": 1, "seq": minute + 1, **different})
    return Judged(entry, EIGHT + minute * MINUTE, uncertainty, **marks)


def kinds(outcome: Reconciliation) -> list[ConflictKind]:
    return [conflict.kind for conflict in outcome.conflicts]


def past_of(*rows: TicketRow | None, since: Iterable[int] = (0, EIGHT)) -> ServerHistory:
    return ServerHistory(list(zip(since, rows, strict=False)))
