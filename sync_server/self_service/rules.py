"""When a ticket may change hands and when a buyer may cancel: pure. The first reason against it counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.errors import Conflict, GatehouseError
from sync_server.accounts.rules import Limit

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
MINUTE_MS: Final = 60_000
MAILED_OFFERS: Final = Limit("ticket transfers of", 12, 60_000, 12 * HOUR_MS, DAY_MS)
"""Offers of one order: they go to addresses that nobody has proved."""


class TransferState(StrEnum):
    """What became of a ticket that was offered to another person."""

    OFFERED = "offered"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the organiser allows, in absolute times of one event."""

    transfers: bool
    max_transfers: int
    transfer_until: int
    cancellations: bool
    cancel_until: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a ticket that somebody wants to pass on or give back."""

    valid: bool
    admitted: bool
    passed_on: int  # how often it has changed hands


def refuse_transfer(allowed: Allowed, ticket: Standing, now: int) -> GatehouseError | None:
    """Why the ticket may not be passed on now; None if it may."""
    reasons = (
        (not allowed.transfers, "transfers_forbidden", "This organiser does not allow tickets to be passed on."),
        (not ticket.valid, "ticket_not_valid", "Only a valid ticket can be passed on, and this one is not."),
        (ticket.admitted, "ticket_used", "Somebody has already come in with this ticket."),
        (now >= allowed.transfer_until, "too_late_to_transfer", "It is too late to pass on tickets for this event."),
        (
            ticket.passed_on >= allowed.max_transfers,
            "too_many_transfers",
            f"A ticket can change hands at most {allowed.max_transfers} times.",
        ),
    )
    return next((Conflict(message, code=code) for applies, code, message in reasons if applies), None)


def refuse_cancellation(allowed: Allowed, ticket: Standing, now: int) -> GatehouseError | None:
    """Why the buyer may not give the ticket back now; None if it may."""
    reasons = (
        (
            not allowed.cancellations,
            "cancellations_forbidden",
            "This organiser does not let buyers cancel by themselves. Ask the organiser.",
        ),
        (now >= allowed.cancel_until, "too_late_to_cancel", "It is too late to cancel. Ask the organiser."),
        (not ticket.valid, "ticket_not_valid", "Only a valid ticket can be given back, and this one is not."),
        (ticket.admitted, "ticket_used", "Somebody has already come in with this ticket."),
        (ticket.passed_on > 0, "ticket_passed_on", "This ticket was passed on, and is not yours to give back."),
    )
    return next((Conflict(message, code=code) for applies, code, message in reasons if applies), None)
