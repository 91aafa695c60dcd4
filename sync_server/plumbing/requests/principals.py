"""Who makes a request: the principal, the actions a principal may be allowed, and the actor in the audit log."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct, field, structs

from shared.clock import Millis
from shared.ids import Entropy


class Action(StrEnum):
    """What a role or token may be allowed to do; `accounts.rules` decides."""

    READ = "read"
    EDIT_VENUES = "edit_venues"
    DELETE_VENUES = "delete_venues"
    EDIT_EVENTS = "edit_events"
    CHANGE_STATUS = "change_status"
    CALL_OFF = "call_off"  # cancel and postpone; implied by CHANGE_STATUS
    HOLD_SEATS = "hold_seats"
    BUY_TICKETS = "buy_tickets"  # what one holds, in the shop
    ISSUE_TICKETS = "issue_tickets"
    CHANGE_TICKETS = "change_tickets"
    READ_ORDERS = "read_orders"
    CHANGE_ORDERS = "change_orders"
    REFUND_ORDERS = "refund_orders"
    MANAGE_PAYMENTS = "manage_payments"  # how the organisation is paid, and to which account
    MANAGE_DEVICES = "manage_devices"
    RESOLVE_CONFLICTS = "resolve_conflicts"
    MANAGE_KEYS = "manage_keys"
    MANAGE_SUPERVISORS = "manage_supervisors"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_TOKENS = "manage_tokens"
    READ_AUDIT = "read_audit"
    REPLAY_FACTS = "replay_facts"
    RELEASE_STRANDED_SEATS = "release_stranded_seats"  # of the platform alone
    MANAGE_WEBHOOKS = "manage_webhooks"
    MANAGE_RECORDS = "manage_records"  # put events away, decide how long what is kept, export and erase a person


class Principal(Struct, frozen=True):
    """An authenticated user, token or guest, acting for one organisation."""

    kind: str  # user, token, guest; order: whoever has the secret of its link
    id: str
    organisation_id: str  # "": a platform user who has not chosen one
    name: str = ""
    role: str = ""  # owner, admin, staff; "" for tokens and guests
    platform_role: str = ""  # super_admin, tenant_manager
    scopes: frozenset[str] = field(default_factory=frozenset)  # of a token; of staff, by their organisation's policy
    session_id: str = ""
    csrf: str = ""  # the token that unsafe requests of this browser session must carry


class Actor(Struct, frozen=True):
    """Who did something and from where, as the audit log stores it."""

    kind: str  # user, platform, token, guest, order, device, operator, system
    id: str = ""
    ip: str = ""
    user_agent: str = ""
    request_id: str = ""
    approval: str = ""  # the tenant's approval reference, for platform staff
    platform_role: str = ""  # the role in which platform staff act on an organisation
    reason: str = ""  # as given in the request


SYSTEM = Actor("system")


def _anything(_action: Action) -> None:
    """Raises nothing: the server itself and its operator may do everything."""


class ActionContext(Struct, frozen=True):
    """Who does something and when, and with which entropy: passed to every use case."""

    actor: Actor
    now: Millis
    entropy: Entropy
    require: Callable[[Action], None] = _anything
    """Raises Forbidden unless the caller may do this: for actions that depend on what a use case finds."""

    def by_system(self) -> ActionContext:
        """For what follows from the action by itself: nobody has asked for it."""
        return structs.replace(self, actor=SYSTEM, require=_anything)
