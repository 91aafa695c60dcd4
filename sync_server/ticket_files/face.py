"""All that stands on one ticket, in the language of whoever reads it; every form of the ticket shows the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Labelled(NamedTuple):
    """A value, and what it is called."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class TicketFace:
    """One ticket."""

    language: str
    title: str  # the word for a ticket
    organiser: str
    event: str
    day: str
    time: str
    place: str
    address: str
    seat: tuple[Labelled, ...]  # the words that lead to the seat, or to the place
    details: tuple[Labelled, ...]
    notice: str  # what a guest must know first, such as that the event is postponed
    number: str
    confirmation_label: str
    confirmation_code: str
    code: str  # what gates read
    show: str  # what to do with the code
    terms: str
    admits: int = 1  # how many guests the code is good for
