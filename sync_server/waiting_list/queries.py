"""Reads of waiting lists; an id of another organisation counts as unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session, aliased

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.waiting_list.models import WaitingListRow, WaitingOfferRow, WaitingPartyRow
from sync_server.waiting_list.rules import STANDING, OfferState, PartyState, Waiting, Wish

Party = WaitingPartyRow
Offer = WaitingOfferRow


@dataclass(frozen=True, slots=True)
class Recipient:
    """To whom a mail about a party goes."""

    email: str
    locale: str
    event_id: str
    size: int
    joined_at: Millis


def waiting_list(session: Session, event: EventKey, *, lock: bool = False) -> WaitingListRow | None:
    """The waiting list of an event, if it has one."""
    wanted = select(WaitingListRow).where(event.of(WaitingListRow))
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    return session.execute(wanted).scalar_one_or_none()


def party(session: Session, organisation_id: str, party_id: str, *, lock: bool = False) -> WaitingPartyRow:
    """A party of this organisation, or NotFound."""
    wanted = select(Party).where(Party.organisation_id == organisation_id, Party.id == party_id)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    row = session.execute(wanted).scalar_one_or_none()
    if row is None:
        raise no_such_party()
    return row


def no_such_party() -> NotFound:
    """What to say about a party that does not exist, or is somebody else's."""
    return NotFound("You are not on this waiting list.", code="party_not_found")


def recipient(session: Session, organisation_id: str, party_id: str) -> Recipient:
    """Who is told about a party."""
    row = party(session, organisation_id, party_id)
    return Recipient(row.email, row.locale, row.event_id, row.size, row.joined_at)


def in_turn(session: Session, event: EventKey) -> list[Waiting]:
    """The parties that wait, the first one first; of one address only the first that is on the list."""
    before, here = aliased(Party), (event.of(Party), Party.state == PartyState.WAITING.value)
    same = event.of(before), before.email == Party.email, before.seq < Party.seq, before.state.in_(STANDING)
    rows = session.scalars(select(Party).where(*here, ~exists().where(*same)).order_by(Party.seq))
    return [Waiting(row.id, row.seq, wish_of(row)) for row in rows]


def wish_of(row: WaitingPartyRow) -> Wish:
    """What a party wants."""
    return Wish(row.size, row.together, tuple(row.zone_ids), tuple(row.ticket_types), tuple(row.days))


def position(session: Session, row: WaitingPartyRow) -> int | None:
    """How far a party that waits is from the front, counted from 1."""
    if row.state != PartyState.WAITING.value:
        return None
    event = EventKey(row.organisation_id, row.event_id)
    before = event.of(Party), Party.state == PartyState.WAITING.value, Party.seq < row.seq
    return session.execute(select(func.count()).select_from(Party).where(*before)).scalar_one() + 1


def open_offer(session: Session, organisation_id: str, party_id: str, *, lock: bool = False) -> WaitingOfferRow | None:
    """The open offer of a party."""
    here = Offer.organisation_id == organisation_id, Offer.party_id == party_id, Offer.state == OfferState.OPEN.value
    wanted = select(Offer).where(*here)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    return session.execute(wanted).scalar_one_or_none()


def offered_of_types(session: Session, event: EventKey) -> Counter[int]:
    """How many of each ticket type open offers may still take."""
    same = (Party.organisation_id == Offer.organisation_id) & (Party.id == Offer.party_id)
    wanted = select(Offer.ticket_type, func.sum(Party.size)).join(Party, same)
    found = session.execute(
        wanted.where(event.of(Offer), Offer.state == OfferState.OPEN.value).group_by(Offer.ticket_type)
    )
    return Counter({number: int(count) for number, count in found})


def parties(session: Session, event: EventKey, *, limit: int, after: str | None) -> Page[WaitingPartyRow]:
    """A page of the parties of a list that wait or have an offer, the first one first."""
    start = decode_cursor(after, int)
    wanted = select(Party).where(event.of(Party), Party.state.in_(STANDING))
    if start is not None:
        wanted = wanted.where(Party.seq > start[0])
    rows = session.scalars(wanted.order_by(Party.seq).limit(limit + 1)).all()
    return paginate(rows, limit, lambda row: (row.seq,))


def offers(
    session: Session, event: EventKey, *, limit: int, after: str | None
) -> Page[tuple[WaitingOfferRow, WaitingPartyRow]]:
    """A page of the offers from a list, the latest first, with their parties."""
    start = decode_cursor(after, AnId)
    same = (Party.organisation_id == Offer.organisation_id) & (Party.id == Offer.party_id)
    wanted = select(Offer, Party).join(Party, same).where(event.of(Offer))
    if start is not None:
        wanted = wanted.where(Offer.id < start[0])
    found = session.execute(wanted.order_by(Offer.id.desc()).limit(limit + 1))
    return paginate([(offer, party) for offer, party in found], limit, lambda row: (row[0].id,))


def count_by_state(session: Session, event: EventKey) -> dict[str, int]:
    """How many parties of a list are in which state."""
    counted = select(Party.state, func.count().label("parties")).where(event.of(Party)).group_by(Party.state)
    return {row.state: row.parties for row in session.execute(counted)}


def parties_of(session: Session, event: EventKey, email: str) -> Sequence[WaitingPartyRow]:
    """The parties that ever joined with this address, the first one first."""
    return session.scalars(select(Party).where(event.of(Party), Party.email == email).order_by(Party.seq)).all()


def ended_offers(session: Session, organisation_id: str, now: Millis) -> Sequence[str]:
    """The parties whose open offers have ended, the first ones."""
    here = Offer.organisation_id == organisation_id, Offer.state == OfferState.OPEN.value, Offer.ends_at <= now
    return session.scalars(select(Offer.party_id).where(*here).order_by(Offer.ends_at).limit(200)).all()
