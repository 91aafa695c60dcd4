"""Whom the zones of an event let in: what is known of whoever books, and the lists of guests by zone and event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from sync_server.plumbing.sealing import Sealer
from sync_server.seating.models import ZoneGuestRecord
from sync_server.seating.offers import Refused
from sync_server.seating.overlay import EventZone
from sync_server.seating.rules import Entrance, Ground, Visitor, may_sit, overridable


class Named(StrEnum):
    """How a list names a guest."""

    EMAIL = "email"
    CUSTOMER = "customer"  # a customer's id
    CODE = "code"  # an invitation: whoever knows the code


Name = tuple[Named, str]
"""How a guest is named, and the key under which a list has that."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whoever books, as far as zones ask; every word of it was verified by whoever made it."""

    visitor: Visitor = field(default_factory=Visitor)
    names: frozenset[Name] = frozenset()  # what lists may know this guest by


def key(sealer: Sealer, organisation_id: str, named: Named, words: str) -> str:
    """What a list keeps of a name: of addresses and codes a mark only, other in every organisation."""
    if named is Named.CUSTOMER:
        return words
    plain = "".join(words.split()).casefold()
    return sealer.mark(plain, f"guest list {named} {organisation_id}")


def name(sealer: Sealer, organisation_id: str, named: Named, words: str) -> Name:
    """A guest's name as lists know it."""
    return named, key(sealer, organisation_id, named, words)


def entrance(zone: EventZone) -> Entrance:
    """Whom a zone lets in at its event."""
    return Entrance(zone.name, zone.access_mode, zone.membership_tier, frozenset(zone.allowed_roles))


def grounds(
    session: Session, organisation_id: str, event_id: str, bearer: Bearer, zones: Iterable[EventZone]
) -> Mapping[int, Ground | Refused]:
    """By what right this guest sits in each of these zones, or why not; zones by their numbers.

    Asks the database only where a zone is not open to all and the guest has a name that a list may know.
    """
    asked = list(zones)
    closed = [zone.id for zone in asked if zone.access_mode != "public"]
    there = listed(session, organisation_id, event_id, bearer.names) if closed and bearer.names else frozenset()
    return {
        zone.number: may_sit(entrance(zone), replace(bearer.visitor, whitelisted=zone.id in there)) for zone in asked
    }


def settled(
    answers: Mapping[int, Ground | Refused], zones: Iterable[EventZone], *, override: bool
) -> Mapping[int, Ground | Refused]:
    """The same answers after the box office has said that it answers for this guest."""
    modes = {zone.number: zone.access_mode for zone in zones}
    return {
        number: Ground.OVERRIDE if override and isinstance(answer, Refused) and overridable(modes[number]) else answer
        for number, answer in answers.items()
    }


def listed(session: Session, organisation_id: str, event_id: str, names: Iterable[Name]) -> frozenset[str]:
    """The ids of the zones on whose lists a guest of these names stands."""
    wanted = [(str(named), found) for named, found in names]
    here = (
        ZoneGuestRecord.event_id == event_id,
        ZoneGuestRecord.organisation_id == organisation_id,
        tuple_(ZoneGuestRecord.named, ZoneGuestRecord.key).in_(wanted),
    )
    return frozenset(session.execute(select(ZoneGuestRecord.zone_id).where(*here)).scalars()) if wanted else frozenset()
