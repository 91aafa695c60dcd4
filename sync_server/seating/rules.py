"""The seating policy: what an organisation allows, what an event may override, and who may book where."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from shared.errors import Conflict, Forbidden, InvalidRequest, Unavailable
from sync_server.plumbing.requests.principals import Principal
from sync_server.seating.layouts.plan import AccessMode, ZoneType
from sync_server.seating.search.offers import AccessibilityRules, AllocationRules, Refusal


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
    companion_price_category: str = ""  # of seats that companions get with a wheelchair place; "": that of the seat
    accessibility_audit_enabled: bool = True
    max_seats_per_booking: int = 10
    orphan_avoidance_strict: bool = True
    group_adjacency_strict: bool = False
    max_group_split: int = 2
    prefer_clustering_over_selection: bool = False
    default_hold_ttl_minutes: int = 5
    max_holds_per_user: int | None = None
    max_holds_per_ip: int | None = 60  # room for families, offices and schools, not for a whole venue
    max_holds_per_membership: int | None = 6
    exempt_networks: tuple[str, ...] = ()  # whose addresses max_holds_per_ip does not limit
    mandatory: tuple[str, ...] = ()  # fields that no event may override

    def allocation(self) -> AllocationRules:
        """The part of the policy that governs the allocation of seats."""
        return AllocationRules(
            self.orphan_avoidance_strict,
            self.group_adjacency_strict,
            self.max_group_split,
            self.prefer_clustering_over_selection,
        )

    def accessibility(self) -> AccessibilityRules:
        """The part of the policy that governs wheelchair places."""
        return AccessibilityRules(
            self.enforce_accessibility_rules,
            self.companion_release_occupancy_threshold,
            self.max_wheelchair_seats_per_booking,
        )


FIELDS: Final = tuple(field.name for field in fields(Policy) if field.name != "mandatory")
OVERRIDABLE: Final = frozenset(name for name in FIELDS if not name.startswith(("allow_", "exempt_")))
"""Fields that an event may override unless the policy makes them mandatory."""


MOVING_RETRY_S: Final = 15
"""The Retry-After of requests refused while guests are being moved, in seconds."""


def effective(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """The policy at an event. Fields that have become mandatory since override the event's own values."""
    allowed = OVERRIDABLE - set(policy.mandatory)
    return replace(policy, **{name: value for name, value in overrides.items() if name in allowed})


def check_overrides(policy: Policy, overrides: Mapping[str, Any]) -> None:
    """Forbidden for mandatory fields, InvalidRequest for fields that no event can override."""
    for name in sorted(overrides):
        if name not in OVERRIDABLE:
            raise InvalidRequest(f"{name} can only be set in the organisation's policy, not for an event.", field=name)
        if not permitted(policy, name, overrides[name]):
            raise Forbidden(
                f"{name} is mandatory in this organisation: it is {_describe(getattr(policy, name))} at every event. "
                "Leave it out.",
                code="override_not_permitted",
                field=name,
            )


def permitted(policy: Policy, name: str, value: object) -> bool:
    """Whether an event may set this value: a mandatory value may only be repeated."""
    return name not in policy.mandatory or value == getattr(policy, name)


