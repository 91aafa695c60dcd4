"""The table of roles grants exactly the promised permissions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from sync_server.accounts.rules import PLATFORM_ACTIONS, POLICY, STAFF_POLICY, may, staff_policy, staff_scopes
from sync_server.accounts.staff_policy import ChangeStaffPolicy, StaffPolicyView
from sync_server.plumbing.requests.principals import Action, Principal


def somebody(role: str = "", platform_role: str = "", scopes: frozenset[str] = frozenset()) -> Principal:
    kind = "token" if scopes else "user"
    return Principal(kind, "id", "org", role=role, platform_role=platform_role, scopes=scopes)


def staff(decided: Mapping[str, bool] = MappingProxyType({}), platform_role: str = "") -> Principal:
    return Principal("user", "id", "org", role="staff", platform_role=platform_role, scopes=staff_scopes(decided))


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_may_do_everything_but_what_is_the_platforms(role: str) -> None:
    assert {action for action in Action if not may(somebody(role), action)} == PLATFORM_ACTIONS


def test_staff_prepare_but_neither_publish_nor_cancel_nor_touch_venues() -> None:
    allowed = {Action.READ, Action.EDIT_EVENTS, Action.HOLD_SEATS, Action.ISSUE_TICKETS, Action.RESOLVE_CONFLICTS}
    allowed |= {Action.BUY_TICKETS, Action.READ_ORDERS}
    assert {action for action in Action if may(staff(), action)} == allowed == POLICY["staff"]


@pytest.mark.parametrize("action", list(STAFF_POLICY))
def test_an_organisation_gives_its_staff_an_action_or_takes_it(action: Action) -> None:
    assert may(staff({action.value: True}), action)
    assert not may(staff({action.value: False}), action)


def test_no_policy_lets_staff_manage_people_keys_or_tokens() -> None:
    everything = staff(dict.fromkeys(staff_policy({}), True))
    denied = {action for action in Action if not may(everything, action)}
    assert {Action.MANAGE_MEMBERS, Action.MANAGE_TOKENS, Action.MANAGE_KEYS, Action.MANAGE_SUPERVISORS} <= denied


def test_the_api_offers_every_decision_about_staff() -> None:
    decisions = [action.value for action in STAFF_POLICY]
    assert list(ChangeStaffPolicy.model_fields) == decisions
    assert set(StaffPolicyView.model_fields) == {*decisions, "etag"}


def test_tenant_managers_only_read_and_cancel() -> None:
    allowed = {action for action in Action if may(somebody(platform_role="tenant_manager"), action)}
    assert allowed == {Action.READ, Action.READ_AUDIT, Action.CALL_OFF}


def test_super_admins_may_cancel_anything() -> None:
    assert may(somebody(platform_role="super_admin"), Action.CALL_OFF)


def test_a_platform_role_adds_to_an_organisations_role() -> None:
    assert may(staff(platform_role="tenant_manager"), Action.EDIT_EVENTS)
    assert may(staff(platform_role="tenant_manager"), Action.CALL_OFF)


def test_the_scope_to_change_status_includes_cancelling_but_not_the_reverse() -> None:
    assert may(somebody(scopes=frozenset({"change_status"})), Action.CALL_OFF)
    assert not may(somebody(scopes=frozenset({"call_off"})), Action.CHANGE_STATUS)


@pytest.mark.parametrize("role", ["", "guest", "OWNER"])
def test_an_unknown_role_may_do_nothing(role: str) -> None:
    assert role not in POLICY
    assert not any(may(somebody(role), action) for action in Action)
