"""Who is asking, what they may ask for by name, and what is written down about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from shared.clock import Millis
from shared.ids import Entropy


class Action(StrEnum):
    """What a role or token may be allowed to do; accounts.rules says who may."""

    READ = "read"
    EDIT_VENUES = "edit_venues"
    DELETE_VENUES = "delete_venues"
    EDIT_EVENTS = "edit_events"
    CHANGE_STATUS = "change_status"
    CALL_OFF = "call_off"  # cancel and postpone; whoever may change the status may do so too
    HOLD_SEATS = "hold_seats"
    ISSUE_TICKETS = "issue_tickets"
    CHANGE_TICKETS = "change_tickets"
    MANAGE_DEVICES = "manage_devices"
    RESOLVE_CONFLICTS = "resolve_conflicts"
    MANAGE_KEYS = "manage_keys"
    MANAGE_SUPERVISORS = "manage_supervisors"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_TOKENS = "manage_tokens"
    READ_AUDIT = "read_audit"
    REPLAY_FACTS = "replay_facts"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody known, acting for one organisation."""

    kind: str  # user, token, guest
    id: str
    organisation_id: str  # "": a platform user who has not chosen one
    name: str = ""
    role: str = ""  # owner, admin, staff; "" for tokens and guests
    platform_role: str = ""  # super_admin, tenant_manager
    scopes: frozenset[str] = field(default_factory=frozenset)  # of a token
    session_id: str = ""
    csrf: str = ""  # what unsafe requests of this browser session must carry


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it and from where, as the audit log keeps it."""

    kind: str  # user, platform, token, device, operator, system
    id: str = ""
    ip: str = ""
    user_agent: str = ""
    request_id: str = ""
    approval: str = ""  # the tenant's approval reference, for platform staff
    platform_role: str = ""  # in which somebody of the platform acts on an organisation from outside
    reason: str = ""  # why, where the request says so


SYSTEM = Actor("system")


@dataclass(frozen=True, slots=True)
class Deed:
    """By whom and when something is done, and the entropy it may use: what every use case is handed."""

    actor: Actor
    now: Millis
    entropy: Entropy
