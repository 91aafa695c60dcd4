"""Accepts journals: the only writer of entries, movements, counts and conflicts; one transaction per batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Untrusted
from shared.journal.scans import verify_head
from sync_server.devices.queries import EnrolledDevice
from sync_server.events import queries as events
from sync_server.outbox import service as outbox
from sync_server.plumbing.database import database_of
from sync_server.plumbing.requests.principals import ActionContext, Actor
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import gate_decisions, movements, revoked, rules, storage, ticket_reconciliation
from sync_server.scans.conflicts import FoundConflict
from sync_server.scans.models import Journal
from sync_server.scans.rules import HeldEntry, Line, Mark, Status
from sync_server.scans.storage import Stored

MOVED_BACK = "moved_back"


@dataclass(frozen=True, slots=True)
class Claim:
    """The head of a journal as its device claims it."""

    device: int
    branch: int
    seq: int
    head: bytes
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Whose journal arrived, and what is needed to process it."""

    organisation_id: str
    device_id: str
    device: int
    sealer: Sealer
    now: Millis
    moved: bool = False  # it had a new time anchor: stored entries may have other times now

    def context(self, session: Session) -> ActionContext:
        """What supervisors decided at a device is recorded as an action of the device."""
        return ActionContext(Actor("device", self.device_id), self.now, database_of(session).entropy)


class Answer(Struct, frozen=True):
    """The outcome of one entry."""

    seq: int
    status: Status
    why: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of a batch."""

    answers: tuple[Answer, ...]
    mark: Mark
    forked: bool


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The server's mark of a journal, whether the device's claim contradicts it, and whether another's ever has."""

    mark: Mark
    moved_back: bool
    forked: bool


def check_claim(session: Session, device: EnrolledDevice, claim: Claim, now: Millis) -> ClaimResult:
    """Compare a claim with the stored journal: a shorter or different one means another machine or an older image."""
    journal = storage.locked_journal(session, device.number, claim.branch, device.organisation_id)
    mark = Mark(journal.mark_seq, journal.mark_head)
    moved_back = claim.seq < mark.seq or (claim.seq == mark.seq and mark.seq > 0 and claim.head != mark.head)
    if moved_back:
        _raise_alarm(session, journal, device, now)
    else:
        _store_claim(journal, device, claim)
    session.flush()
    return ClaimResult(mark, moved_back, bool(journal.alarm) and not moved_back)


def accept(
    session: Session, device: EnrolledDevice, claim: Claim, bodies: Sequence[bytes], *, sealer: Sealer, now: Millis
) -> Receipt:
    """Store a part of a journal, each entry once, and everything that follows from it."""
    _require_own_head(device, claim)
    journal = storage.locked_journal(session, device.number, claim.branch, device.organisation_id)
    lines, held = _checked_lines(session, journal, device, claim, bodies)
    _store_claim(journal, device, claim)
    new = [line for line in lines if all(line.hash != one.hash for one in held.get(line.seq, ()))]
    released = revoked.release_covered(session, journal, lines) if device.revoked else []
    if _forked(new, held):
        _raise_alarm(session, journal, device, now)
    last_held = storage.last_seq(session, journal)
    stored, touched, moved = _store(session, journal, new, (held, last_held), now)
    delivery = Delivery(device.organisation_id, device.id, device.number, sealer, now, moved)
    apply_entries(session, delivery, [*stored, *released], touched | storage.tickets_of(released))
    mark = storage.new_mark(session, journal, new, last_held)
    journal.mark_seq, journal.mark_head, journal.received_at = mark.seq, mark.head, now
    session.flush()
    return Receipt(tuple(_answer(line, held) for line in lines), mark, bool(journal.alarm))


def apply_entries(session: Session, delivery: Delivery, stored: Sequence[Stored], touched: storage.Touched) -> None:
    """Process entries that count from now on: conflicts, counts, movements, decisions, facts.

    Of the `touched` tickets entries were stored before, whatever of them is `stored` now.
    """
    organisation_id, now = delivery.organisation_id, delivery.now
    affected = touched | gate_decisions.touched(session, organisation_id, stored)
    found = ticket_reconciliation.reconcile_tickets(
        session, organisation_id, stored, affected, sealer=delivery.sealer, now=now
    )
    movements.add_counts(session, organisation_id, stored)
    _record_arrival(session, organisation_id, stored, found, now)
    gate_decisions.record(session, organisation_id, stored, delivery.context(session))
    gate_decisions.apply_emptyings(
        session, organisation_id, delivery.device, stored, delivery.context(session), moved=delivery.moved
    )
    movements.add_movements(session, organisation_id, stored)


def _require_own_head(device: EnrolledDevice, claim: Claim) -> None:
    public = Ed25519PublicKey.from_public_bytes(device.public_key)
    if not verify_head(public, claim.signature, device.number, claim.branch, claim.seq, claim.head):
        raise Untrusted("The journal's head is not signed by this device. Nothing was stored.", code="bad_head")


