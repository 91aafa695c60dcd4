"""Who gets a badge, told from the journal: what is recorded decides, so a power cut changes nothing. Pure."""

from __future__ import annotations

from typing import Any, Final

from shared.journal.scans import Entry, EntryKind
from shared.reasons import Reason

PRINTED_AGAIN: Final = "printed_again"
"""In the details of an operator's entry: that a supervisor asked for a badge once more."""
BEEN_INSIDE: Final = frozenset(
    {Reason.ALREADY_USED.value, Reason.DAILY_LIMIT_REACHED.value, Reason.ALREADY_INSIDE.value}
)
"""Refusals of somebody who came in before, and so has a badge already."""


def is_due(entry: Entry) -> bool:
    """Whether this entry gives a guest a badge: the first admission, or a supervisor's word."""
    if not entry.ticket_id:
        return False
    if entry.kind == EntryKind.OPERATOR:
        return PRINTED_AGAIN in entry.details
    # Both reasons are of real entries alone: exits and tests have reasons of their own.
    by_word = entry.reason == Reason.ADMITTED_OVERRIDE and entry.override_denial not in BEEN_INSIDE
    return entry.reason == Reason.ADMITTED or by_word


def asked_by(entry: Entry) -> int:
    """0 for an admission, of which there is one badge for each ticket; otherwise the number of the request."""
    return entry.seq if entry.kind == EntryKind.OPERATOR else 0


def request(event: int, ticket_id: int) -> dict[str, Any]:
    """What the journal says of a request, beside ticket and supervisor."""
    return {PRINTED_AGAIN: [event, ticket_id]}
