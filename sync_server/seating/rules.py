"""The seating policy: what an organisation allows, what an event may decide for itself, and who may book where."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final

from shared.errors import Conflict, Forbidden, InvalidRequest, Unavailable
from sync_server.plumbing.principals import Principal
from sync_server.seating.offers import Care, Manners, Refused
from sync_server.seating.plan import AccessMode, ZoneType


@dataclass(frozen=True, slots=True)
class Policy:
    """How an organisation seats its guests. These are the defaults."""

    allow_reserved_seating: bool = True
    allow_ga_seating: bool = True
    allow_hybrid_ga_reserved: bool = True
    allow_vip_zones: bool = False
    enforce_accessibility_rules: bool = True
    companion_release_occupancy_threshold: int = 85
    max_wheelchair_seats_per_booking: int = 1
    accessibility_audit_enabled: bool = True
    max_seats_per_booking: int = 10
    orphan_avoidance_strict: bool = True
    group_adjacency_strict: bool = False
    max_group_split: int = 2
    prefer_clustering_over_selection: bool = False
    default_hold_ttl_minutes: int = 5
    max_holds_per_user: int | None = None
    max_holds_per_ip: int | None = None
    mandatory: tuple[str, ...] = ()  # what no event may decide otherwise

    def manners(self) -> Manners:
        """What the search for seats obeys."""
        return Manners(
            self.orphan_avoidance_strict,
            self.group_adjacency_strict,
            self.max_group_split,
            self.prefer_clustering_over_selection,
        )

    def care(self) -> Care:
        """What wheelchair places obey."""
        return Care(
            self.enforce_accessibility_rules,
            self.companion_release_occupancy_threshold,
            self.max_wheelchair_seats_per_booking,
        )


FIELDS: Final = tuple(field.name for field in fields(Policy) if field.name != "mandatory")
OVERRIDABLE: Final = frozenset(name for name in FIELDS if not name.startswith("allow_"))
"""What an event may decide for itself where the policy does not make it mandatory."""


MOVING_TAKES_S: Final = 15
"""After so many seconds somebody who was told that guests are being moved may try again."""


def effective(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """The policy at an event. What became mandatory since the event was made holds all the same."""
    allowed = OVERRIDABLE - set(policy.mandatory)
    return replace(policy, **{name: value for name, value in overrides.items() if name in allowed})


def check_overrides(policy: Policy, overrides: Mapping[str, Any]) -> None:
    """Forbidden for what the organisation made mandatory."""
    for name in sorted(overrides):
        if name not in OVERRIDABLE:
            raise InvalidRequest(f"{name} belongs to the organisation's policy; no event decides it.", field=name)
        if not permitted(policy, name, overrides[name]):
            raise Forbidden(
                f"{name} is mandatory in this organisation: it stays {_said(getattr(policy, name))} at every event. "
                "Leave it out.",
                code="override_not_permitted",
                field=name,
            )


def permitted(policy: Policy, name: str, value: object) -> bool:
    """Whether an event may say so itself: what is mandatory may only be repeated."""
    return name not in policy.mandatory or value == getattr(policy, name)


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "without a bound" if value is None else str(value)


def check_policy_change(who: Principal, present: Policy, changes: Mapping[str, Any]) -> None:
    """Forbidden where only the platform may: what is mandatory, and how it stands."""
    if who.platform_role == "super_admin":
        return
    touched = [name for name in changes if name == "mandatory" or name in present.mandatory]
    changed = [name for name in touched if changes[name] != getattr(present, name)]
    if changed:
        raise Forbidden(
            f"{', '.join(sorted(changed))}: the platform decides what is mandatory. Ask its super admin.",
            code="mandatory_policy",
        )


def being_moved() -> Unavailable:
    """Nothing of an event is sold, held or given back while its guests get other seats."""
    return Unavailable(
        "The guests of this event are being moved to other seats. Try again in a minute.",
        code="guests_being_moved",
        retry_after=MOVING_TAKES_S,
    )


def check_zones(policy: Policy, types: Iterable[ZoneType]) -> None:
    """Conflict where the organisation does not allow such zones, or not side by side."""
    used = set(types)
    for wrong, words in _zone_rules(policy, used):
        if wrong:
            raise Conflict(f"{words} Change the zones, or the organisation's seating policy.", code="zone_not_allowed")


def _zone_rules(policy: Policy, used: Collection[ZoneType]) -> Iterator[tuple[bool, str]]:
    numbered, free = any(zone.numbered for zone in used), any(not zone.numbered for zone in used)
    yield numbered and not policy.allow_reserved_seating, "The seating policy allows no reserved seats."
    yield free and not policy.allow_ga_seating, "The seating policy allows no general admission."
    hybrid = numbered and free and not policy.allow_hybrid_ga_reserved
    yield hybrid, "The seating policy does not allow reserved seats and general admission at one event."
    yield any(zone.vip for zone in used) and not policy.allow_vip_zones, "The seating policy allows no VIP zones."


class Ground(StrEnum):
    """By what right somebody sits in a zone."""

    OPEN = "open"  # everybody may
    MEMBERSHIP = "membership"
    ROLE = "role"
    LIST = "list"
    OVERRIDE = "override"  # the box office said so, and why

    @property
    def exempt(self) -> bool:
        """Whether gates must not ask for the zone's membership: that was decided when the ticket was sold."""
        return self in {Ground.ROLE, Ground.LIST, Ground.OVERRIDE}


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who wants to book, as far as zones ask; nothing of it is taken at the visitor's own word."""

    signed_in: bool = False
    membership_tier: str = ""
    membership_active: bool = False
    roles: frozenset[str] = frozenset()
    whitelisted: bool = False  # on the list of this zone


