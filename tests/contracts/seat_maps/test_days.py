"""Attendance on each day of an event of several days, by the scans at its gates."""

from __future__ import annotations

from typing import Any

import pytest

from shared.journal.scans import EntryKind
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, EVENING, HOUR, a_ticket_type
from tests.contracts.seat_maps.mapped_event import MappedEvent, a_mapped_event
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import a_gate, shown


@pytest.fixture
def festival(app_server: AppServer, api: ApiClient) -> MappedEvent:
    """Two evenings, seats sold for both."""
    return a_mapped_event(app_server, api, start_at=EVENING + HOUR, end_at=EVENING + DAY + 6 * HOUR)


def open_doors(mapped: MappedEvent, app_server: AppServer) -> tuple[Gate, Concert]:
    """Open the doors of the event, with one gate."""
    concert = Concert(mapped.stage.api, mapped.stage.venue, mapped.stage.event)
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", {"code": "W", "name": "West"})
    concert.api.post(f"{concert.path}/go-live", status=200)
    _, gate = a_gate(app_server, concert)
    gate.anchor()
    return gate, concert


def day(mapped: MappedEvent, date: str) -> dict[str, Any]:
    """The attendance of one day."""
    response: dict[str, Any] = mapped.stage.api.get(f"/api/events/{mapped.id}/days/{date}/seats")
    return response


def test_seat_is_taken_on_each_day_that_its_guest_attends(festival: MappedEvent, app_server: AppServer) -> None:
    one, other = festival.sell("A-1", "B-2")
    box_office, path = festival.stage.api, f"/api/events/{festival.id}"
    box_office.post(f"{path}/ticket-types", a_ticket_type(name="Floor", zone=2, entitlement="ga_standing"))
    (standing,) = box_office.post(f"{path}/tickets", {"ticket_type": 2, "count": 1})["items"]
    gate, concert = open_doors(festival, app_server)
    shown(gate, concert, one)
    shown(gate, concert, other)
    shown(gate, concert, standing, details={"zone": 2})
    shown(gate, concert, other, direction="exit", reason="exited")
    gate.upload()
    first = day(festival, "2026-07-04")
    assert (first["inside"], first["left"]) == ([1], [10])
    assert first["without_seat"] == [{"zone": 2, "inside": 1, "left": 0}]
    assert day(festival, "2026-07-05") | {"from": "", "until": ""} == {
        "date": "2026-07-05",
        "from": "",
        "until": "",
        "inside": [],
        "left": [],
        "without_seat": [],
    }
    app_server.advance(DAY)
    shown(gate, concert, other)
    gate.upload()
    assert day(festival, "2026-07-05")["inside"] == [10]
    funnel = festival.stage.api.get(f"/api/events/{festival.id}/funnel")["days"]
    assert [(each["date"], each["entered"]) for each in funnel] == [("2026-07-04", 3), ("2026-07-05", 1)]
    assert (day(festival, "2026-07-04")["inside"], day(festival, "2026-07-04")["left"]) == ([1], [10])


def test_scans_after_midnight_count_for_the_evening_before(festival: MappedEvent, app_server: AppServer) -> None:
    owl, early, refused, tested, by_hand = festival.sell("A-1", "A-2", "A-3", "A-4", "A-5")
    gate, concert = open_doors(festival, app_server)
    shown(gate, concert, by_hand, kind=EntryKind.BY_HAND)
    shown(gate, concert, tested, mode="test", reason="test_ok")
    gate.refuse(int(refused["id"], 16), "already_used")
    app_server.advance(10 * HOUR)
    shown(gate, concert, owl)  # four in the morning by the clock on the wall
    app_server.advance(2 * HOUR)
    shown(gate, concert, early)  # six: another day
    app_server.advance(12 * HOUR)
    shown(gate, concert, owl)
    gate.upload()
    assert day(festival, "2026-07-04")["inside"] == [1, 5]
    assert day(festival, "2026-07-05")["inside"] == [1, 2]
    second = day(festival, "2026-07-05")
    assert (second["from"], second["until"]) == ("2026-07-05T03:00:00Z", "2026-07-06T03:00:00Z")


def test_date_outside_the_event_is_not_found(festival: MappedEvent, app_server: AppServer) -> None:
    path = f"/api/events/{festival.id}/days/2026-12-24/seats"
    assert festival.stage.api.refused("GET", path) == (404, "day_not_found")
    rival = app_server.api(app_server.organisation("rivals"))
    assert rival.refused("GET", f"/api/events/{festival.id}/days/2026-07-04/seats") == (404, "event_not_found")
    assert festival.visitor.ask("GET", path).status_code == 401
