"""What supervisors decide at gates, and how far it reaches, on both databases."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from shared.scans import EntryKind
from shared.snapshot import EventRow, RowKind
from tests.contracts.sync.box_office import a_gate, shown
from tests.contracts.sync.gates import Gate
from tests.office import Desk, Evening, Office, an_evening


@pytest.fixture
def supervisor(evening: Evening) -> int:
    """The number of somebody who may override."""
    return a_supervisor(evening.desk)


def a_supervisor(desk: Desk) -> int:
    return int(desk.post("/api/supervisors", {"name": "Ada", "pin": "904213"})["number"])


def empties(gate: Gate, evening: Evening, by: int) -> int:
    """A supervisor says that nobody is inside; answers when."""
    gate.world.advance(seconds=1)
    at = gate.world.now
    words = {"direction": "", "mode": "", "override_by": by, "details": {"counts_from": at}}
    gate.write(kind=EntryKind.COUNT_CORRECTION, event=evening.number, gate=0, **words)
    return at


def opens(gate: Gate, evening: Evening, by: int, *, opened: bool = True) -> None:
    """A supervisor opens the event's doors on this device, or takes it back."""
    gate.world.advance(seconds=1)
    words = {"direction": "", "mode": "", "override_by": by, "details": {"opened": opened, "gate": ""}}
    gate.write(kind=EntryKind.DOORS, event=evening.number, gate=0, **words)


def kinds(evening: Evening) -> list[str]:
    found = evening.desk.get(f"{evening.path}/conflicts")["items"]
    return sorted(one["kind"] for one in found if one["severity"])


def counts_from(office: Office, evening: Evening) -> int | None:
    """As every gate hears it."""
    (row,) = office.held_of(evening.number, RowKind.EVENT)
    assert isinstance(row, EventRow)
    return row.counts_from


def two_gates(office: Office, evening: Evening) -> tuple[Gate, Gate]:
    west, east = a_gate(office, evening)[1], a_gate(office, evening)[1]
    west.anchor()
    east.anchor()
    return west, east


def test_whoever_comes_again_after_the_house_was_emptied_is_no_duplicate(
    office: Office, evening: Evening, supervisor: int
) -> None:
    ticket = evening.ticket()
    west, _ = two_gates(office, evening)
    shown(west, evening, ticket)
    at = empties(west, evening, supervisor)
    shown(west, evening, ticket)
    west.upload()
    assert kinds(evening) == []
    assert counts_from(office, evening) == at
    assert evening.desk.get(f"{evening.path}/counters")["inside"] == 1


