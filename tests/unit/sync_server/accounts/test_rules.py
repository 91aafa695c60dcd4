"""The table of roles grants exactly the promised permissions."""

from __future__ import annotations

import pytest

from sync_server.accounts.rules import POLICY, may
from sync_server.plumbing.principals import Action, Principal


def somebody(role: str = "", platform_role: str = "", scopes: frozenset[str] = frozenset()) -> Principal:
    kind = "token" if scopes else "user"
    return Principal(kind, "id", "org", role=role, platform_role=platform_role, scopes=scopes)


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_may_do_everything(role: str) -> None:
    assert all(may(somebody(role), action) for action in Action)


def test_staff_prepare_but_neither_publish_nor_cancel_nor_delete() -> None:
    allowed = {Action.READ, Action.EDIT_VENUES, Action.EDIT_EVENTS}
    assert all(may(somebody("staff"), action) for action in allowed)
    for action in (Action.CHANGE_STATUS, Action.CALL_OFF, Action.DELETE_VENUES, Action.MANAGE_MEMBERS):
        assert not may(somebody("staff"), action)


def test_tenant_managers_only_read_and_cancel() -> None:
    allowed = {action for action in Action if may(somebody(platform_role="tenant_manager"), action)}
    assert allowed == {Action.READ, Action.READ_AUDIT, Action.CALL_OFF}


def test_super_admins_may_cancel_anything() -> None:
    assert may(somebody(platform_role="super_admin"), Action.CALL_OFF)


def test_a_platform_role_adds_to_an_organisations_role() -> None:
    assert may(somebody("staff", "tenant_manager"), Action.EDIT_EVENTS)
    assert may(somebody("staff", "tenant_manager"), Action.CALL_OFF)


def test_the_scope_to_change_status_includes_cancelling_but_not_the_reverse() -> None:
    assert may(somebody(scopes=frozenset({"change_status"})), Action.CALL_OFF)
    assert not may(somebody(scopes=frozenset({"call_off"})), Action.CHANGE_STATUS)


@pytest.mark.parametrize("role", ["", "guest", "OWNER"])
def test_an_unknown_role_may_do_nothing(role: str) -> None:
    assert role not in POLICY
    assert not any(may(somebody(role), action) for action in Action)
