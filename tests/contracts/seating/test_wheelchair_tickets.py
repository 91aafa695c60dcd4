"""Wheelchair users and their companions get tickets; seats reserved for them are sold to nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from shared.tickets import TicketFlags
from shared.wire.snapshot import RowKind
from sync_server.seating.wiring import RELEASES_EVERY_MS
from tests.app_server import ApiClient, AppServer, Concert
from tests.contracts.seating.stage import Stage, a_stage, with_wheelchairs
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, refused


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    """An event where A-1 is a wheelchair place and A-2 its companion seat."""
    made = a_stage(app_server, api, with_wheelchairs())
    made.choose()
    return made


@pytest.fixture
def concert(stage: Stage) -> Concert:
    return an_evening_on(stage)


def flags(app_server: AppServer, concert: Concert) -> dict[str, TicketFlags]:
    """The flags on gates, by seat."""
    return {
        f"{row.seat_row}-{row.seat_number}": row.flags
        for row in app_server.gate_rows_of(concert.number, RowKind.TICKET)
    }


def facts(app_server: AppServer) -> list[str]:
    with app_server.database.reading() as session:
        return list(session.execute(text("SELECT name FROM outbox ORDER BY message_id")).scalars())


def test_wheelchair_place_sold_alone_reserves_its_companion_seat(concert: Concert, app_server: AppServer) -> None:
    concert.issue(**on("A-1"))
    assert flags(app_server, concert) == {"A-1": TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED}
    with app_server.database.reading() as session:
        sold = text("SELECT after FROM audit_lines WHERE action = 'wheelchair_place_sold'")
        recorded = session.execute(sold).scalars().all()
    assert len(recorded) == 1 and "A-2" in str(recorded[0])


def test_companion_is_in_the_same_booking_or_joins_later(concert: Concert, app_server: AppServer) -> None:
    first = concert.issue(**on("A-1"))["items"][0]
    assert refused(concert, **on("A-2"))[:2] == (409, "companion_seat_kept")
    concert.issue(joins=first["id"], **on("A-2"))
    assert flags(app_server, concert)["A-2"] == TicketFlags.COMPANION


def test_companion_seat_is_only_sold_alone_with_a_reason_of_the_box_office(
    concert: Concert, app_server: AppServer
) -> None:
    assert refused(concert, **on("A-2", "A-3"))[:2] == (409, "companion_seat_kept")
    concert.issue(override="family of the stage crew", **on("A-2", "A-3"))
    with app_server.database.reading() as session:
        why = session.execute(text("SELECT reason FROM audit_lines WHERE action = 'tickets_issued'")).scalars().all()
    assert why == ["family of the stage crew"]


def test_ticket_of_somebody_else_does_not_open_a_companion_seat(concert: Concert) -> None:
    other = concert.issue(**on("B-1"))["items"][0]
    assert refused(concert, joins=other["id"], **on("A-2"))[1] == "companion_seat_kept"
    assert refused(concert, joins="0" * 16, **on("A-2"))[0] == 404


def fill(concert: Concert, count: int) -> list[dict[str, Any]]:
    """Sell so many of the fourteen ordinary seats."""
    names = [f"{row}-{n}" for row in "AB" for n in range(1, 9)][2 : 2 + count]
    made: list[dict[str, Any]] = concert.issue(**on(*names))["items"]
    return made


def test_companion_seat_is_released_when_the_zone_is_nearly_full_and_that_is_published_once(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    stage.api.post(f"{concert.path}/publish", {}, 200)
    made = fill(concert, 13)  # of 16: 81 percent
    app_server.run_worker()
    assert "companion_seats_released" not in facts(app_server)
    assert refused(concert, **on("A-2"))[1] == "companion_seat_kept"
    last = concert.issue(**on("B-8"))["items"][0]  # 87 percent
    app_server.run_worker()
    app_server.advance(RELEASES_EVERY_MS)
    app_server.run_worker()
    published = [name for name in facts(app_server) if name.startswith("companion_seats")]
    assert published == ["companion_seats_released"]
    for ticket in (last, made[0]):
        stage.api.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    app_server.advance(RELEASES_EVERY_MS)
    app_server.run_worker()
    assert facts(app_server).count("companion_seats_kept_again") == 1
    assert refused(concert, **on("A-2"))[1] == "companion_seat_kept"
    concert.issue(**on("A-3", "B-8"))
    sold = concert.issue(**on("A-2"))["items"][0]
    assert "companion" not in sold["flags"]