def _describe(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "unlimited" if value is None else str(value)


def check_policy_change(principal: Principal, present: Policy, changes: Mapping[str, Any]) -> None:
    """Forbidden for changes that only the platform may make: to mandatory fields, and to which fields are mandatory."""
    if principal.platform_role == "super_admin":
        return
    touched = [name for name in changes if name == "mandatory" or name in present.mandatory]
    changed = [name for name in touched if changes[name] != getattr(present, name)]
    if changed:
        raise Forbidden(
            f"{', '.join(sorted(changed))}: mandatory fields are set by the platform. Ask its super admin.",
            code="mandatory_policy",
        )


def guests_being_moved() -> Unavailable:
    """The error for sales and holds of an event while its guests are being moved to other seats."""
    return Unavailable(
        "The guests of this event are being moved to other seats. Try again in a minute.",
        code="guests_being_moved",
        retry_after=MOVING_RETRY_S,
    )


def check_zones(policy: Policy, types: Iterable[ZoneType]) -> None:
    """Conflict for zone types that the organisation does not allow, or not together."""
    used = set(types)
    for broken, message in _zone_rules(policy, used):
        if broken:
            raise Conflict(
                f"{message} Change the zones, or the organisation's seating policy.", code="zone_not_allowed"
            )


def _zone_rules(policy: Policy, used: Collection[ZoneType]) -> Iterator[tuple[bool, str]]:
    numbered, free = any(zone.numbered for zone in used), any(not zone.numbered for zone in used)
    yield numbered and not policy.allow_reserved_seating, "The seating policy does not allow reserved seats."
    yield free and not policy.allow_ga_seating, "The seating policy does not allow general admission."
    hybrid = numbered and free and not policy.allow_hybrid_ga_reserved
    yield hybrid, "The seating policy does not allow reserved seats and general admission at one event."
    yield any(zone.vip for zone in used) and not policy.allow_vip_zones, "The seating policy does not allow VIP zones."


class Entitlement(StrEnum):
    """What entitles a guest to sit in a zone."""

    OPEN = "open"  # open to everybody
    MEMBERSHIP = "membership"
    ROLE = "role"
    LIST = "list"
    OVERRIDE = "override"  # by the box office, with a reason

    @property
    def exempt(self) -> bool:
        """Whether gates skip the membership check of the zone, because it was decided at the sale."""
        return self in {Entitlement.ROLE, Entitlement.LIST, Entitlement.OVERRIDE}


class Visitor(Struct, frozen=True):
    """What zones need to know about who books; everything in it has been verified."""

    signed_in: bool = False
    membership_tier: str = ""
    membership_active: bool = False
    roles: frozenset[str] = frozenset()
    whitelisted: bool = False  # on the list of this zone


@dataclass(frozen=True, slots=True)
class ZoneAccess:
    """Who may book in a zone."""

    zone_name: str
    mode: AccessMode
    membership_tier: str | None = None
    allowed_roles: frozenset[str] = frozenset()


def entitlement(zone: ZoneAccess, visitor: Visitor) -> Entitlement | Refusal:
    """What entitles this visitor to sit in this zone, or why they may not.

    The guest list counts in every zone that is not public: that is how members bring friends who are not members.
    """
    if zone.mode is AccessMode.PUBLIC:
        return Entitlement.OPEN
    if visitor.whitelisted:
        return Entitlement.LIST
    if not visitor.signed_in:
        return Refusal("sign_in_required", f"{zone.zone_name} is not open to everybody. Sign in to book here.")
    if zone.mode is AccessMode.MEMBERSHIP_TIER and _is_member(zone, visitor):
        return Entitlement.MEMBERSHIP
    if zone.mode is AccessMode.ROLE_BASED and visitor.roles & zone.allowed_roles:
        return Entitlement.ROLE
    if zone.mode is AccessMode.MEMBERSHIP_TIER and visitor.membership_tier == zone.membership_tier:
        return Refusal(
            "zone_access_denied", f"{zone.zone_name} is for members, and this membership has expired or been revoked."
        )
    return Refusal("zone_access_denied", f"{zone.zone_name} is only open to {_admitted(zone)}.")


def overridable(mode: AccessMode) -> bool:
    """Whether the box office may override the refusal; zones reserved for roles stay closed to everybody else."""
    return mode is not AccessMode.ROLE_BASED


def _is_member(zone: ZoneAccess, visitor: Visitor) -> bool:
    return visitor.membership_active and visitor.membership_tier == zone.membership_tier


def _admitted(zone: ZoneAccess) -> str:
    if zone.mode is AccessMode.MEMBERSHIP_TIER:
        return f"members of {zone.membership_tier}, and guests on its list"
    if zone.mode is AccessMode.ROLE_BASED:
        return f"{', '.join(sorted(zone.allowed_roles))}, and guests on its list"
    return "guests on its list"


def check_group_size(policy: Policy, size: int, *, staff: bool = False) -> None:
    """InvalidRequest for more seats than the policy allows in one booking."""
    if size > policy.max_seats_per_booking and not staff:
        raise InvalidRequest(
            f"A booking can have at most {policy.max_seats_per_booking} seats. Ask the box office for larger groups.",
            code="too_many_seats",
        )
