"""Who is offered what came back: the first in the list whom it fits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

MINUTE_MS: Final = 60_000
DEFAULT_OFFER_MINUTES: Final = 120
LEASE_MS: Final = 60_000
LOOK_AGAIN_MS: Final = 60_000
"""Whatever changes without a fact, such as a raised quantity, is found out by then."""


class PartyState(StrEnum):
    """What became of a party."""

    WAITING = "waiting"
    OFFERED = "offered"
    TAKEN = "taken"
    LAPSED = "lapsed"  # they did not answer in time
    LEFT = "left"
    ENDED = "ended"  # with the event


STANDING: Final = (PartyState.WAITING.value, PartyState.OFFERED.value)
"""The states of parties that are on the list."""


class OfferState(StrEnum):
    """What became of an offer."""

    OPEN = "open"
    TAKEN = "taken"
    LAPSED = "lapsed"
    LEFT = "left"


class Misfit(StrEnum):
    """Why a party was passed over."""

    TYPES_SOLD_OUT = "types_sold_out"  # of no ticket type that they wish are enough left
    NOT_ENOUGH_TOGETHER = "not_enough_together"
    NOT_ENOUGH_PLACES = "not_enough_places"
    BY_HAND = "by_hand"  # the organiser has chosen somebody behind them


@dataclass(frozen=True, slots=True)
class Wish:
    """What a party wants. Parties with the same wish are interchangeable but for their turn."""

    size: int
    together: bool = True
    zone_ids: tuple[str, ...] = ()
    ticket_types: tuple[int, ...] = ()
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A party in the list."""

    id: str
    seq: int
    wish: Wish


@dataclass(slots=True)
class Passed:
    """Who was passed over so far in one walk through the list, and why, as stretches of `seq`."""

    stretches: dict[str, list[list[int]]] = field(default_factory=dict)

    def note(self, seq: int, why: Misfit) -> None:
        """Note one party; they come in the order of the list."""
        found = self.stretches.setdefault(why.value, [])
        if found and found[-1][1] == seq - 1:
            found[-1][1] = seq
        else:
            found.append([seq, seq])

    def copy(self) -> dict[str, list[list[int]]]:
        """As an offer stores it."""
        return {why: [[*stretch] for stretch in found] for why, found in self.stretches.items()}


def walk(parties: Iterable[Waiting], offer: Callable[[Waiting, Passed], Misfit | None]) -> int:
    """Offer to each party in turn what is free, until the end of the list; returns how many got an offer.

    A wish that does not fit now does not fit the next party with the same wish either: what is free only becomes less.
    """
    misfits: dict[Wish, Misfit] = {}
    passed, made = Passed(), 0
    for party in parties:
        why = misfits.get(party.wish) or offer(party, passed)
        if why is None:
            made += 1
        else:
            misfits[party.wish] = why
            passed.note(party.seq, why)
    return made
