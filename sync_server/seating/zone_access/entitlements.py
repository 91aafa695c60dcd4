"""Who may book in the zones of an event, from what is known of the guest and from the guest lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct, field, structs
from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from sync_server.plumbing.sealing import Sealer
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.models import ZoneGuestRecord
from sync_server.seating.rules import Entitlement, Visitor, ZoneAccess, entitlement, overridable
from sync_server.seating.search.offers import Refusal


class GuestIdKind(StrEnum):
    """How a guest list identifies a guest."""

    EMAIL = "email"
    CUSTOMER = "customer"  # a customer's id
    CODE = "code"  # an invitation code


GuestKey = tuple[GuestIdKind, str]
"""The kind of identifier, and the value that the list stores for it."""


class Bearer(Struct, frozen=True):
    """What zones need to know about who books; whoever creates it has verified it."""

    visitor: Visitor = field(default_factory=Visitor)
    names: frozenset[GuestKey] = frozenset()  # under which guest lists may have this guest


def stored_key(sealer: Sealer, organisation_id: str, kind: GuestIdKind, value: str) -> str:
    """What a list stores: the customer id, or a keyed hash of an address or code, different in every organisation."""
    if kind is GuestIdKind.CUSTOMER:
        return value
    normalised = "".join(value.split()).casefold()
    return sealer.keyed_hash(normalised, f"guest list {kind} {organisation_id}")


def guest_key(sealer: Sealer, organisation_id: str, kind: GuestIdKind, value: str) -> GuestKey:
    """The key under which guest lists store this guest."""
    return kind, stored_key(sealer, organisation_id, kind, value)


def access_of(zone: EventZone) -> ZoneAccess:
    """Who may book in this zone of the event."""
    return ZoneAccess(zone.name, zone.access_mode, zone.membership_tier, frozenset(zone.allowed_roles))


def entitlements_by_zone(
    session: Session, organisation_id: str, event_id: str, bearer: Bearer, zones: Iterable[EventZone]
) -> Mapping[int, Entitlement | Refusal]:
    """What entitles this guest to sit in each of these zones, or why they may not, by zone number."""
    all_zones = list(zones)
    if not may_be_listed(bearer, all_zones):
        return of_listed(bearer, all_zones)
    return of_listed(bearer, all_zones, zones_listing(session, organisation_id, event_id, bearer.names))


def may_be_listed(bearer: Bearer, zones: Iterable[EventZone]) -> bool:
    """Whether guest lists must be read: a zone is not public, and the guest has a key that a list may contain."""
    return bool(bearer.names) and any(zone.access_mode != "public" for zone in zones)


def of_listed(
    bearer: Bearer, zones: Iterable[EventZone], listing: Collection[str] = ()
) -> Mapping[int, Entitlement | Refusal]:
    """The same where it is known which of the zones have this guest on their list."""
    visitor, listed = bearer.visitor, structs.replace(bearer.visitor, whitelisted=True)
    return {zone.number: entitlement(access_of(zone), listed if zone.id in listing else visitor) for zone in zones}


def apply_override(
    results: Mapping[int, Entitlement | Refusal], zones: Iterable[EventZone], *, override: bool
) -> Mapping[int, Entitlement | Refusal]:
    """The results with those refusals overridden that the box office may override."""
    modes = {zone.number: zone.access_mode for zone in zones}
    return {
        number: Entitlement.OVERRIDE
        if override and isinstance(result, Refusal) and overridable(modes[number])
        else result
        for number, result in results.items()
    }


def zones_listing(session: Session, organisation_id: str, event_id: str, names: Iterable[GuestKey]) -> frozenset[str]:
    """The ids of the zones whose guest lists contain one of these keys."""
    keys = [(str(kind), key) for kind, key in names]
    if not keys:
        return frozenset()
    listed = (
        ZoneGuestRecord.event_id == event_id,
        ZoneGuestRecord.organisation_id == organisation_id,
        tuple_(ZoneGuestRecord.named, ZoneGuestRecord.key).in_(keys),
    )
    return frozenset(session.execute(select(ZoneGuestRecord.zone_id).where(*listed)).scalars())
