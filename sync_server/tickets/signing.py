"""The keys that sign tickets: made, changed over, distrusted, revoked; and the codes they sign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from shared.ids import Entropy
from shared.keys import KeyState
from shared.snapshot import KeyRow
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.sealing import Sealer
from sync_server.tickets.models import TicketKeyRecord, TicketRecord

# A gate that was away for longer than this does not know a new key, and is told so by its guests.
WAIT_MS: Final = 24 * 3_600_000


def make_key(session: Session, organisation_id: str, sealer: Sealer, deed: Deed, *, at_once: bool) -> TicketKeyRecord:
    """A new key; it signs from now on, or once the gates had a day to hear of it."""
    lock_organisation(session, organisation_id)
    private = Ed25519PrivateKey.from_private_bytes(deed.entropy(32))
    id = _free_id(session, deed.entropy)
    row = TicketKeyRecord(
        id=id,
        organisation_id=organisation_id,
        public=private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
        sealed=sealer.seal(private.private_bytes_raw(), _purpose(id)),
        state=KeyState.ACTIVE.value,
        created_at=deed.now,
        signs_from=deed.now if at_once else deed.now + WAIT_MS,
    )
    session.add(row)
    session.flush()
    _tell(session, row, "key_created", deed)
    return row


def rotate(session: Session, organisation_id: str, sealer: Sealer, deed: Deed, *, at_once: bool) -> TicketKeyRecord:
    """A new key takes over; the ones before verify what they signed, and sign no more once it does."""
    row = make_key(session, organisation_id, sealer, deed, at_once=at_once)
    retire_superseded(session, organisation_id, deed)
    return row


def let_sign(session: Session, organisation_id: str, key_id: int, deed: Deed) -> None:
    """All live gates hold this key: it need not wait any longer."""
    lock_organisation(session, organisation_id)
    row = key(session, organisation_id, key_id)
    if row.state == KeyState.ACTIVE.value and row.signs_from > deed.now:
        row.signs_from = deed.now
        session.flush()
        retire_superseded(session, organisation_id, deed)


def retire_superseded(session: Session, organisation_id: str, deed: Deed) -> None:
    """Keys that a newer one has taken over from are retired: they verify, and sign no more."""
    for row in _able_to_sign(session, organisation_id, deed.now)[1:]:
        _become(session, row, KeyState.RETIRED, deed, "")


def retire_everywhere(session: Session, deed: Deed) -> None:
    """The same for every organisation: a key whose day of waiting is over takes over by itself."""
    several = (
        select(TicketKeyRecord.organisation_id)
        .where(TicketKeyRecord.state == KeyState.ACTIVE.value, TicketKeyRecord.signs_from <= deed.now)
        .group_by(TicketKeyRecord.organisation_id)
        .having(func.count() > 1)
    )
    for organisation_id in session.execute(several).scalars().all():
        retire_superseded(session, organisation_id, deed)


def distrust(session: Session, organisation_id: str, key_id: int, deed: Deed, *, reason: str) -> TicketKeyRecord:
    """A suspected leak: tickets that gates know stay good, unknown ones do not."""
    lock_organisation(session, organisation_id)
    row = key(session, organisation_id, key_id)
    if row.state == KeyState.REVOKED.value:
        raise Conflict("The key is revoked already; that is stronger.", code="key_revoked")
    _become(session, row, KeyState.DISTRUSTED, deed, reason)
    return row


def revoke(
    session: Session, organisation_id: str, key_id: int, deed: Deed, *, kills: int, reason: str
) -> TicketKeyRecord:
    """Nothing that this key signed is good any more; `kills` is the number of tickets that the caller accepts."""
    lock_organisation(session, organisation_id)
    row = key(session, organisation_id, key_id)
    tickets = signed_by(session, key_id)
    if tickets != kills:
        raise Conflict(
            f"Revoking this key kills {tickets} tickets that are good now. Repeat with kills={tickets} if you mean it; "
            "they can be issued anew afterwards, with new codes.",
            code="confirm_revocation",
            tickets=tickets,
        )
    _become(session, row, KeyState.REVOKED, deed, reason)
    return row


def signing_key(session: Session, organisation_id: str, now: Millis) -> TicketKeyRecord:
    """The key that signs now; Conflict where there is none."""
    able = _able_to_sign(session, organisation_id, now)
    if not able:
        raise Conflict("No key can sign now. Make one: gatehouse-server key rotate --at-once.", code="no_signing_key")
    return able[0]


def private_part(row: TicketKeyRecord, sealer: Sealer) -> Ed25519PrivateKey:
    """The key itself, unsealed; keep it no longer than needed."""
    return Ed25519PrivateKey.from_private_bytes(sealer.open(row.sealed, _purpose(row.id)))


def key(session: Session, organisation_id: str, key_id: int) -> TicketKeyRecord:
    """That key of this organisation, or NotFound."""
    row = session.get(TicketKeyRecord, key_id)
    if row is None or row.organisation_id != organisation_id:
        raise NotFound("There is no such key.", code="key_not_found")
    return row


def keys(session: Session, organisation_id: str) -> Sequence[TicketKeyRecord]:
    """All keys of an organisation, oldest first."""
    mine = select(TicketKeyRecord).where(TicketKeyRecord.organisation_id == organisation_id)
    return session.execute(mine.order_by(TicketKeyRecord.created_at, TicketKeyRecord.id)).scalars().all()


def key_rows(session: Session, organisation_id: str) -> list[KeyRow]:
    """The keys as gates hold them."""
    return [_as_held(row) for row in keys(session, organisation_id)]


def signed_by(session: Session, key_id: int) -> int:
    """How many tickets that are not cancelled carry this key's signature."""
    good = TicketRecord.key_id == key_id, TicketRecord.state != 1
    return session.execute(select(func.count()).select_from(TicketRecord).where(*good)).scalar_one()


