"""Guests in wheelchairs and their companions get their tickets; seats kept for them are sold to nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from shared.snapshot import RowKind
from shared.tickets import TicketFlags
from sync_server.seating.wiring import RELEASES_EVERY_MS
from tests.contracts.seating.stage import Stage, a_stage, with_wheelchairs
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, refused
from tests.office import Desk, Evening, Office


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """A house whose seat A-1 is a wheelchair place, and A-2 its companion seat."""
    made = a_stage(office, desk, with_wheelchairs())
    made.choose()
    return made


@pytest.fixture
def evening(stage: Stage) -> Evening:
    return an_evening_on(stage)


def flags(office: Office, evening: Evening) -> dict[str, TicketFlags]:
    """What gates are told, by seat."""
    return {f"{row.seat_row}-{row.seat_number}": row.flags for row in office.held_of(evening.number, RowKind.TICKET)}


def facts(office: Office) -> list[str]:
    with office.database.reading() as session:
        return list(session.execute(text("SELECT name FROM outbox ORDER BY id")).scalars())


def test_wheelchair_place_is_sold_alone_and_the_gate_hears_that_a_seat_is_kept(
    evening: Evening, office: Office
) -> None:
    evening.issue(**on("A-1"))
    assert flags(office, evening) == {"A-1": TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED}
    with office.database.reading() as session:
        sold = text("SELECT after FROM audit_lines WHERE action = 'wheelchair_place_sold'")
        said = session.execute(sold).scalars().all()
    assert len(said) == 1 and "A-2" in str(said[0])


def test_companion_comes_along_in_the_same_booking_or_joins_later(evening: Evening, office: Office) -> None:
    first = evening.issue(**on("A-1"))["items"][0]
    assert refused(evening, **on("A-2"))[:2] == (409, "companion_seat_kept")
    evening.issue(joins=first["id"], **on("A-2"))
    assert flags(office, evening)["A-2"] == TicketFlags.COMPANION


def test_companion_seat_is_not_sold_alone_but_the_box_office_may_say_why(evening: Evening, office: Office) -> None:
    assert refused(evening, **on("A-2", "A-3"))[:2] == (409, "companion_seat_kept")
    evening.issue(override="family of the stage crew", **on("A-2", "A-3"))
    with office.database.reading() as session:
        why = session.execute(text("SELECT reason FROM audit_lines WHERE action = 'tickets_issued'")).scalars().all()
    assert why == ["family of the stage crew"]


def test_ticket_of_somebody_else_opens_no_companion_seat(evening: Evening) -> None:
    other = evening.issue(**on("B-1"))["items"][0]
    assert refused(evening, joins=other["id"], **on("A-2"))[1] == "companion_seat_kept"
    assert refused(evening, joins="0" * 16, **on("A-2"))[0] == 404


def fill(evening: Evening, count: int) -> list[dict[str, Any]]:
    """Sell so many of the fourteen ordinary seats."""
    names = [f"{row}-{n}" for row in "AB" for n in range(1, 9)][2 : 2 + count]
    made: list[dict[str, Any]] = evening.issue(**on(*names))["items"]
    return made


def test_companion_seat_is_everybodys_once_the_zone_is_nearly_full_and_that_is_told_once(
    stage: Stage, evening: Evening, office: Office
) -> None:
    stage.desk.post(f"{evening.path}/publish", {}, 200)
    made = fill(evening, 13)  # of 16: 81 percent
    office.work()
    assert "companion_seats_released" not in facts(office)
    assert refused(evening, **on("A-2"))[1] == "companion_seat_kept"
    last = evening.issue(**on("B-8"))["items"][0]  # 87 percent
    office.work()
    office.advance(RELEASES_EVERY_MS)
    office.work()
    told = [name for name in facts(office) if name.startswith("companion_seats")]
    assert told == ["companion_seats_released"]
    for ticket in (last, made[0]):
        stage.desk.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    office.advance(RELEASES_EVERY_MS)
    office.work()
    assert facts(office).count("companion_seats_kept_again") == 1
    assert refused(evening, **on("A-2"))[1] == "companion_seat_kept"
    evening.issue(**on("A-3", "B-8"))
    sold = evening.issue(**on("A-2"))["items"][0]
    assert "companion" not in sold["flags"]
