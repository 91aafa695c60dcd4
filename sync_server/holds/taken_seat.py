"""A seat that somebody else has, as a refusal names it."""

from __future__ import annotations

from dataclasses import dataclass

from shared.clock import Millis


@dataclass(frozen=True, slots=True)
class TakenSeat:
    """A seat that is sold, or held by somebody else."""

    id: str
    name: str
    state: int
    until: Millis
    dates: tuple[str, ...] = ()  # of the days on which it is taken, at an event that has several

    @property
    def label(self) -> str:
        """Its name, and when it is taken."""
        return f"{self.name} ({', '.join(self.dates)})" if self.dates else self.name
