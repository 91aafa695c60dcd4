"""Whom zones let in, and what the policy leaves to events."""

from __future__ import annotations

import pytest

from shared.errors import Conflict, Forbidden, InvalidRequest
from sync_server.plumbing.principals import Principal
from sync_server.seating.offers import Refused
from sync_server.seating.plan import AccessMode, ZoneType
from sync_server.seating.rules import (
    Entrance,
    Ground,
    Policy,
    Visitor,
    check_overrides,
    check_party,
    check_policy_change,
    check_zones,
    effective,
    may_book,
    may_sit,
)

MEMBERS = Entrance("Lounge", AccessMode.MEMBERSHIP_TIER, membership_tier="friends")
CREW = Entrance("Backstage", AccessMode.ROLE_BASED, allowed_roles=frozenset({"crew"}))
LISTED = Entrance("Box", AccessMode.WHITELIST)
OWNER = Principal("user", "1", "org", role="owner")


def a_visitor(**known: object) -> Visitor:
    return Visitor(**({"signed_in": True} | known))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("zone", "visitor"),
    [
        (Entrance("Floor", AccessMode.PUBLIC), Visitor()),
        (MEMBERS, a_visitor(membership_tier="friends", membership_active=True)),
        (CREW, a_visitor(roles=frozenset({"crew", "press"}))),
        (LISTED, a_visitor(whitelisted=True)),
    ],
)
def test_zone_lets_in_whom_it_is_for(zone: Entrance, visitor: Visitor) -> None:
    assert may_book(zone, visitor) is None


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
def test_others_are_told_whom_it_is_for(zone: Entrance, visitor: Visitor) -> None:
    refused = may_book(zone, visitor)
    assert refused is not None
    assert refused.reason == "zone_access_denied"
    assert refused.words.startswith((f"{zone.zone_name} is open only to ", f"{zone.zone_name} is for members; "))


def test_stranger_is_asked_to_sign_in_whatever_he_claims() -> None:
    claims = Visitor(membership_tier="friends", membership_active=True, roles=frozenset({"crew"}))
    for zone in (MEMBERS, CREW, LISTED):
        refused = may_book(zone, claims)
        assert refused is not None
        assert refused.reason == "sign_in_required"


def test_friend_of_a_member_sits_beside_him_once_he_is_on_the_list() -> None:
    assert may_sit(MEMBERS, a_visitor(membership_tier="friends", membership_active=True)) is Ground.MEMBERSHIP
    assert isinstance(may_sit(MEMBERS, a_visitor()), Refused)
    assert may_sit(MEMBERS, Visitor(whitelisted=True)) is Ground.LIST


def test_gates_ask_for_the_membership_of_members_only() -> None:
    assert [ground for ground in Ground if ground.exempt] == [Ground.ROLE, Ground.LIST, Ground.OVERRIDE]


def test_what_became_mandatory_later_holds_against_older_events() -> None:
    decided = {"orphan_avoidance_strict": False, "max_group_split": 5}
    policy = Policy(mandatory=("orphan_avoidance_strict",))
    assert effective(policy, decided) == Policy(max_group_split=5, mandatory=policy.mandatory)


def test_event_does_not_decide_what_zones_the_organisation_allows() -> None:
    with pytest.raises(InvalidRequest):
        check_overrides(Policy(), {"allow_vip_zones": True})
    assert effective(Policy(), {"allow_vip_zones": True}) == Policy()


def test_saying_what_is_mandatory_anyway_is_no_override() -> None:
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
def test_zones_that_the_policy_rules_out(policy: Policy, zones: list[ZoneType]) -> None:
    with pytest.raises(Conflict):
        check_zones(policy, zones)


def test_box_office_books_for_larger_parties() -> None:
    check_party(Policy(), 10)
    with pytest.raises(InvalidRequest):
        check_party(Policy(), 11)
    check_party(Policy(), 11, staff=True)
