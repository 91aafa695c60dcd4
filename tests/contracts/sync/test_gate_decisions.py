"""Supervisors' decisions at gates and their scope, on both databases."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from shared.journal.scans import EntryKind
from shared.wire.snapshot import EventRow, RowKind
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import a_gate, shown


@pytest.fixture
def supervisor(concert: Concert) -> int:
    """The number of somebody who may override."""
    return a_supervisor(concert.api)


def a_supervisor(api: ApiClient) -> int:
    return int(api.post("/api/supervisors", {"name": "Ada", "pin": "904213"})["number"])


def empties(gate: Gate, concert: Concert, by: int) -> int:
    """A supervisor records that the venue is empty; returns when."""
    gate.world.advance(seconds=1)
    at = gate.world.now
    fields = {"direction": "", "mode": "", "override_by": by, "details": {"counts_from": at}}
    gate.write(kind=EntryKind.COUNT_CORRECTION, event=concert.number, gate=0, **fields)
    return at


def opens(gate: Gate, concert: Concert, by: int, *, opened: bool = True) -> None:
    """A supervisor opens the event's doors on this device, or closes them again."""
    gate.world.advance(seconds=1)
    fields = {"direction": "", "mode": "", "override_by": by, "details": {"opened": opened, "gate": ""}}
    gate.write(kind=EntryKind.DOORS, event=concert.number, gate=0, **fields)


def kinds(concert: Concert) -> list[str]:
    found = concert.api.get(f"{concert.path}/conflicts")["items"]
    return sorted(one["kind"] for one in found if one["severity"])


def counts_from(app_server: AppServer, concert: Concert) -> int | None:
    """As every gate receives it."""
    (row,) = app_server.gate_rows_of(concert.number, RowKind.EVENT)
    assert isinstance(row, EventRow)
    return row.counts_from


def two_gates(app_server: AppServer, concert: Concert) -> tuple[Gate, Gate]:
    west, east = a_gate(app_server, concert)[1], a_gate(app_server, concert)[1]
    west.anchor()
    east.anchor()
    return west, east


def test_entering_again_after_the_venue_was_emptied_is_no_duplicate(
    app_server: AppServer, concert: Concert, supervisor: int
) -> None:
    ticket = concert.ticket()
    west, _ = two_gates(app_server, concert)
    shown(west, concert, ticket)
    at = empties(west, concert, supervisor)
    shown(west, concert, ticket)
    west.upload()
    assert kinds(concert) == []
    assert counts_from(app_server, concert) == at
    assert concert.api.get(f"{concert.path}/counters")["inside"] == 1


