"""Reads all that stands on tickets: what an event's tickets share is read once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from shared.tickets import Entitlement
from shared.wire.snapshot import TicketState
from sync_server.accounts import queries as accounts
from sync_server.appearance.moments import Style
from sync_server.checkout import queries as orders
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.events.queries import Event
from sync_server.events.snapshot_rows import window
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer
from sync_server.ticket_files.design import design_of
from sync_server.ticket_files.face import Labelled, TicketFace
from sync_server.ticket_files.words import WORDS, Words, language_of
from sync_server.tickets import queries as tickets
from sync_server.tickets.keys import codes
from sync_server.tickets.queries import Ticket


class Ordered(Protocol):
    """What was paid for a ticket."""

    unit_cents: int
    discount_cents: int
    fee_cents: int
    tax_rate: int
    order_id: str


@dataclass(frozen=True, slots=True)
class Setting:
    """What the tickets of an event share, in one language."""

    language: str
    words: Words
    style: Style
    organiser: str
    terms: str
    event: Event
    dates: tuple[str, ...]
    zones: Mapping[int, str]
    types: Mapping[int, str]

    @classmethod
    def read(cls, session: Session, key: EventKey, *languages: str) -> Setting:
        """The setting in the first language that tickets exist in, or else the organisation's."""
        organisation = accounts.organisation(session, key.organisation_id)
        event = events.event(session, *key)
        language = language_of(*languages, organisation.language)
        words = WORDS[language]
        return cls(
            language,
            words,
            Style.of(language, event.timezone),
            organisation.name,
            design_of(session, key.organisation_id).terms,
            event,
            dates_of(event),
            {zone.number: zone.name for zone in events.zones(session, *key)},
            {row.number: row.name for row in tickets.ticket_types(session, *key)},
        )

    def face(self, row: Ticket, code: str, line: Ordered | None, order_number: str) -> TicketFace:
        """What stands on a ticket."""
        words, event = self.words, self.event
        return TicketFace(
            language=self.language,
            title=words.ticket,
            organiser=self.organiser,
            event=event.name,
            day=self._day(row),
            time=self.times,
            place=event.venue_name,
            address=self.address,
            seat=self._seat(row),
            details=tuple(each for each in self._details(row, line, order_number) if each.value),
            notice=self._notice(row),
            number=row.number,
            confirmation_label=words.confirmation,
            confirmation_code=row.confirmation_code,
            code=code,
            show=words.show,
            terms=self.terms,
        )

    def party_face(self, rows: Sequence[Ticket], code: str, order_number: str) -> TicketFace:
        """What stands beside the code of a whole party."""
        words, event = self.words, self.event
        days = {self._day(row) for row in rows}
        details = Labelled(words.number, _first_and_last(rows)), Labelled(words.order, order_number)
        return TicketFace(
            language=self.language,
            title=words.party,
            organiser=self.organiser,
            event=event.name,
            day=days.pop() if len(days) == 1 else self.style.day(window(event)[0]),
            time=self.times,
            place=event.venue_name,
            address=self.address,
            seat=(Labelled(words.guests, str(len(rows))),),
            details=tuple(each for each in details if each.value),
            notice=next(filter(None, map(self._notice, rows)), ""),
            number=order_number,
            confirmation_label="",
            confirmation_code="",
            code=code,
            show=words.show_party,
            terms=self.terms,
            admits=len(rows),
        )

    def _day(self, row: Ticket) -> str:
        chosen = ChosenDays(self.dates, row.valid_days)
        names = chosen.names
        return self.style.days(names) if names else self.style.day(window(self.event)[0])

    @property
    def times(self) -> str:
        """When doors open and it starts, and by which clocks."""
        start, style = window(self.event)[0], self.style
        shift = start - self.event.start_at
        doors = None if self.event.doors_at is None else self.event.doors_at + shift
        opening = () if doors is None or doors == start else (f"{self.words.doors} {style.time(doors)}",)
        return " · ".join((*opening, f"{self.words.start} {style.time(start)} {style.zone(start)}"))

    @property
    def address(self) -> str:
        """Where the venue is; what the address says already is not said again."""
        event = self.event
        more = (
            part for part in (event.city, event.country) if part and part.casefold() not in event.address.casefold()
        )
        return ", ".join(part for part in (event.address, *more) if part)

    def _seat(self, row: Ticket) -> tuple[Labelled, ...]:
        words = self.words
        seat = (
            Labelled(words.block, row.section),
            Labelled(words.row, row.seat_row),
            Labelled(words.seat, row.seat_number),
        )
        found = tuple(each for each in seat if each.value)
        area = self.zones.get(row.zone, "")
        if not found:
            return (Labelled(words.area, area or self.types.get(row.ticket_type, "")),)
        beside = area and area.casefold() != row.section.casefold()
        return (Labelled(words.area, area), *found) if beside and not row.section else found

    def _details(self, row: Ticket, line: Ordered | None, order_number: str) -> tuple[Labelled, ...]:
        words = self.words
        return (
            Labelled(words.type, self.types.get(row.ticket_type, "")),
            Labelled(words.price, self._price(row, line)),
            Labelled(words.holder, row.holder_name),
            Labelled(words.number, row.number),
            Labelled(words.order, order_number),
            Labelled(words.admits, words.admission[Entitlement(row.entitlement)]),
        )

    def _price(self, row: Ticket, line: Ordered | None) -> str:
        cents = row.price_cents if line is None else line.unit_cents - line.discount_cents + line.fee_cents
        if not cents:
            return self.words.free
        amount = self.style.amount(cents, row.currency)
        rate = 0 if line is None else line.tax_rate
        return f"{amount} ({self.style.rate(rate)} {self.words.tax_included})" if rate else amount

    def _notice(self, row: Ticket) -> str:
        status = EventStatus(self.event.status)
        if status is EventStatus.CANCELLED:
            return self.words.cancelled
        if status is EventStatus.POSTPONED and self.event.rescheduled_at is None:
            return self.words.postponed
        return self.words.unpaid if row.state == TicketState.UNPAID else ""


def faces_of(session: Session, sealer: Sealer, setting: Setting, rows: Sequence[Ticket]) -> list[TicketFace]:
    """What stands on these tickets of one event, of which none is cancelled."""
    texts = codes.code_texts(session, rows, sealer)
    where, ids = setting.event.organisation_id, [row.id for row in rows]
    lines = orders.lines_of_tickets(session, where, ids)
    numbers = orders.numbers(session, where, {line.order_id for line in lines.values()})
    return [
        setting.face(row, text, line := lines.get(row.id), numbers[line.order_id] if line else "")
        for row, text in zip(rows, texts, strict=True)
    ]


def party_of(
    session: Session, sealer: Sealer, setting: Setting, rows: Sequence[Ticket], order_number: str
) -> list[TicketFace]:
    """The code for all these tickets together, where there are several, but not too many for one code."""
    code = codes.party_text(session, rows, sealer)
    return [setting.party_face(rows, code, order_number)] if code else []


def _first_and_last(rows: Sequence[Ticket]) -> str:
    return f"{rows[0].number} – {rows[-1].number}"


def standing(rows: Collection[Ticket]) -> list[Ticket]:
    """Those that have a code, in the order of their numbers."""
    return sorted((row for row in rows if row.state != TicketState.CANCELLED), key=lambda row: row.sequence)
