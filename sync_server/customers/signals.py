"""What customers tell higher packages inside the transaction of a change."""

from __future__ import annotations

from dataclasses import dataclass

from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class GuestCreated(Signal):
    """A guest has started a session."""

    organisation_id: str
    guest_id: str
    context: ActionContext


@dataclass(frozen=True, slots=True)
class GuestRemoved(Signal):
    """A guest's session has ended before its time."""

    organisation_id: str
    guest_id: str
    context: ActionContext


@dataclass(frozen=True, slots=True)
class CustomerSignedIn(Signal):
    """A customer has signed in: what this guest session has made is theirs, and so is what names their address."""

    organisation_id: str
    customer_id: str
    guest_id: str | None
    email: str
    context: ActionContext
