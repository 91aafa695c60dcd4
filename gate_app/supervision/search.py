"""Finds tickets as stewards ask for them: by number, confirmation code, seat or name."""

from __future__ import annotations

import unicodedata

from gate_app.snapshots.roster import EventSnapshot
from gate_app.words import TEXTS
from shared.wire.snapshot import TicketRow
from shared.words.wording import LANGUAGES, wording

MOST = 20
LEAST_LETTERS = 2
"""Shorter texts would name half the venue."""


def search(snapshot: EventSnapshot, typed: str, *, names: bool) -> list[TicketRow]:
    """At most twenty tickets: those with this number or code, else with this seat, else (with `names`) this name."""
    exact = snapshot.find(typed)
    if exact or len(fold(typed)) < LEAST_LETTERS:
        return exact
    found: list[TicketRow] = []
    for ticket in snapshot.every_ticket():
        if fits(ticket, typed, names=names):
            found.append(ticket)
            if len(found) == MOST:
                break
    return found


def fits(ticket: TicketRow, typed: str, *, names: bool) -> bool:
    """Whether a ticket is of this seat, or of a guest whose name has every one of these words."""
    words = fold(typed).split()
    if not words:
        return False
    seat = fold(f"{ticket.seat_row} {ticket.seat_number}").split()
    asked = [word for word in words if word not in _LABELS]
    if ticket.seat_number and (asked == seat or asked == ["".join(seat)]):
        return True
    name = fold(ticket.name).split() if names else []
    return bool(name) and all(any(part.startswith(word) for part in name) for word in words)


def fold(text: str) -> str:
    """A text without case, accents and punctuation: Jørgen-Müller and jorgen muller are the same."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_STROKES))
    return "".join(_kept(letter) for letter in plain)


def _kept(letter: str) -> str:
    if unicodedata.combining(letter):
        return ""
    return letter if letter.isalnum() else " "


_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
_LABELS = frozenset(
    fold(wording(TEXTS, language)(key, row="", seat="")).strip()
    for language in LANGUAGES
    for key in ("seat.row", "seat.seat")
)
"""Row C, seat 14: what stands before the letters and numbers of a seat."""
