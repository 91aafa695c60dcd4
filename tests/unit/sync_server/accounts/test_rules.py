"""The table of roles says what the house has promised, word for word."""

from __future__ import annotations

import pytest

from sync_server.accounts.rules import POLICY, may
from sync_server.plumbing.principals import Action, Principal


def somebody(role: str = "", platform_role: str = "", scopes: frozenset[str] = frozenset()) -> Principal:
    kind = "token" if scopes else "user"
    return Principal(kind, "id", "org", role=role, platform_role=platform_role, scopes=scopes)


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_run_the_house(role: str) -> None:
    assert all(may(somebody(role), action) for action in Action)


def test_staff_prepare_and_neither_publish_nor_call_off_nor_delete() -> None:
    allowed = {Action.READ, Action.EDIT_VENUES, Action.EDIT_EVENTS}
    assert all(may(somebody("staff"), action) for action in allowed)
    for action in (Action.CHANGE_STATUS, Action.CALL_OFF, Action.DELETE_VENUES, Action.MANAGE_MEMBERS):
        assert not may(somebody("staff"), action)


def test_the_platforms_managers_look_and_call_off_and_nothing_else() -> None:
    allowed = {action for action in Action if may(somebody(platform_role="tenant_manager"), action)}
    assert allowed == {Action.READ, Action.READ_AUDIT, Action.CALL_OFF}


def test_the_platforms_super_admins_may_call_off_anything() -> None:
    assert may(somebody(platform_role="super_admin"), Action.CALL_OFF)


def test_a_role_in_the_house_is_not_lost_by_one_of_the_platform() -> None:
    assert may(somebody("staff", "tenant_manager"), Action.EDIT_EVENTS)
    assert may(somebody("staff", "tenant_manager"), Action.CALL_OFF)


def test_a_token_that_changes_the_status_calls_off_too_and_not_the_other_way_round() -> None:
    assert may(somebody(scopes=frozenset({"change_status"})), Action.CALL_OFF)
    assert not may(somebody(scopes=frozenset({"call_off"})), Action.CHANGE_STATUS)


@pytest.mark.parametrize("role", ["", "guest", "OWNER"])
def test_an_unknown_role_may_nothing(role: str) -> None:
    assert role not in POLICY
    assert not any(may(somebody(role), action) for action in Action)
