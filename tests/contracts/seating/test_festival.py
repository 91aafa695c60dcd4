"""A festival of two days with seats, free seating and a pit: what is sold where, and where guests sit each day."""

from __future__ import annotations

import pytest

from shared.admission import Direction, Passage
from shared.reasons import Reason
from shared.snapshot import RowKind
from shared.tickets import ReadTicket, read
from tests.builders import DAY, a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_stage, at_the_gate, floor, stalls
from tests.contracts.seating.test_tickets_on_seats import on, refused
from tests.office import Desk, Evening, Office


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """Sixteen seats, thirty places to sit anywhere, forty to stand; from today to tomorrow night."""
    lawn = {"name": "Lawn", "zone_type": "ga_seated", "capacity": 30}
    layout = a_layout(zones=[stalls(), lawn, floor(name="Pit", capacity=40)])
    made = a_stage(office, desk, layout, end_at=office.now + 2 * DAY)
    made.choose()
    return made


@pytest.fixture
def festival(stage: Stage) -> Evening:
    """With a type for each zone."""
    evening = Evening(stage.desk, stage.venue, stage.event)
    numbers = {zone["name"]: zone["event_zone"] for zone in stage.desk.get(stage.path)["zones"]}
    for name, kind in (("Stalls", "unlimited_multi_day"), ("Lawn", "ga_seated"), ("Pit", "ga_standing")):
        words = a_ticket_type(name=name, zone=numbers[name], entitlement=kind, quantity=50)
        stage.desk.post(f"{evening.path}/ticket-types", words)
    return evening


def test_each_zone_is_sold_by_itself_and_together_they_are_the_house(festival: Evening) -> None:
    festival.issue(ticket_type=2, count=30)
    assert refused(festival, ticket_type=2, count=1)[1] == "zone_full"
    festival.issue(ticket_type=3, count=39)
    festival.issue(**on(*(f"A-{n}" for n in range(1, 9))))
    assert refused(festival, ticket_type=3, count=2)[1] == "zone_full"
    festival.issue(ticket_type=3, count=1)
    assert festival.desk.get(festival.path)["tickets_issued"] == 30 + 40 + 8


def test_guest_sits_on_the_same_seat_on_both_days(festival: Evening, office: Office) -> None:
    ticket = festival.issue(**on("B-4"))["items"][0]
    code = read(festival.code(ticket), office.ring(festival.number))
    assert isinstance(code, ReadTicket) and (code.ticket.seat, code.ticket.valid_days) == (12, 0)
    row = office.held_of(festival.number, RowKind.TICKET)[0]
    assert (row.seat, row.valid_days) == (12, 0), "one seat, and every day of the event"
    for step in ("publish", "go-live"):
        festival.desk.post(f"{festival.path}/{step}", {}, 200)
    first = at_the_gate_with(office, festival, ticket, ())
    office.advance(DAY)
    second = at_the_gate_with(office, festival, ticket, (office.now - DAY,))
    assert (first, second) == (Reason.ADMITTED, Reason.ADMITTED_REENTRY)
    assert office.held_of(festival.number, RowKind.TICKET)[0] == row


def at_the_gate_with(office: Office, festival: Evening, ticket: dict[str, str], entries: tuple[int, ...]) -> Reason:
    """What a gate says that knows of these entries."""
    history = tuple(Passage(at, 1, 0, seq, Direction.ENTRY, 1, 1) for seq, at in enumerate(entries, start=1))
    return at_the_gate(office, festival, ticket, festival.code(ticket), history=history)
