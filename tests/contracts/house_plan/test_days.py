"""Whose seats are taken on each day of an event of several days, by the scans at the doors."""

from __future__ import annotations

from typing import Any

import pytest

from shared.scans import EntryKind
from tests.builders import DAY, EVENING, HOUR, a_ticket_type
from tests.contracts.house_plan.house import House, a_house
from tests.contracts.sync.box_office import a_gate, shown
from tests.contracts.sync.gates import Gate
from tests.office import Desk, Evening, Office


@pytest.fixture
def festival(office: Office, desk: Desk) -> House:
    """Two evenings, seats sold for both."""
    return a_house(office, desk, start_at=EVENING + HOUR, end_at=EVENING + DAY + 6 * HOUR)


def doors(house: House, office: Office) -> tuple[Gate, Evening]:
    """The event goes on, and has a gate."""
    evening = Evening(house.stage.desk, house.stage.venue, house.stage.event)
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", {"code": "W", "name": "West"})
    evening.desk.post(f"{evening.path}/go-live", status=200)
    _, gate = a_gate(office, evening)
    gate.anchor()
    return gate, evening


def day(house: House, date: str) -> dict[str, Any]:
    """What organisers are told of one day."""
    told: dict[str, Any] = house.stage.desk.get(f"/api/events/{house.id}/days/{date}/seats")
    return told


def test_seat_is_taken_on_each_day_on_which_its_guest_comes(festival: House, office: Office) -> None:
    one, other = festival.sell("A-1", "B-2")
    box_office, path = festival.stage.desk, f"/api/events/{festival.id}"
    box_office.post(f"{path}/ticket-types", a_ticket_type(name="Floor", zone=2, entitlement="ga_standing"))
    (standing,) = box_office.post(f"{path}/tickets", {"ticket_type": 2, "count": 1})["items"]
    gate, evening = doors(festival, office)
    shown(gate, evening, one)
    shown(gate, evening, other)
    shown(gate, evening, standing, details={"zone": 2})
    shown(gate, evening, other, direction="exit", reason="exited")
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
    office.advance(DAY)
    shown(gate, evening, other)
    gate.upload()
    assert day(festival, "2026-07-05")["inside"] == [10]
    assert (day(festival, "2026-07-04")["inside"], day(festival, "2026-07-04")["left"]) == ([1], [10])


def test_night_belongs_to_its_evening_however_late_its_scans_are_delivered(festival: House, office: Office) -> None:
    owl, early, refused, tested, by_hand = festival.sell("A-1", "A-2", "A-3", "A-4", "A-5")
    gate, evening = doors(festival, office)
    shown(gate, evening, by_hand, kind=EntryKind.BY_HAND)
    shown(gate, evening, tested, mode="test", reason="test_ok")
    gate.refuse(int(refused["id"], 16), "already_used")
    office.advance(10 * HOUR)
    shown(gate, evening, owl)  # four in the morning by the clock on the wall
    office.advance(2 * HOUR)
    shown(gate, evening, early)  # six: another day
    office.advance(12 * HOUR)
    shown(gate, evening, owl)
    gate.upload()
    assert day(festival, "2026-07-04")["inside"] == [1, 5]
    assert day(festival, "2026-07-05")["inside"] == [1, 2]
    told = day(festival, "2026-07-05")
    assert (told["from"], told["until"]) == ("2026-07-05T03:00:00Z", "2026-07-06T03:00:00Z")


def test_day_that_the_event_does_not_have_is_not_found(festival: House, office: Office) -> None:
    path = f"/api/events/{festival.id}/days/2026-12-24/seats"
    assert festival.stage.desk.refused("GET", path) == (404, "day_not_found")
    rival = office.desk(office.organisation("rivals"))
    assert rival.refused("GET", f"/api/events/{festival.id}/days/2026-07-04/seats") == (404, "event_not_found")
    assert festival.visitor.ask("GET", path).status_code == 401
