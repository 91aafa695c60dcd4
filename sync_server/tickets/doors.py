"""By what right the guests of a wish sit in the event's zones: each judged for himself, one guest to a membership."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shared.errors import Forbidden
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.logs import LOG
from sync_server.seating import access
from sync_server.seating.offers import Refused
from sync_server.seating.overlay import EventZone
from sync_server.seating.plan import AccessMode
from sync_server.seating.rules import Ground
from sync_server.tickets import queries
from sync_server.tickets.house import House
from sync_server.tickets.models import TicketTypeRecord
from sync_server.tickets.wishes import Wish


def ground(here: House, wish: Wish, zone: EventZone, place: int) -> Ground:
    """By what right the guest of this ticket sits there; Forbidden where he has none and nobody answers for it."""
    bearer, _ = wish.of(place)
    found = access.grounds(here.session, here.organisation_id, here.event_id, bearer, [zone])
    answer = access.settled(found, [zone], override=bool(wish.override))[zone.number]
    if zone.access_mode is not AccessMode.PUBLIC:
        _tell(here, zone, answer)
    if isinstance(answer, Refused):
        raise Forbidden(f"{answer.words} {_advice(zone)}", code="zone_access_denied")
    return answer


def _tell(here: House, zone: EventZone, answer: Ground | Refused) -> None:
    """Who was let in to a zone that is not open to all, and who was not; by ids, never by name."""
    granted = not isinstance(answer, Refused)
    words = {
        "organisation_id": here.organisation_id,
        "event_id": here.event_id,
        "zone_id": zone.id,
        "actor_id": here.by,
        "granted": granted,
        "reason": str(answer) if not isinstance(answer, Refused) else answer.reason,
    }
    told = partial(LOG.info, "zone_access", **words)
    if granted:
        after_commit(here.session, told)
    else:
        told()


def _advice(zone: EventZone) -> str:
    if zone.access_mode is AccessMode.ROLE_BASED:
        return "Let somebody of these roles sell here, or put the guest on the zone's list."
    return "Name the guest's membership, put the guest on the zone's list, or override this with a reason."


def one_guest_each(here: House, wish: Wish, sitting: Sequence[tuple[int, TicketTypeRecord, Ground]]) -> None:
    """Forbidden where one membership would let in two guests at once; `sitting` says place in the wish, type, ground.

    Friends of a member are members themselves, or on the list.
    """
    days: dict[str, list[int]] = {}
    for place, kind, right in sitting:
        member = wish.of(place)[1]
        if right is Ground.MEMBERSHIP and member is not None:
            days.setdefault(member.id, []).append(kind.valid_days)
    zones = [here.event_zones[number] for number, zone in here.zones.items() if _asks(zone)]
    for id, wanted in days.items():
        there = queries.days_of_member(here.session, here.organisation_id, here.event_id, id, zones)
        if any(_meet(one, other) for at, one in enumerate(wanted) for other in (*wanted[:at], *there)):
            raise Forbidden(
                "This membership lets in one guest, and has one already. Friends need memberships of their own, or a "
                "place on the zone's list.",
                code="zone_access_denied",
            )


def _asks(zone: EventZone) -> bool:
    return zone.access_mode is AccessMode.MEMBERSHIP_TIER


def _meet(one: int, other: int) -> bool:
    """Whether there is a day of both; 0 is every day."""
    return not one or not other or bool(one & other)
