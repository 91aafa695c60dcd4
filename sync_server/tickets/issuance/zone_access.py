"""Checks that each guest of a request may sit in a zone, and that a membership admits one guest only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shared.errors import Forbidden
from sync_server.events.days.chosen_days import ChosenDays, joined, overlap
from sync_server.holds import queries as holds
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.layouts.plan import AccessMode
from sync_server.seating.rules import Entitlement
from sync_server.seating.search.offers import Refusal
from sync_server.seating.zone_access import entitlements
from sync_server.tickets import queries
from sync_server.tickets.issuance.issue_request import IssueRequest
from sync_server.tickets.issuance.layout import IssuingLayout


def guest_entitlement(layout: IssuingLayout, request: IssueRequest, zone: EventZone, index: int) -> Entitlement:
    """The guest's entitlement to the zone; Forbidden if there is none and no override."""
    bearer, _ = request.of(index)
    found = entitlements.entitlements_by_zone(layout.session, layout.organisation_id, layout.event_id, bearer, [zone])
    answer = entitlements.apply_override(found, [zone], override=bool(request.override))[zone.number]
    if zone.access_mode is not AccessMode.PUBLIC:
        _log_access(layout, zone, answer)
    if isinstance(answer, Refusal):
        raise Forbidden(f"{answer.message} {_advice(zone)}", code="zone_access_denied")
    return answer


def _log_access(layout: IssuingLayout, zone: EventZone, answer: Entitlement | Refusal) -> None:
    """Log who was let into a restricted zone and who was not, by ids and never by name."""
    granted = not isinstance(answer, Refusal)
    fields = {
        "organisation_id": layout.organisation_id,
        "event_id": layout.event_id,
        "zone_id": zone.id,
        "actor_id": layout.issued_by,
        "granted": granted,
        "reason": str(answer) if not isinstance(answer, Refusal) else answer.reason,
    }
    log = partial(LOG.info, "zone_access", **fields)
    if granted:
        after_commit(layout.session, log)
    else:
        log()


def _advice(zone: EventZone) -> str:
    if zone.access_mode is AccessMode.ROLE_BASED:
        return "Ask somebody with one of these roles to issue the ticket, or put the guest on the zone's list."
    return "Name the guest's membership, put the guest on the zone's list, or override this with a reason."


def check_one_guest_per_membership(
    layout: IssuingLayout, request: IssueRequest, guests: Sequence[tuple[int, ChosenDays, Entitlement]]
) -> None:
    """Forbidden if one membership would admit two guests on the same day.

    `guests` has the index in the request, the days and the entitlement of each guest.
    """
    days: dict[str, list[int]] = {}
    for index, on_days, entitlement in guests:
        member = request.of(index)[1]
        if entitlement is Entitlement.MEMBERSHIP and member is not None:
            days.setdefault(member.id, []).append(on_days.bits)
    restricted = [number for number, zone in layout.plan.zones.items() if _needs_membership(zone)]
    zones = [layout.plan.event_zones[number] for number in restricted]
    here = layout.session, layout.organisation_id, layout.event_id
    for id, requested in days.items():
        existing = queries.days_of_membership(*here, id, zones)
        held = holds.held_with_card(*here, id, restricted, layout.now, days=joined(requested), besides=request.holds)
        if held or any(
            overlap(one, other) for at, one in enumerate(requested) for other in (*requested[:at], *existing)
        ):
            raise Forbidden(
                "A membership admits one guest, and this one is already in use. Friends need their own memberships, or "
                "a place on the zone's list.",
                code="zone_access_denied",
            )


def _needs_membership(zone: EventZone) -> bool:
    return zone.access_mode is AccessMode.MEMBERSHIP_TIER
