"""Decides for which days a ticket is: those asked for, or of the hold that it comes from, or of its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from shared.errors import Conflict, InvalidRequest
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays, choose, numbers
from sync_server.holds.selling.inventory import HeldDays
from sync_server.tickets.models import TicketTypeRecord


@dataclass(frozen=True, slots=True)
class TicketDays:
    """What says for which days the tickets of one request are."""

    dates: tuple[str, ...]  # of the event
    asked: tuple[str, ...]
    held: HeldDays

    def of_seat(self, ticket_type: TicketTypeRecord, seat: int) -> ChosenDays:
        """The days of a ticket on a seat."""
        return self._of(ticket_type, self.held.seats.get(seat, EVERY_DAY))

    def of_places(self, ticket_type: TicketTypeRecord) -> ChosenDays:
        """The days of tickets without a seat of the layout."""
        if len(self.held.places) > 1 and not self.asked:
            raise InvalidRequest(
                "holds: these places are held for different days. Sell those of the same days together.",
                field="holds",
                code="holds_for_different_days",
            )
        return self._of(ticket_type, next(iter(self.held.places), EVERY_DAY))

    def _of(self, ticket_type: TicketTypeRecord, held: int) -> ChosenDays:
        if len(self.dates) == 1:
            choose(self.dates, self.asked)
            return ChosenDays(self.dates, ticket_type.valid_days)
        allowed = {*numbers(ticket_type.valid_days, len(self.dates))}
        wanted = choose(self.dates, self.asked) if self.asked else ChosenDays(self.dates, held)
        if self.asked and not {*wanted.numbers} <= allowed:
            self._refuse(ticket_type, wanted, allowed)
        both = allowed & {*wanted.numbers}
        if not both:
            self._refuse(ticket_type, wanted, allowed)
        if EVERY_DAY in {wanted.bits, ticket_type.valid_days}:
            return ChosenDays(self.dates, wanted.bits or ticket_type.valid_days)
        return ChosenDays(self.dates, sum(1 << day for day in both))

    def _refuse(self, ticket_type: TicketTypeRecord, wanted: ChosenDays, allowed: set[int]) -> NoReturn:
        raise Conflict(
            f"“{ticket_type.name}” is for {', '.join(wanted.names_of(allowed))}, not for {', '.join(wanted.names)}. "
            "Choose other days, or another ticket type.",
            code="ticket_type_not_for_these_days",
            days=list(wanted.names_of(allowed)),
        )
