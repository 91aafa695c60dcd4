"""Tickets take the seats and places of a layout once each, and gates get its labels."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from shared.errors import Conflict
from shared.ids import NIL_ID
from shared.tickets import ReadTicket, read
from shared.wire.snapshot import RowKind
from sync_server.events.service import lock_event
from sync_server.holds.taking import seats as held_seats
from sync_server.tickets import service
from sync_server.tickets.rules import Seat
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_ticket_type, an_id
from tests.contracts.seating.stage import Stage, a_layout, a_stage, floor, stalls


def an_evening_on(stage: Stage, **kind: Any) -> Concert:
    """The event of a stage, with its layout chosen and one ticket type."""
    concert = Concert(stage.api, stage.venue, stage.event)
    stage.api.post(f"{concert.path}/ticket-types", a_ticket_type(**kind))
    return concert


@pytest.fixture
def concert(stage: Stage) -> Concert:
    """An event that uses a layout with two rows of stalls and a floor."""
    stage.choose()
    return an_evening_on(stage)


def on(*seat_ids: str, **changed: Any) -> dict[str, Any]:
    return {"seats": [{"seat_id": name} for name in seat_ids], **changed}


def refused(concert: Concert, **request: Any) -> tuple[int, str, dict[str, Any]]:
    answer = concert.api.ask("POST", f"{concert.path}/tickets", {"ticket_type": 1} | request)
    error = answer.json["error"] if answer.json else {}
    return answer.status_code, error["code"], error.get("details", {})


def test_ticket_carries_the_labels_of_the_layout_and_its_code_the_seat_number(
    app_server: AppServer, api: ApiClient
) -> None:
    zone = stalls()
    for seat in zone["seats"]:
        seat["section"] = "Left"
    stage = a_stage(app_server, api, a_layout(zones=[floor(), zone]))
    stage.choose()
    concert = an_evening_on(stage)
    ticket = concert.issue(**on("B-3"))["items"][0]
    assert (ticket["seat_id"], ticket["section"], ticket["seat_row"], ticket["seat_number"]) == (
        "B-3",
        "Left",
        "B",
        "3",
    )
    found = read(concert.code(ticket), app_server.key_ring(concert.number))
    assert isinstance(found, ReadTicket) and (found.ticket.seat, found.ticket.zone) == (11, ticket["zone"])
    row = app_server.gate_rows_of(concert.number, RowKind.TICKET)[0]
    assert (row.seat, row.seat_row, row.seat_number, row.zone) == (11, "Left, B", "3", ticket["zone"])
    zones = {each.number: each.name for each in app_server.gate_rows_of(concert.number, RowKind.ZONE)}
    assert zones[ticket["zone"]] == "Stalls"


def test_issued_seat_is_not_offered_until_the_ticket_is_cancelled(stage: Stage, concert: Concert) -> None:
    ticket = concert.issue(**on("A-4"))["items"][0]
    status, code, details = refused(concert, **on("A-3", "A-4"))
    assert (status, code, details["seats"]) == (409, "seat_taken", ["A-4"])
    assert stage.pick("A-4", status=409)
    for step in ("block", "unblock"):
        stage.api.post(f"/api/tickets/{ticket['id']}/{step}", {}, 200)
        assert stage.pick("A-4", status=409), f"a ticket that is {step}ed keeps its seat"
    stage.api.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    assert concert.issue(**on("A-4"))["items"][0]["seat_id"] == "A-4"


def test_all_seats_of_a_request_are_issued_or_none(concert: Concert, app_server: AppServer) -> None:
    concert.issue(**on("B-8"))
    assert refused(concert, **on("B-6", "B-7", "B-8"))[1] == "seat_taken"
    concert.issue(**on("B-6", "B-7"))
    assert len(app_server.gate_rows_of(concert.number, RowKind.TICKET)) == 3
    assert concert.api.get(concert.path)["tickets_issued"] == 3


@pytest.mark.parametrize(
    ("seats", "status", "code"),
    [
        ([{"seat_id": "Z-9"}], 400, "unknown_seat"),
        ([{"seat_id": "A-1"}, {"seat_id": "A-1"}], 400, "invalid_request"),
        ([{"row": "A", "number": "1"}], 400, "seat_id_required"),
        ([{"seat_id": "A-2"}], 409, "seat_blocked"),
    ],
)
def test_unavailable_seat_is_named(stage: Stage, seats: list[dict[str, str]], status: int, code: str) -> None:
    stage.choose(blocked_seat_ids=["A-2"])
    concert = an_evening_on(stage)
    assert refused(concert, seats=seats)[:2] == (status, code)
    assert concert.api.get(concert.path)["tickets_issued"] == 0


def test_seats_of_closed_or_standing_zones_are_not_issued(stage: Stage) -> None:
    stage.choose(disabled_zones=[stage.zone("Stalls")])
    concert = an_evening_on(stage)
    assert refused(concert, **on("A-1"))[:2] == (409, "zone_closed")
    stage.choose(zone_overrides={stage.zone("Stalls"): {"zone_type": "ga_standing", "capacity": 20}})
    assert refused(concert, **on("A-1"))[:2] == (409, "zone_without_seats")


def test_event_without_a_layout_has_no_seat_ids(stage: Stage, concert: Concert) -> None:
    unmapped = Concert(
        stage.api,
        stage.venue,
        stage.api.post(
            "/api/events",
            {
                "venue_id": stage.venue["id"],
                "name": "Elsewhere",
                "start_at": concert.event["start_at"],
                "end_at": concert.event["end_at"],
            },
        ),
    )
    unmapped.api.post(f"{unmapped.path}/ticket-types", a_ticket_type())
    assert refused(unmapped, **on("A-1"))[:2] == (400, "event_layout_not_found")
    assert unmapped.issue(seats=[{"row": "A", "number": "1"}])["items"][0]["seat_row"] == "A"


def test_seat_labels_include_the_section(stage: Stage) -> None:
    concert = an_evening_on(stage)
    for section in ("Left", "Right", ""):
        concert.issue(seats=[{"section": section, "row": "A", "number": "1"}])
    assert refused(concert, seats=[{"section": " left", "row": "a", "number": "1"}])[1] == "seat_taken"
    long = {"section": "ΐ" * 60, "row": "ΐ" * 20, "number": "ΐ" * 20}
    concert.issue(seats=[long])
    assert refused(concert, seats=[long])[1] == "seat_taken"


def test_layout_is_chosen_before_the_first_ticket_and_fixed_after_it(stage: Stage) -> None:
    concert = an_evening_on(stage)
    ticket = concert.ticket()
    assert stage.api.refused("PUT", stage.path, stage.choice()) == (409, "tickets_without_layout")
    stage.api.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    stage.choose()
    concert.issue(**on("A-1"))
    assert stage.api.get(stage.path)["frozen"] is True
    assert stage.api.refused("DELETE", stage.path) == (409, "layout_frozen")
    assert stage.api.refused("PUT", stage.path, stage.choice(blocked_seat_ids=["A-1"])) == (409, "seats_taken")


def test_standing_zone_is_full_when_its_places_are_sold(stage: Stage) -> None:
    view = stage.choose(zone_overrides={stage.zone("Floor"): {"capacity": 3}})
    number = next(zone["event_zone"] for zone in view["zones"] if zone["name"] == "Floor")
    concert = an_evening_on(stage, zone=number)
    made = concert.issue(count=2)["items"]
    assert refused(concert, count=2)[1] == "zone_full"
    stage.api.post(f"/api/tickets/{made[0]['id']}/cancel", {}, 200)
    concert.issue(count=2)
    assert refused(concert, count=1)[1] == "zone_full"
    assert stage.best(2)["grade"] == "together"


def test_seats_are_not_sold_by_count(stage: Stage) -> None:
    number = stage.choose()["zones"][0]["event_zone"]
    concert = an_evening_on(stage, zone=number)
    assert refused(concert, count=2)[:2] == (400, "seat_required")


def test_zone_or_price_category_chooses_the_ticket_type(app_server: AppServer, api: ApiClient) -> None:
    zone = stalls()
    for seat in zone["seats"]:
        seat["price_category"] = "Gold" if seat["row"] == "A" else "Silver"
    stage = a_stage(app_server, api, a_layout(zones=[zone, floor()]))
    stage.choose(pricing_zones={stage.zone("Stalls"): {"ticket_types": [1, 2]}})
    concert = an_evening_on(stage, name="Gold")
    for name in ("Silver", "Standing"):
        api.post(f"{concert.path}/ticket-types", a_ticket_type(name=name))
    made = api.post(f"{concert.path}/tickets", on("A-1", "B-1", "A-2"))["items"]
    assert {ticket["seat_id"]: ticket["ticket_type"] for ticket in made} == {"A-1": 1, "A-2": 1, "B-1": 2}
    assert len({ticket["party"] for ticket in made}) == 1
    assert refused(concert, **on("A-3", ticket_type=3))[1] == "ticket_type_not_sold_here"
    api.patch(f"{concert.path}/ticket-types/1", {"name": "Platinum"})
    assert api.refused("POST", f"{concert.path}/tickets", on("A-3")) == (400, "ticket_type_required")


def test_organiser_sees_the_seating_figures(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    concert.issue(**on("A-2", "A-4"))
    path = f"{concert.path}/seating/metrics"
    figures = {each["name"]: each for each in stage.api.get(path)["items"]}
    assert (figures["orphan_seats"]["percent"], figures["orphan_seats"]["state"]) == (12.5, "alert")
    assert figures["hold_to_sale"]["percent"] is None
    assert app_server.api(app_server.organisation("rival")).refused("GET", path)[0] == 404
    stage.best(2)
    stage.best(2)
    metrics = app_server.parts.metrics.text().decode()
    assert 'gatehouse_cache_lookups_total{known="no",tier="houses"} 1.0' in metrics, "built once, then cached"
    hits = re.search(r'gatehouse_cache_lookups_total{known="yes",tier="houses"} (.+)', metrics)
    loads = re.search(r"gatehouse_layout_load_seconds_count (.+)", metrics)
    assert hits and loads and float(loads[1]) > float(hits[1]) > 1


def at_once(*actions: Callable[[], None]) -> Counter[str]:
    """The outcomes of several actions at the same instant."""
    together = threading.Barrier(len(actions))

    def run(act: Callable[[], None]) -> str:
        together.wait(30)
        try:
            act()
        except Conflict as conflict:
            return conflict.error_code
        return "done"

    with ThreadPoolExecutor(len(actions)) as pool:
        return Counter(pool.map(run, actions))


def organisation_of(app_server: AppServer) -> str:
    with app_server.database.reading() as session:
        return str(session.execute(text("SELECT organisation_id FROM event_layouts")).scalars().first())


def issuing(app_server: AppServer, organisation: str, event_id: str, *seat_ids: str) -> Callable[[], None]:
    def act() -> None:
        with app_server.database.writing() as session:
            request = service.IssueRequest(1, seats=[Seat(seat_id=name) for name in seat_ids])
            service.issue(session, organisation, event_id, request, app_server.context())

    return act


def test_eight_box_offices_issue_one_seat_at_the_same_instant(app_server: AppServer, concert: Concert) -> None:
    organisation, event = organisation_of(app_server), concert.event["id"]
    ended = at_once(*(issuing(app_server, organisation, event, "A-1", f"B-{n}") for n in range(1, 9)))
    assert ended == {"done": 1, "seat_taken": 7}
    assert concert.api.get(concert.path)["tickets_issued"] == 2


def test_seat_is_held_or_issued_but_never_both(app_server: AppServer, concert: Concert) -> None:
    """Holds do not lock the event's row, so only the seat's own row separates them from the box office."""
    organisation, event = organisation_of(app_server), concert.event["id"]

    def holding(n: int) -> Callable[[], None]:
        def act() -> None:
            with app_server.database.writing() as session:
                got = held_seats.hold(
                    session,
                    organisation,
                    event,
                    {(1, 0): an_id(f"hold {n}"), (2, 0): an_id(f"other {n}")},
                    until=app_server.now + 1,
                    now=app_server.now,
                )
                if len(got) < 2:
                    raise Conflict("gone", code="hold_refused")

        return act

    ended = at_once(
        *(issuing(app_server, organisation, event, "A-2", "A-1") for _ in range(4)), *map(holding, range(4))
    )
    assert ended["done"] == 1 and ended.total() == 8
    with app_server.database.reading() as session:
        rows = session.execute(text("SELECT seat, state FROM event_seats ORDER BY seat")).all()
    assert len({state for _, state in rows}) == 1 and [seat for seat, _ in rows] == [1, 2]


def test_seat_is_issued_as_soon_as_its_hold_expires(app_server: AppServer, concert: Concert) -> None:
    organisation, event = organisation_of(app_server), concert.event["id"]
    with app_server.database.writing() as session:
        lock_event(session, organisation, event)
        held_seats.hold(session, organisation, event, {(1, 0): NIL_ID}, until=app_server.now + 1, now=app_server.now)
    assert refused(concert, **on("A-1"))[1] == "seat_taken"
    app_server.advance(1)
    assert concert.issue(**on("A-1"))["items"]


def test_database_itself_refuses_a_second_ticket_on_a_seat_of_a_layout(app_server: AppServer, concert: Concert) -> None:
    """Even without the row of the seat, two valid tickets never share it."""
    concert.issue(**on("A-1"))
    with app_server.database.writing() as session:
        session.execute(text("DELETE FROM event_seats"))
    assert refused(concert, **on("A-1"))[:2] == (409, "seat_taken")
