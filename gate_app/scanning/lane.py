"""The repeat rule: the same ticket held a moment longer is the same presentation, not a second one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from shared.tickets import ReadTicket, Refusal

OWED_MS = 120_000
"""How long after its commit an admission that was never shown may still be shown once."""


class Shown(Struct, frozen=True):
    """What was presented, where, and in which direction: equal values are the same presentation."""

    code: tuple[str | int | bytes, ...]
    reader: str
    direction: str
    mode: str
    gate: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A presentation and the answer it got."""

    shown: Shown
    at: int  # monotonic ms
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Owed:
    """A recorded admission that was never shown, because the power failed or the program was killed."""

    ticket_id: int
    issue: int
    direction: str
    mode: str
    until: int  # monotonic ms
    answer: dict[str, Any]


@dataclass(slots=True)
class Lane:
    """The last presentation at each reader, and the admissions that may be owed after a restart."""

    owed: tuple[Owed, ...] = ()
    last: dict[str, Answered] = field(default_factory=dict)

    def again(self, shown: Shown, now: int, window_ms: int) -> dict[str, Any] | None:
        """The answer to the same presentation a moment ago at this reader; None when it must be judged."""
        before = self.last.get(shown.reader)
        if before is None or before.shown != shown or not 0 <= now - before.at < window_ms:
            return None
        return before.answer

    def settle(self, shown: Shown, now: int) -> dict[str, Any] | None:
        """The admission still owed to this ticket, returned once."""
        owed = next((one for one in self.owed if _is_owed(one, shown, now)), None)
        if owed is None:
            return None
        self.owed = tuple(one for one in self.owed if one is not owed)
        return owed.answer

    def owes(self, shown: Shown, now: int) -> bool:
        """Whether an admission is still owed to this ticket."""
        return any(_is_owed(one, shown, now) for one in self.owed)

    def remember(self, shown: Shown, now: int, answer: dict[str, Any]) -> None:
        """Makes the same presentation a repeat from now on."""
        self.last[shown.reader] = Answered(shown, now, answer)


def code_of(code: ReadTicket | Refusal, text: str) -> tuple[str | int | bytes, ...]:
    """What makes two codes equal: ticket id and issue where the signature is valid, else the text itself."""
    if isinstance(code, ReadTicket):
        return ("ticket", code.ticket.event_number, code.ticket.ticket_id, code.ticket.issue)
    return ("text", text)


def _is_owed(owed: Owed, shown: Shown, now: int) -> bool:
    return (
        now < owed.until
        and (shown.direction, shown.mode) == (owed.direction, owed.mode)
        and shown.code[0] == "ticket"
        and shown.code[2:] == (owed.ticket_id, owed.issue)
    )
