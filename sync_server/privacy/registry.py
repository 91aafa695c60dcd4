"""Says of every column that can hold text whether it is about a person, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Fate(StrEnum):
    """What an erasure does to a personal value."""

    EMPTIED = "emptied"
    ROW_REMOVED = "row removed"
    REWRITTEN = "emptied inside packed rows"
    SHORT_LIVED = "goes by itself"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Personal:
    """A column with something about a person: what becomes of it when that person is erased, and why."""

    fate: Fate
    about: str
    shown: bool = True  # in an export; secrets and what cannot be read are not


_EMPTIED, _REMOVED, _REWRITTEN, _SHORT, _KEPT = Fate

PERSONAL: Final[Mapping[str, Personal]] = {
    "api_tokens.name": Personal(_KEPT, "names a program, by its maker's choice; revoke it and make another"),
    "audit_lines.reason": Personal(_KEPT, "sealed; people are not to be named in reasons"),
    "audit_personal.content": Personal(_EMPTIED, "names and addresses in the audit log; the chain stays intact"),
    "audit_personal.salt": Personal(_EMPTIED, "without it the line's hash reveals nothing", shown=False),
    "customer_links.email": Personal(_REMOVED, "an address to be proved, for half an hour"),
    "customer_passkeys.credential_id": Personal(_REMOVED, "with the customer", shown=False),
    "customer_passkeys.name": Personal(_REMOVED, "with the customer"),
    "customer_passkeys.public_key": Personal(_REMOVED, "with the customer", shown=False),
    "customer_sessions.browser": Personal(_REMOVED, "the browser, until the session ends"),
    "customers.email": Personal(_EMPTIED, "the customer's address"),
    "customers.name": Personal(_EMPTIED, "the customer's name"),
    "customers.password_hash": Personal(_EMPTIED, "of the customer's password", shown=False),
    "cancellations.reason": Personal(_KEPT, "why an event is cancelled; people are not to be named"),
    "guests.origin": Personal(_SHORT, "a hash of an address, deleted after minutes"),
    "holds.notes": Personal(_EMPTIED, "what the box office noted"),
    "holds.origin": Personal(_SHORT, "a hash of an address, while a hold is open"),
    "idempotency_keys.body": Personal(_SHORT, "responses, for two days", shown=False),
    "invitations.email": Personal(_EMPTIED, "the address that was invited"),
    "imports.started_by": Personal(_SHORT, "who imports a layout, and from where, until the import ends"),
    "mails.sealed": Personal(_EMPTIED, "address and content, until the mail is sent; it is given up", shown=False),
    "money_movements.external_reference": Personal(_KEPT, "as the bank or the terminal names a payment; for the books"),
    "money_movements.note": Personal(_KEPT, "for the books; people are not to be named"),
    "order_lines.holder_name": Personal(_EMPTIED, "the guest's name"),
    "order_words.word": Personal(_REMOVED, "number, name and address, to be found by", shown=False),
    "orders.access": Personal(_KEPT, "what opened a zone: roles, a keyed hash of an invitation", shown=False),
    "orders.buyer_email": Personal(_EMPTIED, "the buyer's address"),
    "orders.buyer_name": Personal(_EMPTIED, "the buyer's name"),
    "orders.reason": Personal(_KEPT, "why an order was cancelled; people are not to be named"),
    "orders.search_text": Personal(_EMPTIED, "number, name and address, to be found by", shown=False),
    "payouts.reason": Personal(_KEPT, "why money is paid back; people are not to be named"),
    "put_away_people.content": Personal(_REMOVED, "what the rows of a put-away event said; its file does not"),
    "put_away_people.email": Personal(_REMOVED, "to find it by"),
    "scan_conflicts.note": Personal(_KEPT, "why a conflict was settled; people are not to be named"),
    "scan_conflicts.resolved_by": Personal(_KEPT, "the member of staff who decided, for disputes"),
    "scan_entries.body": Personal(_KEPT, "signed by the gate, about the ticket only: no name is in it", shown=False),
    "sessions.browser": Personal(_SHORT, "the browser, until the session ends"),
    "snapshot_history.body": Personal(_REWRITTEN, "tickets as gates held them earlier", shown=False),
    "snapshot_rows.body": Personal(_REWRITTEN, "tickets as gates hold them; they get the change", shown=False),
    "supervisors.name": Personal(_KEPT, "who may override refusals, as long as their decisions count"),
    "ticket_issues.claims": Personal(_KEPT, "what a code has signed: ids and numbers, no name", shown=False),
    "tickets.holder_name": Personal(_EMPTIED, "the guest's name"),
    "tickets.notes": Personal(_EMPTIED, "what the box office noted for the gates"),
    "tickets.claims": Personal(_KEPT, "what the code has signed: ids and numbers, no name", shown=False),
    "tickets.membership_tier": Personal(_KEPT, "what the ticket entitles to"),
    "tier_memberships.card": Personal(_EMPTIED, "a hash of the code on the card", shown=False),
    "ticket_transfers.recipient_email": Personal(_EMPTIED, "to whom a ticket was given"),
    "ticket_transfers.recipient_name": Personal(_EMPTIED, "who has accepted a ticket"),
    "tier_memberships.address": Personal(_EMPTIED, "a keyed hash of the member's address", shown=False),
    "users.email": Personal(_EMPTIED, "the login's address; by the operator"),
    "users.name": Personal(_EMPTIED, "the login's name; by the operator"),
    "users.password_hash": Personal(_EMPTIED, "by the operator", shown=False),
    "passkeys.name": Personal(_REMOVED, "with the login"),
    "passkeys.credential_id": Personal(_REMOVED, "with the login", shown=False),
    "passkeys.public_key": Personal(_REMOVED, "with the login", shown=False),
    "waiting_parties.email": Personal(_EMPTIED, "who waits for places; the party leaves the list"),
    "zone_guests.key": Personal(_REMOVED, "a customer's id, or a keyed hash of an address or code"),
}
"""By table and column. The ids of people are pseudonyms and stay: tickets, memberships, logins."""

FOUND_BY: Final[Mapping[str, Mapping[str, str]]] = {
    "customer_links": {"email": "email"},
    "customer_passkeys": {"customer": "customer_id"},
    "customer_sessions": {"customer": "customer_id"},
    "customers": {"customer": "id"},
    "audit_personal": {"person": "person_id"},
    "holds": {"membership": "membership_id"},
    "invitations": {"email": "email"},
    "mails": {"mail": "id"},
    "memberships": {"user": "user_id"},
    "money_movements": {"order": "order_id"},
    "order_lines": {"order": "order_id", "ticket": "ticket_id", "membership": "membership_id"},
    "order_words": {"order": "order_id"},
    "orders": {"email": "buyer_email", "customer": "customer_id"},
    "passkeys": {"user": "user_id"},
    "payouts": {"order": "order_id"},
    "put_away_people": {"email": "email", "membership": "membership_id", "ticket": "ticket"},
    "scan_conflicts": {"ticket": "ticket"},
    "scan_entries": {"ticket": "ticket"},
    "scan_movements": {"ticket": "ticket"},
    "scan_presence": {"ticket": "ticket"},
    "sessions": {"user": "user_id"},
    "snapshot_history": {"ticket": "key"},
    "snapshot_rows": {"ticket": "key"},
    "ticket_issues": {"ticket": "ticket_id"},
    "tickets": {"ticket": "id", "membership": "membership_id"},
    "ticket_transfers": {"email": "recipient_email", "ticket": "ticket_id"},
    "tier_memberships": {"membership": "id"},
    "users": {"user": "id"},
    "waiting_parties": {"email": "email"},
    "zone_guests": {"list": "key"},
}
"""The columns by which a person's rows are found, by what is known of the person."""
NOT_ONE_PERSON_S: Final[Mapping[str, str]] = {
    "api_tokens": "programs",
    "cancellations": "about events",
    "audit_lines": "found with their personal values",
    "guests": "visitors without a name or address",
    "idempotency_keys": "gone after two days",
    "imports": "emptied when the import ends",
    "supervisors": "found by their number: `audit erase --person supervisor:3`",
}
"""Tables with personal columns in which nobody is looked for, each with its reason."""
