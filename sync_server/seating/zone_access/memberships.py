"""Stores memberships: who belongs to a tier, until when, and the code on the member's card."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.ids import Entropy, uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.api.pagination import Page, decode_cursor, paginate
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes
from sync_server.seating.models import TierMembershipRecord

_CARD_BYTES = 10
"""Random bytes on a card: too many to guess."""


class State(StrEnum):
    """Whether the organisation has revoked a membership; whether it has expired depends on the time."""

    ACTIVE = "active"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Grant:
    """A membership to be created; without an id of the organiser's own it gets one."""

    tier: str
    until: Millis | None = None
    id: str = ""
    email: str = ""  # with which the member may link it to a login; only a keyed hash is stored


@dataclass(frozen=True, slots=True)
class Membership:
    """A stored membership."""

    id: str
    tier: str
    until: Millis | None
    state: State
    granted_at: Millis

    def counts(self, now: Millis) -> bool:
        """Whether it admits its holder to a zone of this tier now."""
        return self.state is State.ACTIVE and (self.until is None or now < self.until)


def forget_card(session: Session, organisation_id: str, membership_id: str, context: ActionContext) -> bool:
    """Revoke a membership and unlink its card for good; False where there is none. Its id is the organiser's own."""
    row = session.get(TierMembershipRecord, (organisation_id, membership_id), with_for_update=True)
    if row is None:
        return False
    row.state, row.card, row.address = State.REVOKED, context.entropy(32).hex(), ""
    row.updated_at = context.now
    session.flush()
    return True


def grant(
    session: Session, organisation_id: str, wanted: Grant, sealer: Sealer, context: ActionContext
) -> tuple[Membership, str]:
    """Create a membership; returns it with the code of its card, which is not stored. Conflict for an id in use."""
    code = _new_code(context.entropy)
    row = TierMembershipRecord(
        organisation_id=organisation_id,
        id=wanted.id or uuid7(context.now, context.entropy),
        tier=wanted.tier,
        until=wanted.until,
        state=State.ACTIVE.value,
        card=_hash(sealer, organisation_id, code),
        address=address_key(sealer, organisation_id, wanted.email) if wanted.email else "",
        granted_at=context.now,
        updated_at=context.now,
    )
    session.add(row)
    writes.flush_or_conflict(
        session, "There is already a membership with this id. Renew that one.", "membership_exists"
    )
    after = {"tier": row.tier, "until": row.until, "state": row.state}
    fact = Fact("membership_granted", organisation_id, context.now, {"membership": row.id}, after)
    record_change(session, context, Subject("membership", row.id, None, after), fact)
    return _value(row), code


def new_card(
    session: Session, organisation_id: str, id: str, sealer: Sealer, context: ActionContext
) -> tuple[Membership, str]:
    """Replace the card of a membership; the old card is no longer valid."""
    row, code = _row(session, organisation_id, id), _new_code(context.entropy)
    row.card, row.updated_at = _hash(sealer, organisation_id, code), context.now
    record(session, AuditLine(context, "membership_card_replaced", "membership", id, organisation_id, after={}))
    return _value(row), code


def change(
    session: Session, organisation_id: str, id: str, *, state: State, until: Millis | None, now: Millis
) -> tuple[Membership, Membership]:
    """Change a membership; returns it before and after. The caller records the change and what it means for tickets."""
    row = _row(session, organisation_id, id, lock=True)
    before = _value(row)
    row.state, row.until, row.updated_at = state.value, until, now
    session.flush()
    return before, _value(row)


def membership(session: Session, organisation_id: str, id: str) -> Membership:
    """A membership of this organisation, or NotFound."""
    return _value(_row(session, organisation_id, id))


def lock_membership(session: Session, organisation_id: str, id: str) -> Membership:
    """A membership, share-locked until this transaction ends, for binding a ticket to it.

    Call it before locking the event: revoking takes the locks in that order too.
    """
    return _value(_row(session, organisation_id, id, lock={"read": True}))


def lock_alone(session: Session, organisation_id: str, id: str) -> None:
    """Lock a membership for whoever counts what it is used for; the same order of locks."""
    _row(session, organisation_id, id, lock=True)


def find_by_card(
    session: Session, organisation_id: str, card: str, sealer: Sealer, *, or_named: bool = False
) -> Membership | None:
    """The membership with this card, or None.

    With `or_named`, `card` may also be the id of a membership.
    """
    card_hash = _hash(sealer, organisation_id, card)
    mine = TierMembershipRecord.organisation_id == organisation_id, TierMembershipRecord.card == card_hash
    row = session.execute(select(TierMembershipRecord).where(*mine)).scalar_one_or_none()
    if row is None and or_named:
        row = session.get(TierMembershipRecord, (organisation_id, card))
    return None if row is None else _value(row)


def by_id(session: Session, organisation_id: str, id: str) -> Membership | None:
    """The membership with this id, or None."""
    row = session.get(TierMembershipRecord, (organisation_id, id))
    return None if row is None else _value(row)


def find_by_address(session: Session, organisation_id: str, id: str, email: str, sealer: Sealer) -> Membership | None:
    """The membership with this number, if the organiser holds this address for it; or None."""
    row = session.get(TierMembershipRecord, (organisation_id, id))
    key = address_key(sealer, organisation_id, email)
    return _value(row) if row is not None and hmac.compare_digest(row.address, key) else None


def address_key(sealer: Sealer, organisation_id: str, email: str) -> str:
    """The keyed hash under which the address of a member is stored."""
    return sealer.keyed_hash(email.strip().casefold(), f"address of a member of {organisation_id}")


def forget_address(session: Session, organisation_id: str, email: str, sealer: Sealer) -> int:
    """Forget this address wherever it is held for a membership; returns for how many."""
    row = TierMembershipRecord
    here = row.organisation_id == organisation_id, row.address == address_key(sealer, organisation_id, email)
    emptied = update(row).where(*here).values(address="").returning(row.id)
    return len(session.execute(emptied.execution_options(synchronize_session=False)).all())


def memberships(
    session: Session, organisation_id: str, *, tier: str | None, state: State | None, limit: int, after: str | None
) -> Page[Membership]:
    """A page of the memberships of an organisation by id, optionally of one tier or state."""
    row = TierMembershipRecord
    statement = select(row).where(row.organisation_id == organisation_id).order_by(row.id)
    statement = statement if tier is None else statement.where(row.tier == tier)
    statement = statement if state is None else statement.where(row.state == state.value)
    start = decode_cursor(after, str)
    if start is not None:
        statement = statement.where(row.id > start[0])
    found = [_value(each) for each in session.execute(statement.limit(limit + 1)).scalars()]
    return paginate(found, limit, lambda each: (each.id,))


def _row(
    session: Session, organisation_id: str, id: str, *, lock: bool | dict[str, Any] = False
) -> TierMembershipRecord:
    row = session.get(TierMembershipRecord, (organisation_id, id), with_for_update=lock)
    if row is None:
        raise NotFound("There is no such membership.", code="membership_not_found")
    return row


def _value(row: TierMembershipRecord) -> Membership:
    return Membership(row.id, row.tier, row.until, State(row.state), row.granted_at)


def _new_code(entropy: Entropy) -> str:
    digits = entropy(_CARD_BYTES).hex()
    return "-".join(digits[start : start + 5] for start in range(0, len(digits), 5))


def _hash(sealer: Sealer, organisation_id: str, code: str) -> str:
    normalised = "".join(code.replace("-", "").split()).casefold()
    return sealer.keyed_hash(normalised, f"membership card {organisation_id}")
