"""Permissions: roles of an organisation, platform roles, and scopes of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from shared.clock import Millis
from shared.errors import InvalidRequest
from sync_server.plumbing.requests.principals import Action, Principal

ROLES: Final = ("owner", "admin", "staff")
PLATFORM_ROLES: Final = ("super_admin", "tenant_manager")

_A = Action
ALL_ACTIONS: Final = frozenset(Action)
PLATFORM_ACTIONS: Final = frozenset({_A.RELEASE_STRANDED_SEATS})
"""What no role of an organisation may do: it overrules what an organiser has decided."""

STAFF_POLICY: Final[Mapping[Action, bool]] = {
    _A.EDIT_VENUES: False,
    _A.DELETE_VENUES: False,
    _A.EDIT_EVENTS: True,
    _A.CHANGE_STATUS: False,
    _A.CALL_OFF: False,
    _A.HOLD_SEATS: True,
    _A.BUY_TICKETS: True,
    _A.ISSUE_TICKETS: True,
    _A.CHANGE_TICKETS: False,
    _A.READ_ORDERS: True,
    _A.CHANGE_ORDERS: False,
    _A.REFUND_ORDERS: False,
    _A.RESOLVE_CONFLICTS: True,
}
"""What an organisation decides for its staff, and whether staff may do it where nothing was decided."""

POLICY: Final[Mapping[str, frozenset[Action]]] = {
    "owner": ALL_ACTIONS - PLATFORM_ACTIONS,
    "admin": ALL_ACTIONS - PLATFORM_ACTIONS,
    "staff": frozenset({_A.READ, *(action for action, granted in STAFF_POLICY.items() if granted)}),
    # Platform staff act from outside and must give a reason; tenant managers also need the tenant's approval.
    "super_admin": ALL_ACTIONS,
    "tenant_manager": frozenset({_A.READ, _A.READ_AUDIT, _A.CALL_OFF}),
}
"""The actions of each role, of staff by default. docs/roles.md is generated from this table."""
GUEST_ACTIONS: Final = frozenset({_A.HOLD_SEATS, _A.BUY_TICKETS})
"""What a guest of a shop may do without signing in."""
IMPLIED_SCOPES: Final[Mapping[Action, Action]] = {_A.CALL_OFF: _A.CHANGE_STATUS}
"""Actions that include another: whoever is granted the action on the right may also do the one on the left."""

TOKEN_DAYS: Final = 90
"""How long an API token lasts unless its maker says otherwise."""

INVITATION_MS: Final = 7 * 24 * 3_600_000
INVITATIONS_A_DAY: Final = 100
KEEP_INVITATIONS_MS: Final = 30 * 24 * 3_600_000
PASSWORD_LINK_MS: Final = 2 * 3_600_000


@dataclass(frozen=True, slots=True)
class Limit:
    """How often something may be tried, and how long to wait after each attempt beyond that: ever twice as long."""

    name: str
    free: int
    first_wait_ms: Millis
    longest_wait_ms: Millis
    forget_ms: Millis  # after so long without an attempt


MAILED_LINKS: Final = Limit("password link of", 3, 10 * 60_000, 12 * 3_600_000, 24 * 3_600_000)
"""Of one login: whoever asks beyond that is told the same, and no mail is sent."""
ASKED_LINKS: Final = Limit("password links from", 10, 10_000, 15 * 60_000, 3_600_000)
"""Asked for from one client address."""

# Wrong passwords slow down who guesses. No limit is of a login alone: others could keep its owner out by guessing.
GUESSES_OF_LOGIN: Final = Limit("sign-ins to a login from", 5, 5_000, 15 * 60_000, 24 * 3_600_000)
GUESSES: Final = Limit("sign-ins from", 20, 1_000, 60_000, 3_600_000)
GUESSES_OF_BROWSER: Final = Limit("sign-ins of a known browser", 10, 5_000, 15 * 60_000, 24 * 3_600_000)
OWN_PASSWORD: Final = Limit("own password of", 5, 5_000, 15 * 60_000, 24 * 3_600_000)
"""Asked for again in a session: whoever finds a browser signed in must not guess it there."""
KNOWN_BROWSER_MS: Final = 180 * 24 * 3_600_000
LAST_SEEN_INTERVAL_MS: Final = 60 * 1000


def wait_after(limit: Limit, count: int) -> Millis:
    """How long to wait after so many attempts."""
    beyond = count - limit.free + 1
    return min(limit.first_wait_ms << min(beyond - 1, 32), limit.longest_wait_ms) if beyond > 0 else 0


def may(principal: Principal, action: Action) -> bool:
    """Whether this principal may do this in its current organisation; unknown roles may do nothing."""
    if principal.kind == "guest":
        return action in GUEST_ACTIONS
    if {action.value, IMPLIED_SCOPES.get(action, action).value} & principal.scopes:
        return True
    roles = (principal.platform_role,) if principal.role == "staff" else (principal.role, principal.platform_role)
    return principal.kind == "user" and any(action in POLICY.get(role, frozenset()) for role in roles)


def staff_policy(decided: Mapping[str, bool]) -> dict[str, bool]:
    """What staff of an organisation may do, of what it may decide; `decided` is what it has changed."""
    return {action.value: decided.get(action.value, granted) for action, granted in STAFF_POLICY.items()}


def staff_scopes(decided: Mapping[str, bool]) -> frozenset[str]:
    """The actions of staff in an organisation."""
    return frozenset({_A.READ.value, *(name for name, granted in staff_policy(decided).items() if granted)})


def scopes_within(scopes: Iterable[str], role: str, scopes_of_role: frozenset[str]) -> frozenset[str]:
    """Those scopes of a token that its maker could give it in this role."""
    maker = Principal("user", "", "", role=role, scopes=scopes_of_role)
    return frozenset(scope for scope in scopes if may(maker, Action(scope)))


def may_give_role(giver: Principal, role: str, current: str | None) -> bool:
    """Whether the giver may change this role: only owners and super admins may add or remove owners."""
    touches_owner = "owner" in {role, current}
    return not touches_owner or giver.role == "owner" or giver.platform_role == "super_admin"


def check_password(password: str) -> None:
    """InvalidRequest if the password is too easy to guess."""
    if len(password) < 10:
        raise InvalidRequest("A password needs at least ten characters. Three or four random words work well.")
    if len(password) > 500 or len(set(password)) < 5:
        raise InvalidRequest("Choose another password: at least five different characters, and at most 500 in all.")


def check_pin(pin: str) -> None:
    """InvalidRequest if the PIN is malformed or too easy to guess."""
    if not pin.isascii() or not pin.isdigit() or not 6 <= len(pin) <= 12:
        raise InvalidRequest("A PIN has six to twelve digits.", code="bad_pin")
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    if len(steps) == 1 and steps <= {-1, 0, 1}:
        raise InvalidRequest("Choose a PIN that is not one repeated digit or a run of digits.", code="bad_pin")
