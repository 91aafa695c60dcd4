"""The closed list of answers a gate can give, in the order in which they are found."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a presentation was admitted or denied; numbers of rows are those of the admission table."""

    GATE_NOT_READY = "gate_not_ready"  # 0
    CANNOT_RECORD = "cannot_record"
    UNREADABLE = "unreadable"  # 1
    UNSUPPORTED_VERSION = "unsupported_version"  # 2
    UNKNOWN_KEY = "unknown_key"  # 3
    BAD_SIGNATURE = "bad_signature"
    STALE_PROOF = "stale_proof"
    WRONG_ORGANISATION = "wrong_organisation"  # 4
    WRONG_EVENT = "wrong_event"
    EVENT_NOT_LIVE = "event_not_live"  # 5
    EVENT_CANCELLED = "event_cancelled"
    EVENT_POSTPONED = "event_postponed"
    EVENT_ENDED = "event_ended"
    GATE_CLOSED = "gate_closed"  # 6
    WRONG_GATE = "wrong_gate"
    TICKET_REPLACED = "ticket_replaced"  # 7
    TICKET_CANCELLED = "ticket_cancelled"
    TICKET_BLOCKED = "ticket_blocked"
    TICKET_UNPAID = "ticket_unpaid"
    NOT_IN_SNAPSHOT = "not_in_snapshot"
    NOT_VALID_YET = "not_valid_yet"  # 8
    NO_LONGER_VALID = "no_longer_valid"
    NOT_VALID_TODAY = "not_valid_today"
    MEMBERSHIP_EXPIRED = "membership_expired"  # 9
    ALREADY_USED = "already_used"  # 10
    DAILY_LIMIT_REACHED = "daily_limit_reached"
    ALREADY_INSIDE = "already_inside"
    NOT_INSIDE = "not_inside"
    ZONE_FULL = "zone_full"  # 11
    GATE_FULL = "gate_full"
    ADMITTED = "admitted"  # 12
    ADMITTED_REENTRY = "admitted_reentry"
    EXITED = "exited"
    TEST_OK = "test_ok"
    ADMITTED_OVERRIDE = "admitted_override"


ADMITTING = frozenset(
    {Reason.ADMITTED, Reason.ADMITTED_REENTRY, Reason.EXITED, Reason.TEST_OK, Reason.ADMITTED_OVERRIDE}
)
