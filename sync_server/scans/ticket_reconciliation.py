"""Reconciles tickets in the transaction that touched them, and stores their presence and conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.admission import Direction
from shared.clock import Millis
from shared.journal.scans import Entry, decode
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.bulk import among, insert_many, insert_missing
from sync_server.scans import conflicts, gate_decisions
from sync_server.scans.attendance import basis as bases
from sync_server.scans.attendance import flows, inside
from sync_server.scans.attendance.basis import Basis, rules_of
from sync_server.scans.attendance.inside import NOBODY, Whereabouts
from sync_server.scans.attendance.moves import by_gate, crowd
from sync_server.scans.attendance.steps import Step, pack, unpack
from sync_server.scans.conflicts import FoundConflict, StoredScan
from sync_server.scans.event_history import EventHistory
from sync_server.scans.models import Presence, ScanEntry
from sync_server.scans.reconcile import Judged, Reconciliation, reconcile
from sync_server.scans.rules import QuarantineReason
from sync_server.scans.storage import Stored, Touched, tickets_of
from sync_server.tickets.keys.issued_codes import IssuedCodes

_CHUNK = 1_000
_NEW_STATE = (
    "ON CONFLICT (organisation_id, event_id, ticket) DO UPDATE SET "
    "bodies = excluded.bodies, at = excluded.at, gate = excluded.gate, zone = excluded.zone, steps = excluded.steps"
)


def reconcile_tickets(
    session: Session,
    organisation_id: str,
    stored: Sequence[Stored],
    touched: Touched,
    *,
    sealer: Sealer,
    now: Millis,
) -> list[FoundConflict]:
    """Reconcile the tickets of the entries that were just stored, and those `touched`; returns the new conflicts.

    Of the `touched` ones entries may have been stored before.
    """
    new: list[FoundConflict] = []
    tickets = sorted(touched | tickets_of(stored))
    for event_id in sorted({event_id for event_id, _ in tickets}):
        event, here = EventKey(organisation_id, event_id), [ticket for one, ticket in tickets if one == event_id]
        fresh = _fresh(stored, event_id, {ticket for one, ticket in touched if one == event_id})
        # Decoded a moment ago: most entries of these tickets are the new ones.
        decoded = {one.hash: one.entry for one in stored}
        basis = bases.held(session, event)
        for start in range(0, len(here), _CHUNK):
            chunk = here[start : start + _CHUNK]
            batch = _Batch(session, event, IssuedCodes(session, organisation_id, sealer, chunk), basis, now)
            new += batch.reconcile(chunk, fresh, decoded)
    return new


def _fresh(stored: Sequence[Stored], event_id: str, touched: Collection[int]) -> dict[int, list[StoredScan]]:
    """The entries by ticket of those tickets of which the batch may have all there are."""
    found: dict[int, list[StoredScan]] = defaultdict(list)
    for one in stored:
        ticket = one.entry.ticket_id
        if one.event_id == event_id and ticket and ticket not in touched:
            judged = Judged(one.entry, one.at, one.uncertainty, ref=len(found[ticket]))
            found[ticket].append(StoredScan(judged, one.hash))
    return found


class _Presence(Struct, frozen=True):
    """Where the holder of a ticket is, and the movements that count."""

    seen: Whereabouts = NOBODY
    steps: Sequence[Step] = ()


Present = Mapping[int, _Presence]


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What became of some tickets: where their holders are, and what contradicts."""

    presence: Present
    found: list[FoundConflict]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some tickets of one event, reconciled in one transaction."""

    session: Session
    event: EventKey
    issued_codes: IssuedCodes
    basis: Basis
    now: Millis

    def reconcile(
        self, tickets: Sequence[int], fresh: Mapping[int, list[StoredScan]], decoded: Mapping[bytes, Entry]
    ) -> list[FoundConflict]:
        """Judge the tickets that come for the first time by what the batch has; read all entries of the others.

        Whoever is at one of them at the same time has its row of presence first, or waits for ours: who comes second
        finds the row, and then reads the entries of both.
        """
        first = self._reconcile_first({ticket: fresh[ticket] for ticket in tickets if ticket in fresh})
        others = [ticket for ticket in tickets if ticket not in first.presence]
        new = conflicts.add(self.session, self.event, first.found, self.now)
        return new + (self._reconcile_again(others, decoded) if others else [])

    def _reconcile_first(self, entries: Mapping[int, list[StoredScan]]) -> _Judgement:
        """Judge these tickets, but those that have a row of presence; its key tells who was first."""
        known = _known(self.session, self.event, entries)
        judged = self._judge({ticket: some for ticket, some in entries.items() if ticket not in known})
        rows = _rows(self.event, judged.presence)
        added = set(insert_missing(self.session, Presence, rows, "ticket"))
        here = {ticket: one for ticket, one in judged.presence.items() if ticket in added}
        self._count({}, here)
        return _Judgement(here, [one for one in judged.found if one.ticket in added])

    def _reconcile_again(self, tickets: Sequence[int], decoded: Mapping[bytes, Entry]) -> list[FoundConflict]:
        before = _locked(self.session, self.event, tickets)
        judged = self._judge(_entries(self.session, self.event, tickets, decoded))
        insert_many(self.session, Presence, _rows(self.event, judged.presence), _NEW_STATE)
        self._count(before, judged.presence)
        return conflicts.store(self.session, self.event, tickets, found=judged.found, now=self.now)

    def _count(self, before: Present, after: Present) -> None:
        inside.count(self.session, self.event, _seen(before), _seen(after))
        flows.count(self.session, self.event, self.basis, _steps(before), _steps(after))

    def _judge(self, entries: Mapping[int, list[StoredScan]]) -> _Judgement:
        if not entries:
            return _Judgement({}, [])
        decisions = gate_decisions.decisions_at(self.session, self.event)
        span = _span(entries.values())
        history = EventHistory(self.session, self.event, self.issued_codes, decisions, tickets=list(entries), span=span)
        results = {ticket: reconcile([one.judged for one in some], history) for ticket, some in entries.items()}
        found = [
            FoundConflict(self.event.event_id, ticket, conflict, entries[ticket])
            for ticket, result in results.items()
            for conflict in result.conflicts
        ]
        return _Judgement({ticket: _presence(ticket, one, history) for ticket, one in results.items()}, found)


def _known(session: Session, event: EventKey, tickets: Collection[int]) -> set[int]:
    """Those of these tickets that were reconciled before."""
    if not tickets:
        return set()
    wanted = select(Presence.ticket).where(event.of(Presence), among(session, Presence.ticket, tickets))
    return set(session.scalars(wanted))


def _locked(session: Session, event: EventKey, tickets: Sequence[int]) -> dict[int, _Presence]:
    """Lock the tickets in ascending order: the second transaction then sees the entries of the first."""
    insert_many(session, Presence, _rows(event, dict.fromkeys(tickets, _Presence())), "ON CONFLICT DO NOTHING")
    columns = select(Presence.ticket, Presence.bodies, Presence.at, Presence.gate, Presence.zone, Presence.steps)
    wanted = columns.where(event.of(Presence), among(session, Presence.ticket, tickets)).order_by(Presence.ticket)
    return {
        ticket: _Presence(Whereabouts(*seen), unpack(ticket, steps))
        for ticket, *seen, steps in session.execute(wanted.with_for_update())
    }


def _seen(presence: Present) -> dict[int, Whereabouts]:
    return {ticket: one.seen for ticket, one in presence.items()}


def _steps(presence: Present) -> dict[int, Sequence[Step]]:
    return {ticket: one.steps for ticket, one in presence.items()}


def _entries(
    session: Session, event: EventKey, tickets: Sequence[int], decoded: Mapping[bytes, Entry]
) -> dict[int, list[StoredScan]]:
    columns = select(
        ScanEntry.ticket,
        ScanEntry.hash,
        ScanEntry.body,
        ScanEntry.at,
        ScanEntry.uncertainty,
        ScanEntry.forked,
        ScanEntry.quarantined,
        ScanEntry.why,
    )
    # Of quarantined entries only those of a revoked device are reconciled; damaged or foreign ones say nothing.
    usable = ~ScanEntry.quarantined | (ScanEntry.why == QuarantineReason.REVOKED_DEVICE)
    rows = session.execute(columns.where(event.of(ScanEntry), among(session, ScanEntry.ticket, tickets), usable))
    entries: dict[int, list[StoredScan]] = defaultdict(list)
    for ticket, digest, body, at, uncertainty, forked, quarantined, why in rows:
        revoked = not quarantined and why == QuarantineReason.REVOKED_DEVICE
        entry = decoded.get(digest) or decode(body)
        judged = Judged(entry, at, uncertainty, forked, quarantined, revoked, ref=len(entries[ticket]))
        entries[ticket].append(StoredScan(judged, digest))
    return entries


def _span(entries: Iterable[Sequence[StoredScan]]) -> tuple[Millis, Millis]:
    moments = [one.judged for some in entries for one in some]
    first = min((one.at - one.uncertainty for one in moments), default=0)
    last = max((one.at + one.uncertainty for one in moments), default=0)
    return first, last


def _rows(event: EventKey, presence: Present) -> list[dict[str, Any]]:
    """Rows of presence, in the order in which everybody takes them."""
    named = event._asdict()
    return [
        named | {"ticket": ticket} | one.seen._asdict() | {"steps": pack(one.steps)}
        for ticket, one in sorted(presence.items())
    ]


def _presence(ticket: int, result: Reconciliation, history: EventHistory) -> _Presence:
    if not result.counted:
        return _Presence()
    steps = [Step(ticket, one, duplicate=one not in result.history) for one in result.counted]
    latest = result.counted[-1]
    return _Presence(Whereabouts(_bodies(steps, history), latest.at, latest.gate, latest.zone), steps)


def _bodies(steps: Sequence[Step], history: EventHistory) -> int:
    """How many people are inside with this ticket after its latest movement."""
    latest = steps[-1].passage
    if len(steps) == 1:
        return 1 if latest.direction is Direction.ENTRY else 0
    event = history.event_at(latest.at)
    if event is None:
        return 0
    return sum(crowd(steps, by_gate, {}, rules_of(event), latest.at).inside.values())