def _checked_lines(
    session: Session, journal: Journal, device: EnrolledDevice, claim: Claim, bodies: Sequence[bytes]
) -> tuple[list[Line], dict[int, list[HeldEntry]]]:
    lines = rules.read_batch(device.number, journal.branch, bodies, journal.mark_seq + 1)
    numbers = {line.entry.event for line in lines if line.entry and line.entry.event}
    own_events, put_away = events.open_and_put_away(session, device.organisation_id, numbers)
    held = storage.held_around(session, journal, lines)
    own_lines = rules.with_head_checked(rules.with_events(lines, own_events, put_away), claim.seq, claim.head)
    checked = rules.with_chain_checked(own_lines, held)
    return (revoked.quarantine_late(session, journal, checked) if device.revoked else checked), held


def _store(
    session: Session,
    journal: Journal,
    new: Sequence[Line],
    stored_before: tuple[dict[int, list[HeldEntry]], int],
    now: Millis,
) -> tuple[list[Stored], storage.Touched, bool]:
    if not new:
        return [], set(), False
    held, last_held = stored_before
    forked = _forked(new, held)
    stored = storage.add(session, journal, new, forked, now)
    touched = storage.mark_forks(session, journal, forked) | _waiting_tickets(new)
    moves = storage.times_move_from(journal, new, last_held)
    if moves is not None:
        organisation_id = journal.organisation_id
        before = gate_decisions.emptyings_of(session, organisation_id, journal.device)
        touched |= storage.move_times(session, journal, moves)
        after = gate_decisions.emptyings_of(session, organisation_id, journal.device)
        touched |= gate_decisions.moved(session, organisation_id, before, after)
    return stored, touched, moves is not None


def _waiting_tickets(lines: Sequence[Line]) -> storage.Touched:
    """Tickets in quarantined entries of a revoked device: they show as conflicts, but refuse nobody."""
    waiting = (line for line in lines if line.why == rules.QuarantineReason.REVOKED_DEVICE)
    named = ((line.event_id, line.entry.ticket_id) for line in waiting if line.entry is not None)
    return {(event_id, ticket) for event_id, ticket in named if event_id and ticket}


def _forked(new: Sequence[Line], held: dict[int, list[HeldEntry]]) -> set[int]:
    """Numbers under which there is more than one entry."""
    return {line.seq for line in new if held.get(line.seq)} | _duplicate_seqs(new)


def _duplicate_seqs(lines: Sequence[Line]) -> set[int]:
    """Numbers that one batch uses twice."""
    hashes: dict[int, set[bytes]] = {}
    for line in lines:
        hashes.setdefault(line.seq, set()).add(line.hash)
    return {seq for seq, some in hashes.items() if len(some) > 1}


def _answer(line: Line, held: dict[int, list[HeldEntry]]) -> Answer:
    before = next((one for one in held.get(line.seq, ()) if one.hash == line.hash), None)
    if before is not None and not before.quarantined:
        return Answer(line.seq, Status.KNOWN)
    if before is not None and line.why != "":
        return Answer(line.seq, Status.QUARANTINED, before.why)
    return Answer(line.seq, Status.QUARANTINED if line.why else Status.ACCEPTED, line.why)


def _store_claim(journal: Journal, device: EnrolledDevice, claim: Claim) -> None:
    # Claims of a revoked device are ignored: only those made before the revocation count.
    if device.revoked or claim.seq < journal.claimed_seq:
        return
    journal.claimed_seq, journal.claimed_head = claim.seq, claim.head
    journal.claimed_signature = claim.signature or journal.claimed_signature


def _raise_alarm(session: Session, journal: Journal, device: EnrolledDevice, now: Millis) -> None:
    if journal.alarm != MOVED_BACK:
        journal.alarm, journal.alarm_at = MOVED_BACK, now
        # No audit line: nobody has done anything, and the journal's row keeps what the server has found.
        subjects = {"device": device.id}
        outbox.record(session, outbox.Fact("journal_moved_back", device.organisation_id, now, subjects))


def _record_arrival(
    session: Session, organisation_id: str, stored: Sequence[Stored], found: Sequence[FoundConflict], now: Millis
) -> None:
    event_ids = {one.event_id for one in stored if one.event_id} | {one.event_id for one in found}
    for event_id, number in sorted(events.numbers(session, organisation_id, event_ids).items()):
        here = [one for one in stored if one.event_id == event_id]
        kinds = sorted(one.conflict.kind.value for one in found if one.event_id == event_id)
        # No audit line: the journals are the record of scans, chained and signed by the gates.
        payload = {"scans": len(here), "admitted": sum(one.entry.admitted for one in here), "conflicts": kinds}
        outbox.record(session, outbox.Fact("scans_arrived", organisation_id, now, {"event_number": number}, payload))
