"""Gives versions to what happens with seats: as the relay tells it, after the commit and never inside a sale."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.house_plan import counters, service
from sync_server.plumbing.bus import Note
from sync_server.plumbing.cache import Name
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import Message
from sync_server.tickets import queries as tickets

HOLDS: Final = (
    "seat_held",
    "seat_hold_extended",
    "seat_hold_released",
    "seat_hold_expired",
    "seat_hold_converted",
)
OF_ALL: Final = ("holds_suspended", "holds_resumed", "event_reseated")
"""They change more than they name."""
CANCELLED: Final = "ticket_cancelled"
LAYOUTS: Final = ("event_layout_chosen", "event_layout_dropped")
OUT_OF_SIGHT: Final = ("event_unpublished", "event_ended", "event_cancelled", "event_archived")
"""Open maps look whether they may be seen any more."""
COMING: Final = ("event_published",)
"""It will be looked at soon."""
COUNTED: Final = ("tickets_issued", CANCELLED, "holds_ended")

Touched = set[int] | None
"""Seats by number, none where only places were taken, None where it may be any."""


def topic(event_id: str) -> str:
    """Where it is told that an event's map has a new version."""
    return f"seatmap:{event_id}"


def touched(message: Message) -> Touched | bool:
    """Which seats a fact is about; False for one that concerns no seat or place."""
    if message.name in OF_ALL:
        return None
    named = _numbers(message.payload)
    if named or message.name in {*HOLDS, *LAYOUTS, *OUT_OF_SIGHT, *COMING, *COUNTED}:
        return named
    return False


def _numbers(payload: Mapping[str, Any]) -> set[int]:
    one, some = payload.get("seat"), payload.get("seats")
    return _known([one, *(some if isinstance(some, list) else ())])


def _known(numbers: Iterable[Any]) -> set[int]:
    return {number for number in numbers if isinstance(number, int) and number > 0}


class Follower:
    """Hears facts by the batch, and writes down which seats they touch."""

    def __init__(self, parts: Parts) -> None:
        """Owes nothing yet."""
        self._parts = parts
        self._turn = threading.Lock()
        self._owed: dict[tuple[str, str], Touched] = {}  # by event and organisation

    def hear(self, messages: Sequence[Message]) -> None:
        """Write down what a batch touches, in one transaction; where that fails it stays owed."""
        for message in messages:
            self._owe(message)
        if self._owed:
            with self._parts.database.writing() as session:
                self.pay(session, self._parts.clock())

    def _owe(self, message: Message) -> None:
        event = message.subjects.get("event")
        seats = self._of_cancelled(message) if message.name == CANCELLED else touched(message)
        if event is None or isinstance(seats, bool):
            return
        whose = str(event), message.organisation_id
        with self._turn:
            before = self._owed.get(whose, set())
            self._owed[whose] = None if seats is None or before is None else before | seats

    def _of_cancelled(self, message: Message) -> Touched:
        """The seat that a cancelled ticket had; where that cannot be found out now, any."""
        try:
            with self._parts.database.reading() as session:
                id = tickets.internal_id(str(message.subjects.get("ticket")))
                return _known({tickets.ticket(session, message.organisation_id, id).seat})
        except (SQLAlchemyError, NotFound):
            return None

    def pay(self, session: Session, now: Millis) -> None:
        """Write down what is owed, and tell it after the commit."""
        with self._turn:
            owed = dict(self._owed)
        service.note_all(session, owed, now)
        after_commit(session, lambda: self._told(owed))

    def _told(self, owed: Mapping[tuple[str, str], Touched]) -> None:
        with self._turn:
            for whose, seats in owed.items():
                if self._owed.get(whose, False) == seats:
                    del self._owed[whose]
        names: list[Name] = [counters.name(organisation_id, event_id) for event_id, organisation_id in owed]
        if names:
            self._parts.cache.forget(*names)
        self._parts.bus.tell_all([Note(topic(event_id), {}) for event_id, _ in owed])

    def pay_later(self, session: Session, deed: Deed) -> None:
        """What could not be written when it was heard."""
        if self._owed:
            self.pay(session, deed.now)
