"""A two-day festival with reserved seats, free seating and a pit."""

from __future__ import annotations

import pytest

from shared.admission import Direction, Passage
from shared.reasons import Reason
from shared.tickets import ReadTicket, read
from shared.wire.snapshot import RowKind
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_stage, at_the_gate, floor, stalls
from tests.contracts.seating.test_tickets_on_seats import on, refused


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    """Sixteen reserved seats, thirty of free seating, forty standing; from today to tomorrow night."""
    lawn = {"name": "Lawn", "zone_type": "ga_seated", "capacity": 30}
    layout = a_layout(zones=[stalls(), lawn, floor(name="Pit", capacity=40)])
    made = a_stage(app_server, api, layout, end_at=app_server.now + 2 * DAY)
    made.choose()
    return made


@pytest.fixture
def festival(stage: Stage) -> Concert:
    """A festival with a ticket type for each zone."""
    concert = Concert(stage.api, stage.venue, stage.event)
    numbers = {zone["name"]: zone["event_zone"] for zone in stage.api.get(stage.path)["zones"]}
    for name, kind in (("Stalls", "unlimited_multi_day"), ("Lawn", "ga_seated"), ("Pit", "ga_standing")):
        body = a_ticket_type(name=name, zone=numbers[name], entitlement=kind, quantity=50)
        stage.api.post(f"{concert.path}/ticket-types", body)
    return concert


def test_each_zone_sells_up_to_its_own_capacity(festival: Concert) -> None:
    festival.issue(ticket_type=2, count=30)
    assert refused(festival, ticket_type=2, count=1)[1] == "zone_full"
    festival.issue(ticket_type=3, count=39)
    festival.issue(**on(*(f"A-{n}" for n in range(1, 9))))
    assert refused(festival, ticket_type=3, count=2)[1] == "zone_full"
    festival.issue(ticket_type=3, count=1)
    assert festival.api.get(festival.path)["tickets_issued"] == 30 + 40 + 8


def test_guest_sits_on_the_same_seat_on_both_days(festival: Concert, app_server: AppServer) -> None:
    ticket = festival.issue(**on("B-4"))["items"][0]
    code = read(festival.code(ticket), app_server.key_ring(festival.number))
    assert isinstance(code, ReadTicket) and (code.ticket.seat, code.ticket.valid_days) == (12, 0)
    row = app_server.gate_rows_of(festival.number, RowKind.TICKET)[0]
    assert (row.seat, row.valid_days) == (12, 0), "one seat, and every day of the event"
    for step in ("publish", "go-live"):
        festival.api.post(f"{festival.path}/{step}", {}, 200)
    first = at_the_gate_with(app_server, festival, ticket, ())
    app_server.advance(DAY)
    second = at_the_gate_with(app_server, festival, ticket, (app_server.now - DAY,))
    assert (first, second) == (Reason.ADMITTED, Reason.ADMITTED_REENTRY)
    assert app_server.gate_rows_of(festival.number, RowKind.TICKET)[0] == row


def at_the_gate_with(
    app_server: AppServer, festival: Concert, ticket: dict[str, str], entries: tuple[int, ...]
) -> Reason:
    """The decision of a gate that knows of these entries."""
    history = tuple(Passage(at, 1, 0, seq, Direction.ENTRY, 1, 1) for seq, at in enumerate(entries, start=1))
    return at_the_gate(app_server, festival, ticket, festival.code(ticket), history=history)
