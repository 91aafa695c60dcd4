"""Who comes to a simulated gate, and when: waves of guests, some of whom have the wrong ticket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gate_app.simulation.invented_event import InventedEvent
from hardware.simulated.camera import SECOND_NS, Arrival
from hardware.simulated.guests import a_guest

WAVE_S = 180.0
"""A train or a tram arrives every three minutes, and with it the next wave."""
SWELL = 0.6
"""How much more guests than on average come at the height of a wave."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A guest's code, and the answer that a gate must give to it."""

    number: int
    text: str
    brings: str
    reason: str


def visitors(event: InventedEvent, chance: np.random.Generator, count: int, trouble: float) -> list[Visitor]:
    """The guests in their order; a share of `trouble` brings something that is not good for entry."""
    coming: list[Visitor] = []
    for number in range(1, count + 1):
        good = [visitor.text for visitor in coming if visitor.reason == "admitted"]
        kind = int(chance.integers(3)) if chance.random() < trouble else None
        coming.append(_visitor(number, event, kind, good, chance))
    return coming


def _visitor(
    number: int, event: InventedEvent, kind: int | None, used: list[str], chance: np.random.Generator
) -> Visitor:
    if kind == 0 and used:
        return Visitor(number, used[int(chance.integers(len(used)))], "a copy of a ticket", "already_used")
    if kind == 1:
        return Visitor(number, event.sell(cancelled=True), "a cancelled ticket", "ticket_cancelled")
    if kind == 2:
        return Visitor(number, event.forge(), "a forged ticket", "bad_signature")
    return Visitor(number, event.sell(), "a ticket", "admitted")


def arrivals(
    coming: list[Visitor], chance: np.random.Generator, a_minute: float, frame_height: int
) -> Iterator[Arrival]:
    """When they come, `a_minute` on average, in waves; what they hold up is drawn as they come."""
    after_s = 0.0
    for visitor in coming:
        rate = a_minute / 60 * (1 + SWELL * np.sin(2 * np.pi * after_s / WAVE_S))
        after_s += float(chance.exponential(1 / rate))
        yield Arrival(visitor.number, a_guest(visitor.text, chance, frame_height), round(after_s * SECOND_NS))
