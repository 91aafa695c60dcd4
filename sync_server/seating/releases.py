"""Tells when the companion seats of a zone become everybody's, and when they are kept again.

Who may book them is decided at each booking by how full the zone is then; this only tells of it, once each time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.audit.service import AuditLine, record
from sync_server.events.going_on import going_on
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.seating import queries
from sync_server.seating.accessibility import Pairing
from sync_server.seating.house import policy_at
from sync_server.seating.models import CompanionReleaseRecord, EventLayoutRecord
from sync_server.seating.overlay import EventZone, event_zones
from sync_server.seating.taken import taken


def look(session: Session, deed: Deed) -> int:
    """Go through the events that are sold or taking place; how many zones changed."""
    rows = session.execute(select(EventLayoutRecord).order_by(EventLayoutRecord.event_id)).scalars().all()
    sold = going_on(session, [row.event_id for row in rows])
    looked_at = (row for row in rows if row.event_id in sold and policy_at(session, row).enforce_accessibility_rules)
    return sum(_look_at(session, row, deed) for row in looked_at)


def _look_at(session: Session, row: EventLayoutRecord, deed: Deed) -> int:
    pairings = [pairing for pairing in queries.pairings(session, row.layout_id) if pairing.companions]
    if not pairings:
        return 0
    zones, gone = _zones(session, row), taken(session, row.event_id, deed.now).seats
    full = _full(session, row, zones, gone)
    known = _known(session, row.event_id)
    changed = 0
    for number in sorted({pairing.zone for pairing in pairings} & set(zones)):
        zone = zones[number]
        if full[number] != (zone.id in known):
            seats = _free_companions(session, row, pairings, number, gone)
            _note(session, row, known.get(zone.id) or zone, seats, deed)
            changed += 1
    return changed


def _zones(session: Session, row: EventLayoutRecord) -> dict[int, EventZone]:
    deltas = queries.deltas(row)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = event_zones(queries.zones(session, row.layout_id), deltas, blocked)
    return {zone.number: zone for zone in zones if zone.zone_type.numbered}


def _full(
    session: Session, row: EventLayoutRecord, zones: Mapping[int, EventZone], gone: Collection[int]
) -> dict[int, bool]:
    used = queries.seats_by_zone(session, row.layout_id, gone)
    percent = policy_at(session, row).companion_release_occupancy_threshold
    return {number: 100 * used[number] >= percent * zone.capacity for number, zone in zones.items()}


def _known(session: Session, event_id: str) -> dict[str, CompanionReleaseRecord]:
    here = select(CompanionReleaseRecord).where(CompanionReleaseRecord.event_id == event_id)
    return {found.zone_id: found for found in session.execute(here).scalars()}


def _free_companions(
    session: Session, row: EventLayoutRecord, pairings: Sequence[Pairing], zone: int, gone: Collection[int]
) -> list[str]:
    seats = {seat for pairing in pairings if pairing.zone == zone for seat in pairing.companions}
    return queries.seat_names(session, row.layout_id, seats.difference(gone))


def _note(
    session: Session, row: EventLayoutRecord, about: EventZone | CompanionReleaseRecord, seats: list[str], deed: Deed
) -> None:
    where, now = row.organisation_id, deed.now
    if isinstance(about, CompanionReleaseRecord):
        what, zone_id = "companion_seats_kept_again", about.zone_id
        session.delete(about)
    else:
        what, zone_id = "companion_seats_released", about.id
        found = {"event_id": row.event_id, "zone_id": zone_id, "organisation_id": where, "released_at": now}
        session.add(CompanionReleaseRecord(**found, seats=list(seats)))
    session.flush()
    after = {"zone": zone_id, "seats": seats}
    record(session, AuditLine(deed.actor, what, "event", row.event_id, where, now, None, after))
    record_fact(session, Fact(what, where, now, {"event": row.event_id}, after))
