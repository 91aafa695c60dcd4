"""Who may do what: roles of an organisation, platform roles, scopes of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from shared.errors import InvalidRequest
from sync_server.plumbing.principals import Action, Principal

ROLES: Final = ("owner", "admin", "staff")
PLATFORM_ROLES: Final = ("super_admin", "tenant_manager")

_A = Action
EVERYTHING: Final = frozenset(Action)

POLICY: Final[Mapping[str, frozenset[Action]]] = {
    "owner": EVERYTHING,
    "admin": EVERYTHING,
    "staff": frozenset(
        {_A.READ, _A.EDIT_VENUES, _A.EDIT_EVENTS, _A.ISSUE_TICKETS, _A.RESOLVE_CONFLICTS, _A.HOLD_SEATS}
    ),
    # From outside, each with a reason; the platform's managers also with the tenant's approval.
    "super_admin": EVERYTHING,
    "tenant_manager": frozenset({_A.READ, _A.READ_AUDIT, _A.CALL_OFF}),
}
"""Who may do what: the one table. docs/roles.md is made from it."""
GUEST: Final = frozenset({_A.HOLD_SEATS})
"""What somebody may do who came into a shop without signing in."""
IMPLIED: Final[Mapping[Action, Action]] = {_A.CALL_OFF: _A.CHANGE_STATUS}
"""A token with the scope on the right may do what stands on the left, too."""

FAILURES_ALLOWED: Final = 5
FAILURES_ALLOWED_FROM_ONE_ADDRESS: Final = 50
FAILURES_FORGOTTEN_AFTER_MS: Final = 15 * 60 * 1000
TOUCH_EVERY_MS: Final = 60 * 1000


def may(principal: Principal, action: Action) -> bool:
    """Whether this principal may do this in the organisation it acts for; unknown roles may nothing."""
    if principal.kind == "token":
        return bool({action.value, IMPLIED.get(action, action).value} & principal.scopes)
    if principal.kind == "guest":
        return action in GUEST
    return any(action in POLICY.get(role, frozenset()) for role in (principal.role, principal.platform_role))


def may_give_role(giver: Principal, role: str, present: str | None) -> bool:
    """Only owners, and the platform's super admins, make or unmake owners."""
    touches_owner = "owner" in {role, present}
    return not touches_owner or giver.role == "owner" or giver.platform_role == "super_admin"


def check_password(password: str) -> None:
    """InvalidRequest for one that is too easily guessed."""
    if len(password) < 10:
        raise InvalidRequest("A password needs ten characters or more. Three or four random words do well.")
    if len(password) > 500 or len(set(password)) < 5:
        raise InvalidRequest("Take another password: more different characters, and no more than 500 in all.")


def check_pin(pin: str) -> None:
    """InvalidRequest for a PIN that anybody would try first."""
    if not pin.isascii() or not pin.isdigit() or not 6 <= len(pin) <= 12:
        raise InvalidRequest("A PIN has six to twelve digits.", code="bad_pin")
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    if len(steps) == 1 and steps <= {-1, 0, 1}:
        raise InvalidRequest("Take a PIN that is neither one digit repeated nor a run of digits.", code="bad_pin")
