"""Who may do what: roles of an organisation, platform roles, scopes of tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from shared.errors import InvalidRequest
from sync_server.plumbing.principals import Action, Principal

ROLES: Final = ("owner", "admin", "staff")
PLATFORM_ROLES: Final = ("super_admin", "tenant_manager")

STAFF: Final = frozenset(
    {Action.READ, Action.EDIT_VENUES, Action.EDIT_EVENTS, Action.ISSUE_TICKETS, Action.RESOLVE_CONFLICTS}
)
EVERYTHING: Final = frozenset(Action)
# The platform's managers look, and may cancel or postpone where the tenant has agreed in writing.
TENANT_MANAGER: Final = frozenset({Action.READ, Action.READ_AUDIT, Action.CHANGE_STATUS})

FAILURES_ALLOWED: Final = 5
FAILURES_ALLOWED_FROM_ONE_ADDRESS: Final = 50
FAILURES_FORGOTTEN_AFTER_MS: Final = 15 * 60 * 1000
TOUCH_EVERY_MS: Final = 60 * 1000

_MAY: Final = {"owner": EVERYTHING, "admin": EVERYTHING, "staff": STAFF}
_PLATFORM_MAY: Final = {"super_admin": EVERYTHING, "tenant_manager": TENANT_MANAGER}


def may(principal: Principal, action: Action) -> bool:
    """Whether this principal may do this in the organisation it acts for; unknown roles may nothing."""
    if principal.kind == "token":
        return action.value in principal.scopes
    allowed = _MAY.get(principal.role, frozenset()) | _PLATFORM_MAY.get(principal.platform_role, frozenset())
    return action in allowed


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
