"""Who may book in zones, and what the policy leaves to events."""

from __future__ import annotations

import pytest

from shared.errors import Conflict, Forbidden, InvalidRequest
from sync_server.plumbing.requests.principals import Principal
from sync_server.seating.layouts.plan import AccessMode, ZoneType
from sync_server.seating.rules import (
    Entitlement,
    Policy,
    Visitor,
    ZoneAccess,
    check_group_size,
    check_overrides,
    check_policy_change,
    check_zones,
    effective,
    entitlement,
)
from sync_server.seating.search.offers import Refusal

MEMBERS = ZoneAccess("Lounge", AccessMode.MEMBERSHIP_TIER, membership_tier="friends")
CREW = ZoneAccess("Backstage", AccessMode.ROLE_BASED, allowed_roles=frozenset({"crew"}))
LISTED = ZoneAccess("Box", AccessMode.WHITELIST)
OWNER = Principal("user", "1", "org", role="owner")


def a_visitor(**known: object) -> Visitor:
    return Visitor(**({"signed_in": True} | known))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("zone", "visitor"),
    [
        (ZoneAccess("Floor", AccessMode.PUBLIC), Visitor()),
        (MEMBERS, a_visitor(membership_tier="friends", membership_active=True)),
        (CREW, a_visitor(roles=frozenset({"crew", "press"}))),
        (LISTED, a_visitor(whitelisted=True)),
    ],
)
def test_zone_admits_those_it_is_for(zone: ZoneAccess, visitor: Visitor) -> None:
    assert isinstance(entitlement(zone, visitor), Entitlement)


@pytest.mark.parametrize(
    ("zone", "visitor"),
    [
        (MEMBERS, a_visitor()),
        (MEMBERS, a_visitor(membership_tier="friends", membership_active=False)),
        (MEMBERS, a_visitor(membership_tier="others", membership_active=True)),
        (CREW, a_visitor(roles=frozenset({"press"}))),
        (LISTED, a_visitor(roles=frozenset({"crew"}), membership_tier="friends", membership_active=True)),
    ],
)
def test_others_are_told_who_it_is_for(zone: ZoneAccess, visitor: Visitor) -> None:
    refusal = entitlement(zone, visitor)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "zone_access_denied"
    assert refusal.message.startswith((f"{zone.zone_name} is only open to ", f"{zone.zone_name} is for members, "))


def test_stranger_is_asked_to_sign_in_whatever_they_claim() -> None:
    claims = Visitor(membership_tier="friends", membership_active=True, roles=frozenset({"crew"}))
    for zone in (MEMBERS, CREW, LISTED):
        refusal = entitlement(zone, claims)
        assert isinstance(refusal, Refusal)
        assert refusal.reason == "sign_in_required"


def test_friend_of_a_member_may_book_once_on_the_list() -> None:
    assert entitlement(MEMBERS, a_visitor(membership_tier="friends", membership_active=True)) is Entitlement.MEMBERSHIP
    assert isinstance(entitlement(MEMBERS, a_visitor()), Refusal)
    assert entitlement(MEMBERS, Visitor(whitelisted=True)) is Entitlement.LIST


def test_gates_check_the_membership_of_members_only() -> None:
    assert [entitlement for entitlement in Entitlement if entitlement.exempt] == [
        Entitlement.ROLE,
        Entitlement.LIST,
        Entitlement.OVERRIDE,
    ]


def test_what_became_mandatory_later_applies_to_older_events() -> None:
    overrides = {"orphan_avoidance_strict": False, "max_group_split": 5}
    policy = Policy(mandatory=("orphan_avoidance_strict",))
    assert effective(policy, overrides) == Policy(max_group_split=5, mandatory=policy.mandatory)


def test_event_cannot_change_which_zones_the_organisation_allows() -> None:
    with pytest.raises(InvalidRequest):
        check_overrides(Policy(), {"allow_vip_zones": True})
    assert effective(Policy(), {"allow_vip_zones": True}) == Policy()


def test_repeating_a_mandatory_value_is_not_an_override() -> None:
    policy = Policy(mandatory=("max_group_split",))
    check_overrides(policy, {"max_group_split": 2})
    with pytest.raises(Forbidden):
        check_overrides(policy, {"max_group_split": 3})


def test_owner_changes_what_is_not_mandatory() -> None:
    policy = Policy(mandatory=("max_seats_per_booking",))
    check_policy_change(OWNER, policy, {"max_group_split": 4})
    with pytest.raises(Forbidden):
        check_policy_change(OWNER, policy, {"max_seats_per_booking": 50})
    check_policy_change(Principal("user", "2", "org", platform_role="super_admin"), policy, {"mandatory": ()})


@pytest.mark.parametrize(
    ("policy", "zones"),
    [
        (Policy(allow_reserved_seating=False), [ZoneType.RESERVED_SEATING]),
        (Policy(allow_ga_seating=False), [ZoneType.GA_SEATED]),
        (Policy(allow_hybrid_ga_reserved=False), [ZoneType.RESERVED_SEATING, ZoneType.GA_STANDING]),
        (Policy(), [ZoneType.VIP_STANDING]),
    ],
)
def test_zones_that_the_policy_forbids(policy: Policy, zones: list[ZoneType]) -> None:
    with pytest.raises(Conflict):
        check_zones(policy, zones)


def test_box_office_books_for_larger_groups() -> None:
    check_group_size(Policy(), 10)
    with pytest.raises(InvalidRequest):
        check_group_size(Policy(), 11)
    check_group_size(Policy(), 11, staff=True)
