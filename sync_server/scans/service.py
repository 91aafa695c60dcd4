"""Takes journals in: the only writer of entries, movements, counts and conflicts; all of a batch in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Untrusted
from shared.scans import verify_head
from sync_server.devices.queries import KnownDevice
from sync_server.outbox import service as outbox
from sync_server.plumbing.database import of
from sync_server.plumbing.principals import Actor, Deed
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import decided, judging, keeping, revoked, rules, tallies
from sync_server.scans.conflicts import Found
from sync_server.scans.keeping import Stored
from sync_server.scans.models import Journal
from sync_server.scans.rows_at import organisations_of
from sync_server.scans.rules import Held, Line, Mark, Status

MOVED_BACK = "moved_back"


@dataclass(frozen=True, slots=True)
class Claim:
    """A device's word for where its journal stands."""

    device: int
    branch: int
    seq: int
    head: bytes
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Whose journal has come, and what is needed to draw conclusions from it."""

    organisation_id: str
    device_id: str
    device: int
    sealer: Sealer
    now: Millis
    moved: bool = False  # it told more about the device's clock: entries that were kept before may be of another time

    def deed(self, session: Session) -> Deed:
        """What the device's own people decided is the device's deed."""
        return Deed(Actor("device", self.device_id), self.now, of(session).entropy)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one entry."""

    seq: int
    status: Status
    why: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch."""

    answers: tuple[Answer, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Heard:
    """What the server holds of a journal, and whether the device's own word contradicts it."""

    mark: Mark
    moved_back: bool


def hear_claim(session: Session, device: KnownDevice, claim: Claim, now: Millis) -> Heard:
    """Compare a device's word with what is held: a shorter or other journal is another machine, or an older image."""
    journal = keeping.locked_journal(session, device.number, claim.branch, device.organisation_id)
    mark = Mark(journal.mark_seq, journal.mark_head)
    moved_back = claim.seq < mark.seq or (claim.seq == mark.seq and mark.seq > 0 and claim.head != mark.head)
    if moved_back:
        _raise_alarm(session, journal, device, now)
    else:
        _keep_claim(journal, device, claim)
    session.flush()
    return Heard(mark, moved_back)


def accept(
    session: Session, device: KnownDevice, claim: Claim, bodies: Sequence[bytes], *, sealer: Sealer, now: Millis
) -> Receipt:
    """Keep a stretch of a journal, each entry once, and let everything follow from it."""
    _require_own_head(device, claim)
    journal = keeping.locked_journal(session, device.number, claim.branch, device.organisation_id)
    lines, held = _sorted_out(session, journal, device, claim, bodies)
    _keep_claim(journal, device, claim)
    new = [line for line in lines if all(line.hash != one.hash for one in held.get(line.seq, ()))]
    released = revoked.release_covered(session, journal, lines) if device.revoked else []
    stored, touched, moved = _keep(session, journal, new, held, now)
    delivery = Delivery(device.organisation_id, device.id, device.number, sealer, now, moved)
    follow(session, delivery, [*stored, *released], touched)
    mark = keeping.new_mark(session, journal)
    journal.mark_seq, journal.mark_head, journal.received_at = mark.seq, mark.head, now
    session.flush()
    return Receipt(tuple(_answer(line, held) for line in lines), mark)


def follow(session: Session, delivery: Delivery, stored: Sequence[Stored], touched: keeping.Touched) -> None:
    """Everything that follows from entries that count from now on: conflicts, counts, movements, facts."""
    named = {(one.entry.event, one.entry.ticket_id) for one in stored if one.entry.event and one.entry.ticket_id}
    where, now = delivery.organisation_id, delivery.now
    decided_on = decided.touched(session, stored)
    found = judging.reconcile_tickets(session, where, touched | named | decided_on, delivery.sealer, now)
    tallies.count(session, stored)
    _tell(session, where, stored, found, now)
    decided.tell(session, where, stored, delivery.deed(session))
    decided.empty_houses(session, where, delivery.device, stored, delivery.deed(session), moved=delivery.moved)
    tallies.tell_gates(session, stored)