def test_entering_again_otherwise_is_a_duplicate(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    west, _ = two_gates(app_server, concert)
    shown(west, concert, ticket)
    shown(west, concert, ticket)
    west.upload()
    assert kinds(concert) == ["duplicate"]


def test_a_venue_emptied_twice_counts_from_the_second_time(
    app_server: AppServer, concert: Concert, supervisor: int
) -> None:
    ticket = concert.ticket()
    west, east = two_gates(app_server, concert)
    shown(west, concert, ticket)
    empties(west, concert, supervisor)
    shown(west, concert, ticket)
    last = empties(east, concert, supervisor)
    shown(east, concert, ticket)
    shown(east, concert, ticket)
    east.upload()
    west.upload()
    assert kinds(concert) == ["duplicate"]
    assert counts_from(app_server, concert) == last


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_every_order_of_delivery_has_the_same_result(
    app_server: AppServer, concert: Concert, supervisor: int, order: tuple[int, ...]
) -> None:
    """One guest at the west door, sent home by a supervisor there, in again at the east door, and once too often."""
    ticket = concert.ticket()
    west, east = two_gates(app_server, concert)
    shown(west, concert, ticket)
    at = empties(west, concert, supervisor)
    shown(east, concert, ticket)
    shown(west, concert, ticket)
    parts = [(west, west.bodies[:2]), (west, west.bodies[2:]), (east, east.bodies)]
    for which in order:
        gate, bodies = parts[which]
        gate.upload(bodies)
    (conflict,) = concert.api.get(f"{concert.path}/conflicts")["items"]
    assert (conflict["kind"], conflict["scans"][0]["seq"]) == ("duplicate", 4)
    assert conflict["scans"][1]["device"] == east.number
    assert counts_from(app_server, concert) == at
    assert concert.api.get(f"{concert.path}/counters")["inside"] == 2


def test_only_a_supervisor_of_the_organisation_can_empty_a_venue(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    west, _ = two_gates(app_server, concert)
    shown(west, concert, ticket)
    empties(west, concert, 77)
    shown(west, concert, ticket)
    west.upload()
    assert kinds(concert) == ["duplicate"]
    assert counts_from(app_server, concert) is None
    assert concert.api.get(f"{concert.path}/decisions")["items"] == []


def test_a_venue_is_emptied_everywhere_once_the_time_is_known(
    app_server: AppServer, concert: Concert, supervisor: int
) -> None:
    """A gate that booted without a network cannot say what time it was; its next anchor tells."""
    west = a_gate(app_server, concert)[1]
    response = empties(west, concert, supervisor)
    west.upload()
    assert counts_from(app_server, concert) is None
    app_server.advance(60_000)
    west.anchor()
    west.upload()
    at = counts_from(app_server, concert)
    assert at is not None and abs(at - response) <= 20


def test_a_revoked_device_empties_nothing(app_server: AppServer, concert: Concert, supervisor: int) -> None:
    device, west = a_gate(app_server, concert)
    west.anchor()
    west.hello()
    concert.api.post(f"/api/devices/{device['id']}/revoke", {}, status=200)
    at = empties(west, concert, supervisor)
    west.upload()
    assert counts_from(app_server, concert) is None
    path = f"/api/devices/{device['id']}/late-entries/accept"
    concert.api.post(path, {"note": "The crew was there."}, status=200)
    assert counts_from(app_server, concert) == at


def an_evening_before_its_doors(app_server: AppServer) -> tuple[Concert, Gate, Gate, int]:
    """Published and not live yet."""
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", {"code": "W", "name": "West"})
    concert.api.post(f"{concert.path}/publish", status=200)
    return concert, *two_gates(app_server, concert), a_supervisor(concert.api)


def entered_twice(gate: Gate, concert: Concert) -> dict[str, Any]:
    ticket = concert.ticket()
    shown(gate, concert, ticket)
    shown(gate, concert, ticket)
    return ticket


def test_behind_doors_that_were_opened_on_a_device_a_ticket_is_still_used_once(app_server: AppServer) -> None:
    concert, west, east, supervisor = an_evening_before_its_doors(app_server)
    opens(west, concert, supervisor)
    ticket = entered_twice(west, concert)
    entered_twice(east, concert)
    west.upload()
    east.upload()
    (conflict,) = concert.api.get(f"{concert.path}/conflicts")["items"]
    assert (conflict["kind"], conflict["ticket_id"]) == ("duplicate", ticket["id"])


def test_doors_that_were_shut_again_are_shut(app_server: AppServer) -> None:
    concert, west, _, supervisor = an_evening_before_its_doors(app_server)
    opens(west, concert, supervisor)
    opens(west, concert, supervisor, opened=False)
    entered_twice(west, concert)
    west.upload()
    assert kinds(concert) == []


def test_doors_that_are_reported_late_count_all_the_same(app_server: AppServer) -> None:
    concert, west, _, supervisor = an_evening_before_its_doors(app_server)
    opens(west, concert, supervisor)
    entered_twice(west, concert)
    west.upload(west.bodies[2:])
    assert kinds(concert) == []
    west.upload(west.bodies[:2])
    assert kinds(concert) == ["duplicate"]


def owner(app_server: AppServer, concert: Concert) -> str:
    """The login of somebody who may see everything of the organisation."""
    where = concert.api.get("/api/session")["organisation"]["id"]
    app_server.user("owner@marquee.example", where, "owner")
    return "owner@marquee.example"


def test_an_emptied_venue_that_is_reported_last_withdraws_the_duplicate(
    app_server: AppServer, concert: Concert, supervisor: int
) -> None:
    ticket = concert.ticket()
    west, _ = two_gates(app_server, concert)
    shown(west, concert, ticket)
    empties(west, concert, supervisor)
    shown(west, concert, ticket)
    west.upload([*west.bodies[:2], *west.bodies[3:]])
    assert kinds(concert) == ["duplicate"]
    west.upload(west.bodies[2:3])
    assert kinds(concert) == []


def test_doors_that_are_reported_last_reveal_the_duplicate(app_server: AppServer) -> None:
    concert, west, _, supervisor = an_evening_before_its_doors(app_server)
    opens(west, concert, supervisor)
    entered_twice(west, concert)
    west.upload([west.bodies[0], *west.bodies[2:]])
    assert kinds(concert) == []
    west.upload(west.bodies[1:2])
    assert kinds(concert) == ["duplicate"]


def test_the_organiser_sees_who_decided_what_and_when(app_server: AppServer, concert: Concert, supervisor: int) -> None:
    device, west = a_gate(app_server, concert)
    west.anchor()
    opens(west, concert, supervisor)
    opens(west, concert, supervisor, opened=False)
    empties(west, concert, supervisor)
    west.upload()
    west.upload()
    response = concert.api.get(f"{concert.path}/decisions")["items"]
    assert [one["what"] for one in response] == ["house_emptied", "doors_closed", "doors_opened"]
    assert {(one["device"], one["supervisor"]) for one in response} == {(west.number, supervisor)}
    lines = concert.api.get("/api/audit?limit=50")["items"]
    mine = [line["action"] for line in lines if (line["actor_kind"], line["actor_id"]) == ("device", device["id"])]
    page = app_server.browser(owner(app_server, concert)).client.get(f"/admin/events/{concert.event['id']}/conflicts")
    assert all(fields in page.get_data(as_text=True) for fields in ("Decisions at gates", "Venue emptied", "Ada"))
    decided = ["gate_doors_closed", "gate_doors_opened", "house_emptied", "house_emptied_at_gate"]
    assert sorted(name for name in mine if name in decided) == decided


def test_nobody_else_sees_it(app_server: AppServer, concert: Concert) -> None:
    others = app_server.api(app_server.organisation("rivals"))
    assert others.refused("GET", f"{concert.path}/decisions") == (404, "event_not_found")
