"""What an organiser may choose for the buyers of an event that is called off, and what a buyer: pure."""

from __future__ import annotations

from enum import StrEnum

from shared.errors import Conflict, InvalidRequest


class Choice(StrEnum):
    """What buyers get."""

    REFUND = "refund"
    ANOTHER_DATE = "another_date"
    NOTHING = "nothing"


class State(StrEnum):
    """How far it is."""

    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


class Answer(StrEnum):
    """What a buyer chose."""

    KEEP = "keep"
    REFUND = "refund"


def check_dates(choice: Choice, new_date: int | None, keep_until: int | None, now: int) -> None:
    """InvalidRequest unless another date has a date and a deadline before it, and nothing else has any."""
    if choice is not Choice.ANOTHER_DATE:
        if new_date is not None or keep_until is not None:
            raise InvalidRequest("new_date and keep_until are for the choice `another_date`.", field="new_date")
        return
    if new_date is None or keep_until is None:
        raise InvalidRequest("Send new_date, and keep_until: until when buyers may choose.", field="keep_until")
    if not now < keep_until < new_date:
        raise InvalidRequest("keep_until: must be between now and the new date.", field="keep_until")


def ends_others(choice: Choice, wanted: bool | None) -> bool:
    """Whether tickets that no order has end; as a rule where orders are refunded. InvalidRequest for another date."""
    if choice is Choice.ANOTHER_DATE and wanted:
        raise InvalidRequest("end_others: tickets are kept for the other date.", field="end_others")
    return choice is Choice.REFUND if wanted is None else wanted


def check_seen(orders: int, affected: int) -> None:
    """Conflict where more or fewer orders are affected than the organiser has seen."""
    if orders != affected:
        raise Conflict(
            f"{affected} paid orders are affected, not {orders}. Check them again and confirm that number.",
            code="affected_changed",
            orders=affected,
        )


def check_may_begin(old: str | None, state: str | None) -> None:
    """Conflict where refunds have begun: what is refunded stays refunded."""
    if old == Choice.REFUND:
        raise Conflict("All orders of this event are being refunded, or were.", code="refunds_begun")
    if state == State.RUNNING:
        raise Conflict(
            "Buyers are still being told of the earlier choice. Stop that first.", code="cancellation_running"
        )