def _require_own_head(device: KnownDevice, claim: Claim) -> None:
    public = Ed25519PublicKey.from_public_bytes(device.public_key)
    if not verify_head(public, claim.signature, device.number, claim.branch, claim.seq, claim.head):
        raise Untrusted("The journal's head is not signed by this device. Nothing of it was used.", code="bad_head")


def _sorted_out(
    session: Session, journal: Journal, device: KnownDevice, claim: Claim, bodies: Sequence[bytes]
) -> tuple[list[Line], dict[int, list[Held]]]:
    lines = rules.read_batch(device.number, journal.branch, bodies, journal.mark_seq + 1)
    owners = organisations_of(session, {line.entry.event for line in lines if line.entry and line.entry.event})
    own = {event for event, owner in owners.items() if owner == device.organisation_id}
    held = keeping.held_around(session, journal, lines)
    own_lines = rules.with_head_checked(rules.without_foreign(lines, own), claim.seq, claim.head)
    checked = rules.with_chain_checked(own_lines, held)
    return (revoked.with_late_ones_apart(session, journal, checked) if device.revoked else checked), held


def _keep(
    session: Session, journal: Journal, new: Sequence[Line], held: dict[int, list[Held]], now: Millis
) -> tuple[list[Stored], keeping.Touched, bool]:
    if not new:
        return [], set(), False
    last_held = keeping.last_seq(session, journal)
    twins = {line.seq for line in new if held.get(line.seq)} | _twins_within(new)
    stored = keeping.add(session, journal, new, twins, now)
    touched = keeping.mark_forks(session, journal, twins) | _waiting_tickets(new)
    moves = keeping.times_move_from(journal, new, last_held)
    if moves is not None:
        before = decided.houses_of(session, journal.device)
        touched |= keeping.move_times(session, journal, moves)
        touched |= decided.moved(session, before, decided.houses_of(session, journal.device))
    return stored, touched, moves is not None


def _waiting_tickets(lines: Sequence[Line]) -> keeping.Touched:
    """Tickets that a shut-out device speaks of: nobody is refused for it, but the organiser is told."""
    waiting = [line.entry for line in lines if line.entry is not None and line.why == rules.Why.REVOKED_DEVICE]
    return {(entry.event, entry.ticket_id) for entry in waiting if entry.event and entry.ticket_id}


def _twins_within(lines: Sequence[Line]) -> set[int]:
    """Places that one batch claims twice."""
    hashes: dict[int, set[bytes]] = {}
    for line in lines:
        hashes.setdefault(line.seq, set()).add(line.hash)
    return {seq for seq, some in hashes.items() if len(some) > 1}


def _answer(line: Line, held: dict[int, list[Held]]) -> Answer:
    before = next((one for one in held.get(line.seq, ()) if one.hash == line.hash), None)
    if before is not None and not before.quarantined:
        return Answer(line.seq, Status.KNOWN)
    if before is not None and line.why != "":
        return Answer(line.seq, Status.QUARANTINED, before.why)
    return Answer(line.seq, Status.QUARANTINED if line.why else Status.ACCEPTED, line.why)


def _keep_claim(journal: Journal, device: KnownDevice, claim: Claim) -> None:
    # What a shut-out device says later moves nothing: only what it had said before binds it.
    if device.revoked or claim.seq < journal.claimed_seq:
        return
    journal.claimed_seq, journal.claimed_head = claim.seq, claim.head
    journal.claimed_signature = claim.signature or journal.claimed_signature


def _raise_alarm(session: Session, journal: Journal, device: KnownDevice, now: Millis) -> None:
    if journal.alarm != MOVED_BACK:
        journal.alarm, journal.alarm_at = MOVED_BACK, now
        subjects = {"device": device.id}
        outbox.record(session, outbox.Fact("journal_moved_back", device.organisation_id, now, subjects))


def _tell(
    session: Session, organisation_id: str, stored: Sequence[Stored], found: Sequence[Found], now: Millis
) -> None:
    for event in sorted({one.entry.event for one in stored if one.entry.event} | {one.event for one in found}):
        here = [one for one in stored if one.entry.event == event]
        kinds = sorted(one.conflict.kind.value for one in found if one.event == event)
        payload = {"scans": len(here), "admitted": sum(one.entry.admitted for one in here), "conflicts": kinds}
        outbox.record(session, outbox.Fact("scans_arrived", organisation_id, now, {"event_number": event}, payload))
