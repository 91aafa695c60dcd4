"""The keys that sign tickets: creating, rotating, distrusting and revoking them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from shared.keys import KeyState
from shared.wire.snapshot import KeyRow
from sync_server.accounts.service import lock_organisation
from sync_server.accounts.signals import OrganisationRowsChanged
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.revisions import queries as revisions
from sync_server.tickets import ticket_counts
from sync_server.tickets.models import TicketKeyRecord

# Gates have this long to fetch a new key before tickets are signed with it.
DISTRIBUTION_MS: Final = 24 * 3_600_000
IDS_LEFT_OUT_AFTER_RESTORE: Final = 100
_LATEST_FIRST: Final = (
    TicketKeyRecord.signs_from.desc(),
    TicketKeyRecord.created_at.desc(),
    TicketKeyRecord.id.desc(),
)
_SIGNING_ID: Final = Prepared(
    select(TicketKeyRecord.id)
    .where(
        TicketKeyRecord.organisation_id == placeholder("organisation"),
        TicketKeyRecord.state == text(f"'{KeyState.ACTIVE.value}'"),
        TicketKeyRecord.signs_from <= placeholder("now"),
    )
    .order_by(*_LATEST_FIRST)
    .limit(1)
)


def make_key(
    session: Session, organisation_id: str, sealer: Sealer, context: ActionContext, *, at_once: bool
) -> TicketKeyRecord:
    """Create a key; it signs at once, or after a day in which gates fetch it."""
    lock_organisation(session, organisation_id)
    private = Ed25519PrivateKey.from_private_bytes(context.entropy(32))
    id = _next_id(session, organisation_id)
    row = TicketKeyRecord(
        id=id,
        organisation_id=organisation_id,
        public=private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
        sealed=sealer.seal(private.private_bytes_raw(), _purpose(organisation_id, id)),
        state=KeyState.ACTIVE.value,
        created_at=context.now,
        signs_from=context.now if at_once else context.now + DISTRIBUTION_MS,
    )
    session.add(row)
    session.flush()
    _record(session, row, "key_created", context)
    return row


def rotate(
    session: Session, organisation_id: str, sealer: Sealer, context: ActionContext, *, at_once: bool
) -> TicketKeyRecord:
    """Create a key that takes over from the others; they still verify what they signed."""
    row = make_key(session, organisation_id, sealer, context, at_once=at_once)
    retire_superseded(session, organisation_id, context)
    return row


def retire_superseded(session: Session, organisation_id: str, context: ActionContext) -> None:
    """Retire keys that a newer one has superseded: they verify but no longer sign."""
    for row in _signing_candidates(session, organisation_id, context.now)[1:]:
        _set_state(session, row, KeyState.RETIRED, context, "")


def retire_everywhere(session: Session, context: ActionContext) -> None:
    """Retire superseded keys of every organisation, where a newer key has finished waiting."""
    organisations = (
        select(TicketKeyRecord.organisation_id)
        .where(TicketKeyRecord.state == KeyState.ACTIVE.value, TicketKeyRecord.signs_from <= context.now)
        .group_by(TicketKeyRecord.organisation_id)
        .having(func.count() > 1)
    )
    for organisation_id in session.execute(organisations).scalars().all():
        retire_superseded(session, organisation_id, context)


def distrust(
    session: Session, organisation_id: str, key_id: int, context: ActionContext, *, reason: str
) -> TicketKeyRecord:
    """Mark a key as possibly leaked: gates then admit only tickets in their snapshots."""
    lock_organisation(session, organisation_id)
    row = key(session, organisation_id, key_id)
    if row.state == KeyState.REVOKED.value:
        raise Conflict("The key is already revoked, which is stronger.", code="key_revoked")
    _set_state(session, row, KeyState.DISTRUSTED, context, reason)
    return row


def revoke(
    session: Session, organisation_id: str, key_id: int, context: ActionContext, *, kills: int, reason: str
) -> TicketKeyRecord:
    """Invalidate everything that this key signed; `kills` is the number of tickets, as confirmation."""
    lock_organisation(session, organisation_id)
    row = key(session, organisation_id, key_id)
    tickets = ticket_counts.signed_by(session, organisation_id, key_id)
    if tickets != kills:
        raise Conflict(
            f"Revoking this key invalidates {tickets} tickets. Repeat with kills={tickets} to confirm. You can reissue "
            "them afterwards, with new codes.",
            code="confirm_revocation",
            tickets=tickets,
        )
    _set_state(session, row, KeyState.REVOKED, context, reason)
    return row


def signing_key(session: Session, organisation_id: str, now: Millis) -> TicketKeyRecord:
    """The key that signs now; Conflict if there is none."""
    candidates = _signing_candidates(session, organisation_id, now)
    if not candidates:
        raise Conflict(
            "There is no key to sign with. Create one: gatehouse-server key rotate --at-once.", code="no_signing_key"
        )
    return candidates[0]


def signing_key_id(session: Session, organisation_id: str, now: Millis) -> int:
    """The id of the key that signs now, which is enough to issue tickets; Conflict if there is none."""
    statement, values = asks_signing_key_id(organisation_id, now)
    found = statement.rows(session, **values)
    return int(found[0].id) if found else signing_key(session, organisation_id, now).id


def asks_signing_key_id(organisation_id: str, now: Millis) -> Question:
    """What `signing_key_id` asks."""
    return _SIGNING_ID, {"organisation": organisation_id, "now": now}


def private_key(row: TicketKeyRecord, sealer: Sealer) -> Ed25519PrivateKey:
    """The unsealed private key; do not store it."""
    return Ed25519PrivateKey.from_private_bytes(sealer.open(row.sealed, _purpose(row.organisation_id, row.id)))


def key(session: Session, organisation_id: str, key_id: int) -> TicketKeyRecord:
    """That key of this organisation, or NotFound."""
    row = session.get(TicketKeyRecord, (organisation_id, key_id))
    if row is None:
        raise NotFound("There is no such key.", code="key_not_found")
    return row


def keys(session: Session, organisation_id: str) -> Sequence[TicketKeyRecord]:
    """All keys of an organisation, oldest first."""
    statement = select(TicketKeyRecord).where(TicketKeyRecord.organisation_id == organisation_id)
    return session.execute(statement.order_by(TicketKeyRecord.created_at, TicketKeyRecord.id)).scalars().all()


def key_rows(session: Session, organisation_id: str) -> list[KeyRow]:
    """The snapshot rows of the keys."""
    return [_key_row(row) for row in keys(session, organisation_id)]


def _signing_candidates(session: Session, organisation_id: str, now: Millis) -> Sequence[TicketKeyRecord]:
    candidates = (
        select(TicketKeyRecord)
        .where(
            TicketKeyRecord.organisation_id == organisation_id,
            TicketKeyRecord.state == KeyState.ACTIVE.value,
            TicketKeyRecord.signs_from <= now,
        )
        .order_by(*_LATEST_FIRST)
    )
    return session.execute(candidates).scalars().all()


def _next_id(session: Session, organisation_id: str) -> int:
    made = keys(session, organisation_id)
    last = max((row.id for row in made), default=0)
    # After a restore, a new key must not get the id of one that was lost, whose tickets are already out.
    is_restored = bool(made) and made[-1].created_at < revisions.lineage_since(session)
    return last + (IDS_LEFT_OUT_AFTER_RESTORE if is_restored else 1)


def _set_state(session: Session, row: TicketKeyRecord, state: KeyState, context: ActionContext, reason: str) -> None:
    before, row.state = row.state, state.value
    session.flush()
    _record(session, row, f"key_{state.value}", context, before=before, reason=reason)


def _record(
    session: Session,
    row: TicketKeyRecord,
    name: str,
    context: ActionContext,
    *,
    before: str | None = None,
    reason: str = "",
) -> None:
    where, after = row.organisation_id, {"state": row.state, "signs_from": row.signs_from}
    old = None if before is None else {"state": before}
    fact = Fact(name, where, context.now, {"key": row.id}, after)
    record_change(session, context, Subject("key", str(row.id), old, after, reason), fact)
    send(session, OrganisationRowsChanged(where, [_key_row(row)]))


def _key_row(row: TicketKeyRecord) -> KeyRow:
    return KeyRow(row.id, row.organisation_id, row.public, row.state)


def _purpose(organisation_id: str, key_id: int) -> str:
    return f"ticket-key:{organisation_id}:{key_id}"