def test_without_it_they_would_be_one(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    west, _ = two_gates(office, evening)
    shown(west, evening, ticket)
    shown(west, evening, ticket)
    west.upload()
    assert kinds(evening) == ["duplicate"]


def test_a_house_that_was_emptied_twice_counts_from_the_second_time(
    office: Office, evening: Evening, supervisor: int
) -> None:
    ticket = evening.ticket()
    west, east = two_gates(office, evening)
    shown(west, evening, ticket)
    empties(west, evening, supervisor)
    shown(west, evening, ticket)
    last = empties(east, evening, supervisor)
    shown(east, evening, ticket)
    shown(east, evening, ticket)
    east.upload()
    west.upload()
    assert kinds(evening) == ["duplicate"]
    assert counts_from(office, evening) == last


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_every_order_of_delivery_comes_to_the_same(
    office: Office, evening: Evening, supervisor: int, order: tuple[int, ...]
) -> None:
    """One guest at the west door, sent home by a supervisor there, in again at the east door, and once too often."""
    ticket = evening.ticket()
    west, east = two_gates(office, evening)
    shown(west, evening, ticket)
    at = empties(west, evening, supervisor)
    shown(east, evening, ticket)
    shown(west, evening, ticket)
    parts = [(west, west.bodies[:2]), (west, west.bodies[2:]), (east, east.bodies)]
    for which in order:
        gate, bodies = parts[which]
        gate.upload(bodies)
    (conflict,) = evening.desk.get(f"{evening.path}/conflicts")["items"]
    assert (conflict["kind"], conflict["scans"][0]["seq"]) == ("duplicate", 4)
    assert conflict["scans"][1]["device"] == east.number
    assert counts_from(office, evening) == at
    assert evening.desk.get(f"{evening.path}/counters")["inside"] == 2


def test_only_a_supervisor_of_the_organisation_empties_a_house(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    west, _ = two_gates(office, evening)
    shown(west, evening, ticket)
    empties(west, evening, 77)
    shown(west, evening, ticket)
    west.upload()
    assert kinds(evening) == ["duplicate"]
    assert counts_from(office, evening) is None
    assert evening.desk.get(f"{evening.path}/decisions")["items"] == []


def test_a_house_is_emptied_everywhere_once_it_is_known_when_that_was(
    office: Office, evening: Evening, supervisor: int
) -> None:
    """A gate that booted without a network cannot say what time it was; its next anchor tells."""
    west = a_gate(office, evening)[1]
    told = empties(west, evening, supervisor)
    west.upload()
    assert counts_from(office, evening) is None
    office.advance(60_000)
    west.anchor()
    west.upload()
    at = counts_from(office, evening)
    assert at is not None and abs(at - told) <= 20


def test_a_shut_out_device_empties_nothing(office: Office, evening: Evening, supervisor: int) -> None:
    device, west = a_gate(office, evening)
    west.anchor()
    west.hello()
    evening.desk.post(f"/api/devices/{device['id']}/revoke", {}, status=200)
    at = empties(west, evening, supervisor)
    west.upload()
    assert counts_from(office, evening) is None
    path = f"/api/devices/{device['id']}/late-entries/accept"
    evening.desk.post(path, {"note": "The crew was there."}, status=200)
    assert counts_from(office, evening) == at


def an_evening_before_its_doors(office: Office) -> tuple[Evening, Gate, Gate, int]:
    """Published and not live yet."""
    evening = an_evening(office.desk(office.organisation("marquee")))
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", {"code": "W", "name": "West"})
    evening.desk.post(f"{evening.path}/publish", status=200)
    return evening, *two_gates(office, evening), a_supervisor(evening.desk)


def entered_twice(gate: Gate, evening: Evening) -> dict[str, Any]:
    ticket = evening.ticket()
    shown(gate, evening, ticket)
    shown(gate, evening, ticket)
    return ticket


def test_behind_doors_that_were_opened_on_a_device_a_ticket_is_still_used_once(office: Office) -> None:
    evening, west, east, supervisor = an_evening_before_its_doors(office)
    opens(west, evening, supervisor)
    ticket = entered_twice(west, evening)
    entered_twice(east, evening)
    west.upload()
    east.upload()
    (conflict,) = evening.desk.get(f"{evening.path}/conflicts")["items"]
    assert (conflict["kind"], conflict["ticket_id"]) == ("duplicate", ticket["id"])


def test_doors_that_were_shut_again_are_shut(office: Office) -> None:
    evening, west, _, supervisor = an_evening_before_its_doors(office)
    opens(west, evening, supervisor)
    opens(west, evening, supervisor, opened=False)
    entered_twice(west, evening)
    west.upload()
    assert kinds(evening) == []


def test_doors_that_are_heard_of_late_are_judged_by_all_the_same(office: Office) -> None:
    evening, west, _, supervisor = an_evening_before_its_doors(office)
    opens(west, evening, supervisor)
    entered_twice(west, evening)
    west.upload(west.bodies[2:])
    assert kinds(evening) == []
    west.upload(west.bodies[:2])
    assert kinds(evening) == ["duplicate"]


def owner(office: Office, evening: Evening) -> str:
    """The login of somebody who may see everything of the organisation."""
    where = evening.desk.get("/api/session")["organisation"]["id"]
    office.user("owner@marquee.example", where, "owner")
    return "owner@marquee.example"


def test_an_emptied_house_that_is_heard_of_last_withdraws_the_duplicate(
    office: Office, evening: Evening, supervisor: int
) -> None:
    ticket = evening.ticket()
    west, _ = two_gates(office, evening)
    shown(west, evening, ticket)
    empties(west, evening, supervisor)
    shown(west, evening, ticket)
    west.upload([*west.bodies[:2], *west.bodies[3:]])
    assert kinds(evening) == ["duplicate"]
    west.upload(west.bodies[2:3])
    assert kinds(evening) == []


def test_doors_that_are_heard_of_last_show_the_duplicate_behind_them(office: Office) -> None:
    evening, west, _, supervisor = an_evening_before_its_doors(office)
    opens(west, evening, supervisor)
    entered_twice(west, evening)
    west.upload([west.bodies[0], *west.bodies[2:]])
    assert kinds(evening) == []
    west.upload(west.bodies[1:2])
    assert kinds(evening) == ["duplicate"]


def test_the_organiser_sees_who_decided_what_and_when(office: Office, evening: Evening, supervisor: int) -> None:
    device, west = a_gate(office, evening)
    west.anchor()
    opens(west, evening, supervisor)
    opens(west, evening, supervisor, opened=False)
    empties(west, evening, supervisor)
    west.upload()
    west.upload()
    told = evening.desk.get(f"{evening.path}/decisions")["items"]
    assert [one["what"] for one in told] == ["house_emptied", "doors_closed", "doors_opened"]
    assert {(one["device"], one["supervisor"]) for one in told} == {(west.number, supervisor)}
    lines = evening.desk.get("/api/audit?limit=50")["items"]
    mine = [line["action"] for line in lines if (line["actor_kind"], line["actor_id"]) == ("device", device["id"])]
    page = office.browser(owner(office, evening)).client.get(f"/admin/events/{evening.event['id']}/conflicts")
    assert all(words in page.get_data(as_text=True) for words in ("Decided at gates", "House emptied", "Ada"))
    decided = ["gate_doors_closed", "gate_doors_opened", "house_emptied", "house_emptied_at_gate"]
    assert sorted(name for name in mine if name in decided) == decided


def test_nobody_else_sees_it(office: Office, evening: Evening) -> None:
    others = office.desk(office.organisation("rivals"))
    assert others.refused("GET", f"{evening.path}/decisions") == (404, "event_not_found")