@dataclass(frozen=True, slots=True)
class Entrance:
    """Whom a zone lets in."""

    zone_name: str
    mode: AccessMode
    membership_tier: str | None = None
    allowed_roles: frozenset[str] = frozenset()


def may_sit(zone: Entrance, visitor: Visitor) -> Ground | Refused:
    """By what right this visitor sits in this zone, or why not.

    The list of a zone helps in every zone that is not open to all: it is how a member brings friends who are none.
    """
    if zone.mode is AccessMode.PUBLIC:
        return Ground.OPEN
    if visitor.whitelisted:
        return Ground.LIST
    if not visitor.signed_in:
        return Refused("sign_in_required", f"{zone.zone_name} is not open to everybody. Sign in to book here.")
    if zone.mode is AccessMode.MEMBERSHIP_TIER and _is_member(zone, visitor):
        return Ground.MEMBERSHIP
    if zone.mode is AccessMode.ROLE_BASED and visitor.roles & zone.allowed_roles:
        return Ground.ROLE
    if zone.mode is AccessMode.MEMBERSHIP_TIER and visitor.membership_tier == zone.membership_tier:
        return Refused("zone_access_denied", f"{zone.zone_name} is for members; this membership is over or revoked.")
    return Refused("zone_access_denied", f"{zone.zone_name} is open only to {_whom(zone)}.")


def may_book(zone: Entrance, visitor: Visitor) -> Refused | None:
    """Why this visitor may not book in this zone; None: go on."""
    answer = may_sit(zone, visitor)
    return answer if isinstance(answer, Refused) else None


def overridable(mode: AccessMode) -> bool:
    """Whether the box office may let somebody in all the same: what is kept for some roles is kept from the others."""
    return mode is not AccessMode.ROLE_BASED


def _is_member(zone: Entrance, visitor: Visitor) -> bool:
    return visitor.membership_active and visitor.membership_tier == zone.membership_tier


def _whom(zone: Entrance) -> str:
    if zone.mode is AccessMode.MEMBERSHIP_TIER:
        return f"members of {zone.membership_tier}, and guests on its list"
    if zone.mode is AccessMode.ROLE_BASED:
        return f"{', '.join(sorted(zone.allowed_roles))}, and guests on its list"
    return "guests on its list"


def check_party(policy: Policy, size: int, *, staff: bool = False) -> None:
    """InvalidRequest for more seats than one booking may hold."""
    if size > policy.max_seats_per_booking and not staff:
        raise InvalidRequest(
            f"A booking holds {policy.max_seats_per_booking} seats at most. Ask the box office for larger parties.",
            code="too_many_seats",
        )