def _able_to_sign(session: Session, organisation_id: str, now: Millis) -> Sequence[TicketKeyRecord]:
    able = (
        select(TicketKeyRecord)
        .where(
            TicketKeyRecord.organisation_id == organisation_id,
            TicketKeyRecord.state == KeyState.ACTIVE.value,
            TicketKeyRecord.signs_from <= now,
        )
        .order_by(TicketKeyRecord.signs_from.desc(), TicketKeyRecord.created_at.desc(), TicketKeyRecord.id)
    )
    return session.execute(able).scalars().all()


def _free_id(session: Session, entropy: Entropy) -> int:
    # Random, not counted: after a restore a new key must not get the id of one whose tickets are in the world.
    while True:
        id = int.from_bytes(entropy(2), "big")
        if id and session.get(TicketKeyRecord, id) is None:
            return id


def _become(session: Session, row: TicketKeyRecord, state: KeyState, deed: Deed, reason: str) -> None:
    before, row.state = row.state, state.value
    session.flush()
    _tell(session, row, f"key_{state.value}", deed, before=before, reason=reason)


def _tell(
    session: Session, row: TicketKeyRecord, name: str, deed: Deed, *, before: str | None = None, reason: str = ""
) -> None:
    where, after = row.organisation_id, {"state": row.state, "signs_from": row.signs_from}
    was = None if before is None else {"state": before}
    record(session, AuditLine(deed.actor, name, "key", str(row.id), where, deed.now, was, after, reason))
    record_fact(session, Fact(name, where, deed.now, {"key": row.id}, after))
    announce(session, "organisation_rows_changed", (where, [_as_held(row)]), deed.now)


def _as_held(row: TicketKeyRecord) -> KeyRow:
    return KeyRow(row.id, row.organisation_id, row.public, row.state)


def _purpose(key_id: int) -> str:
    return f"ticket-key:{key_id}"
