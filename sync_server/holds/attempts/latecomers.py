"""Refuses whoever comes too late for a seat, by what a short query found: the long way would say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds import rules
from sync_server.holds.attempts.evidence import taken_seat
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.attempts.runtime import TakenNow
from sync_server.holds.rules import Asked, Evidence
from sync_server.seating.plans.layout_seats import Seat


def require_not_taken(
    asked: Asked, request: HoldRequest, seats: Sequence[Seat], days: ChosenDays, taken: Mapping[int, TakenNow]
) -> None:
    """The refusal of `rules` where somebody else has one of these seats; in any other case nothing."""
    found = [
        taken_seat(seat, taken[seat.number].state, taken[seat.number].until, request.now, days.names)
        for seat in seats
        if seat.number in taken and taken[seat.number].bearer_id != request.id
    ]
    if others := [each for each in found if each is not None]:
        rules.require(asked, Evidence(taken=others))
