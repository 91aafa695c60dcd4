"""Keeps memberships: whom an organisation counts among a tier, until when, and by what card somebody shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from shared.ids import Entropy, uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.pages import Page, cut, position
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.sealing import Sealer
from sync_server.seating.models import TierMembershipRecord

_CARD = 10
"""So many random bytes are on a card: nobody tries them all."""


class State(StrEnum):
    """Whether a membership counts, as far as its organisation decides; whether it is over says the time."""

    ACTIVE = "active"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Grant:
    """A membership to be kept; without an id of the organiser's own it gets one."""

    tier: str
    until: Millis | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Membership:
    """Somebody's membership."""

    id: str
    tier: str
    until: Millis | None
    state: State
    granted_at: Millis

    def counts(self, now: Millis) -> bool:
        """Whether a zone of this tier lets its holder in now."""
        return self.state is State.ACTIVE and (self.until is None or now < self.until)


def grant(session: Session, organisation_id: str, asked: Grant, sealer: Sealer, deed: Deed) -> tuple[Membership, str]:
    """A new membership, and the code on its card, which is told this once; Conflict where the id is taken."""
    code = _new_code(deed.entropy)
    row = TierMembershipRecord(
        organisation_id=organisation_id,
        id=asked.id or uuid7(deed.now, deed.entropy),
        tier=asked.tier,
        until=asked.until,
        state=State.ACTIVE.value,
        card=_mark(sealer, organisation_id, code),
        granted_at=deed.now,
        updated_at=deed.now,
    )
    session.add(row)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict("There is a membership of this id already. Renew that one.", code="membership_exists") from None
    after = {"tier": row.tier, "until": row.until, "state": row.state}
    line = AuditLine(deed.actor, "membership_granted", "membership", row.id, organisation_id, deed.now, None, after)
    record(session, line)
    record_fact(session, Fact("membership_granted", organisation_id, deed.now, {"membership": row.id}, after))
    return _value(row), code


def new_card(session: Session, organisation_id: str, id: str, sealer: Sealer, deed: Deed) -> tuple[Membership, str]:
    """Another card for a membership; the one before is good no more."""
    row, code = _row(session, organisation_id, id), _new_code(deed.entropy)
    row.card, row.updated_at = _mark(sealer, organisation_id, code), deed.now
    line = AuditLine(deed.actor, "membership_card_replaced", "membership", id, organisation_id, deed.now, None, {})
    record(session, line)
    return _value(row), code


def change(
    session: Session, organisation_id: str, id: str, *, state: State, until: Millis | None, now: Millis
) -> tuple[Membership, Membership]:
    """What it was, and what it is from now on; whoever calls tells of it, with what it means for tickets."""
    row = _row(session, organisation_id, id, lock=True)
    before = _value(row)
    row.state, row.until, row.updated_at = state.value, until, now
    session.flush()
    return before, _value(row)


def membership(session: Session, organisation_id: str, id: str) -> Membership:
    """That membership of this organisation, or NotFound."""
    return _value(_row(session, organisation_id, id))


def held_still(session: Session, organisation_id: str, id: str) -> Membership:
    """The same, and nobody changes it before this transaction ends: for whoever binds a ticket to it.

    Asked before the event is locked, for whoever revokes it takes them in that order too.
    """
    return _value(_row(session, organisation_id, id, lock={"read": True}))


def shown(
    session: Session, organisation_id: str, card: str, sealer: Sealer, *, or_named: bool = False
) -> Membership | None:
    """The membership of whoever shows this card; None: it is no card of this organisation.

    `or_named`: whoever asks may name it by its id as well.
    """
    mark = _mark(sealer, organisation_id, card)
    mine = TierMembershipRecord.organisation_id == organisation_id, TierMembershipRecord.card == mark
    row = session.execute(select(TierMembershipRecord).where(*mine)).scalar_one_or_none()
    if row is None and or_named:
        row = session.get(TierMembershipRecord, (organisation_id, card))
    return None if row is None else _value(row)


def memberships(
    session: Session, organisation_id: str, *, tier: str | None, state: State | None, limit: int, after: str | None
) -> Page[Membership]:
    """The memberships of an organisation by their ids, perhaps of one tier or state only."""
    row = TierMembershipRecord
    wanted = select(row).where(row.organisation_id == organisation_id).order_by(row.id)
    wanted = wanted if tier is None else wanted.where(row.tier == tier)
    wanted = wanted if state is None else wanted.where(row.state == state.value)
    start = position(after, str)
    if start is not None:
        wanted = wanted.where(row.id > start[0])
    found = [_value(each) for each in session.execute(wanted.limit(limit + 1)).scalars()]
    return cut(found, limit, lambda each: (each.id,))


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
    digits = entropy(_CARD).hex()
    return "-".join(digits[start : start + 5] for start in range(0, len(digits), 5))


def _mark(sealer: Sealer, organisation_id: str, code: str) -> str:
    plain = "".join(code.replace("-", "").split()).casefold()
    return sealer.mark(plain, f"membership card {organisation_id}")
