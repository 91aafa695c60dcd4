"""Tickets take the seats and places of a layout, once each, and gates are told what the layout calls them."""

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
from shared.snapshot import RowKind
from shared.tickets import ReadTicket, read
from sync_server.events.service import lock
from sync_server.holds import seats as held_seats
from sync_server.tickets import service
from sync_server.tickets.rules import Seat
from tests.builders import a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_stage, floor, stalls
from tests.office import Desk, Evening, Office


def an_evening_on(stage: Stage, **kind: Any) -> Evening:
    """The event of a stage, with its layout chosen and one ticket type."""
    evening = Evening(stage.desk, stage.venue, stage.event)
    stage.desk.post(f"{evening.path}/ticket-types", a_ticket_type(**kind))
    return evening


@pytest.fixture
def evening(stage: Stage) -> Evening:
    """An event that takes place on a layout with two rows of stalls and a floor."""
    stage.choose()
    return an_evening_on(stage)


def on(*seat_ids: str, **changed: Any) -> dict[str, Any]:
    return {"seats": [{"seat_id": name} for name in seat_ids], **changed}


def refused(evening: Evening, **wish: Any) -> tuple[int, str, dict[str, Any]]:
    answer = evening.desk.ask("POST", f"{evening.path}/tickets", {"ticket_type": 1} | wish)
    error = answer.json["error"] if answer.json else {}
    return answer.status_code, error["code"], error.get("details", {})


def test_ticket_carries_the_layouts_words_and_its_code_the_seats_number(office: Office, desk: Desk) -> None:
    zone = stalls()
    for seat in zone["seats"]:
        seat["section"] = "Left"
    stage = a_stage(office, desk, a_layout(zones=[floor(), zone]))
    stage.choose()
    evening = an_evening_on(stage)
    ticket = evening.issue(**on("B-3"))["items"][0]
    assert (ticket["seat_id"], ticket["section"], ticket["seat_row"], ticket["seat_number"]) == (
        "B-3",
        "Left",
        "B",
        "3",
    )
    found = read(evening.code(ticket), office.ring(evening.number))
    assert isinstance(found, ReadTicket) and (found.ticket.seat, found.ticket.zone) == (11, ticket["zone"])
    row = office.held_of(evening.number, RowKind.TICKET)[0]
    assert (row.seat, row.seat_row, row.seat_number, row.zone) == (11, "Left, B", "3", ticket["zone"])
    zones = {each.number: each.name for each in office.held_of(evening.number, RowKind.ZONE)}
    assert zones[ticket["zone"]] == "Stalls"


def test_seat_that_is_issued_is_offered_to_nobody_and_comes_back_when_the_ticket_is_cancelled(
    stage: Stage, evening: Evening
) -> None:
    ticket = evening.issue(**on("A-4"))["items"][0]
    status, code, details = refused(evening, **on("A-3", "A-4"))
    assert (status, code, details["seats"]) == (409, "seat_taken", ["A-4"])
    assert stage.pick("A-4", status=409)
    for step in ("block", "unblock"):
        stage.desk.post(f"/api/tickets/{ticket['id']}/{step}", {}, 200)
        assert stage.pick("A-4", status=409), f"a ticket that is {step}ed keeps its seat"
    stage.desk.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    assert evening.issue(**on("A-4"))["items"][0]["seat_id"] == "A-4"


def test_all_seats_of_a_wish_are_issued_or_none(evening: Evening, office: Office) -> None:
    evening.issue(**on("B-8"))
    assert refused(evening, **on("B-6", "B-7", "B-8"))[1] == "seat_taken"
    evening.issue(**on("B-6", "B-7"))
    assert len(office.held_of(evening.number, RowKind.TICKET)) == 3
    assert evening.desk.get(evening.path)["tickets_issued"] == 3


@pytest.mark.parametrize(
    ("seats", "status", "code"),
    [
        ([{"seat_id": "Z-9"}], 400, "unknown_seat"),
        ([{"seat_id": "A-1"}, {"seat_id": "A-1"}], 400, "invalid_request"),
        ([{"row": "A", "number": "1"}], 400, "seat_id_required"),
        ([{"seat_id": "A-2"}], 409, "seat_blocked"),
    ],
)
def test_seat_that_cannot_be_had_is_named(stage: Stage, seats: list[dict[str, str]], status: int, code: str) -> None:
    stage.choose(blocked_seat_ids=["A-2"])
    evening = an_evening_on(stage)
    assert refused(evening, seats=seats)[:2] == (status, code)
    assert evening.desk.get(evening.path)["tickets_issued"] == 0


def test_seats_of_a_closed_zone_and_of_one_where_people_stand_are_not_issued(stage: Stage) -> None:
    stage.choose(disabled_zones=[stage.zone("Stalls")])
    evening = an_evening_on(stage)
    assert refused(evening, **on("A-1"))[:2] == (409, "zone_closed")
    stage.choose(zone_overrides={stage.zone("Stalls"): {"zone_type": "ga_standing", "capacity": 20}})
    assert refused(evening, **on("A-1"))[:2] == (409, "zone_without_seats")


def test_event_without_a_layout_knows_no_seat_ids(stage: Stage, evening: Evening) -> None:
    wordy = Evening(
        stage.desk,
        stage.venue,
        stage.desk.post(
            "/api/events",
            {
                "venue_id": stage.venue["id"],
                "name": "Elsewhere",
                "start_at": evening.event["start_at"],
                "end_at": evening.event["end_at"],
            },
        ),
    )
    wordy.desk.post(f"{wordy.path}/ticket-types", a_ticket_type())
    assert refused(wordy, **on("A-1"))[:2] == (400, "event_layout_not_found")
    assert wordy.issue(seats=[{"row": "A", "number": "1"}])["items"][0]["seat_row"] == "A"


def test_words_name_the_section_too(stage: Stage) -> None:
    evening = an_evening_on(stage)
    for section in ("Left", "Right", ""):
        evening.issue(seats=[{"section": section, "row": "A", "number": "1"}])
    assert refused(evening, seats=[{"section": " left", "row": "a", "number": "1"}])[1] == "seat_taken"
    long = {"section": "ΐ" * 60, "row": "ΐ" * 20, "number": "ΐ" * 20}
    evening.issue(seats=[long])
    assert refused(evening, seats=[long])[1] == "seat_taken"


def test_layout_is_chosen_before_the_first_ticket_and_stays_after_it(stage: Stage) -> None:
    evening = an_evening_on(stage)
    ticket = evening.ticket()
    assert stage.desk.refused("PUT", stage.path, stage.words()) == (409, "tickets_without_layout")
    stage.desk.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    stage.choose()
    evening.issue(**on("A-1"))
    assert stage.desk.get(stage.path)["frozen"] is True
    assert stage.desk.refused("DELETE", stage.path) == (409, "layout_frozen")
    assert stage.desk.refused("PUT", stage.path, stage.words(blocked_seat_ids=["A-1"])) == (409, "seats_taken")


def test_standing_zone_is_full_when_its_places_are_sold_whatever_the_stalls_have_left(stage: Stage) -> None:
    view = stage.choose(zone_overrides={stage.zone("Floor"): {"capacity": 3}})
    number = next(zone["event_zone"] for zone in view["zones"] if zone["name"] == "Floor")
    evening = an_evening_on(stage, zone=number)
    made = evening.issue(count=2)["items"]
    assert refused(evening, count=2)[1] == "zone_full"
    stage.desk.post(f"/api/tickets/{made[0]['id']}/cancel", {}, 200)
    evening.issue(count=2)
    assert refused(evening, count=1)[1] == "zone_full"
    assert stage.best(2)["grade"] == "together"


def test_seats_are_not_sold_by_the_dozen(stage: Stage) -> None:
    number = stage.choose()["zones"][0]["event_zone"]
    evening = an_evening_on(stage, zone=number)
    assert refused(evening, count=2)[:2] == (400, "seat_required")


def test_zone_or_price_category_chooses_the_ticket_type(office: Office, desk: Desk) -> None:
    zone = stalls()
    for seat in zone["seats"]:
        seat["price_category"] = "Gold" if seat["row"] == "A" else "Silver"
    stage = a_stage(office, desk, a_layout(zones=[zone, floor()]))
    stage.choose(pricing_zones={stage.zone("Stalls"): {"ticket_types": [1, 2]}})
    evening = an_evening_on(stage, name="Gold")
    for name in ("Silver", "Standing"):
        desk.post(f"{evening.path}/ticket-types", a_ticket_type(name=name))
    made = desk.post(f"{evening.path}/tickets", on("A-1", "B-1", "A-2"))["items"]
    assert {ticket["seat_id"]: ticket["ticket_type"] for ticket in made} == {"A-1": 1, "A-2": 1, "B-1": 2}
    assert len({ticket["party"] for ticket in made}) == 1
    assert refused(evening, **on("A-3", ticket_type=3))[1] == "ticket_type_not_sold_here"
    desk.patch(f"{evening.path}/ticket-types/1", {"name": "Platinum"})
    assert desk.refused("POST", f"{evening.path}/tickets", on("A-3")) == (400, "ticket_type_required")


def test_organiser_sees_how_well_the_house_is_seated(stage: Stage, evening: Evening, office: Office) -> None:
    evening.issue(**on("A-2", "A-4"))
    path = f"{evening.path}/seating/metrics"
    figures = {each["name"]: each for each in stage.desk.get(path)["items"]}
    assert (figures["orphan_seats"]["percent"], figures["orphan_seats"]["state"]) == (12.5, "alert")
    assert figures["hold_to_sale"]["percent"] is None
    assert office.desk(office.organisation("rival")).refused("GET", path)[0] == 404
    stage.best(2)
    stage.best(2)
    measures = office.parts.metrics.text().decode()
    assert 'gatehouse_cache_lookups_total{known="no",tier="houses"} 1.0' in measures, "built once, and then kept"
    kept = re.search(r'gatehouse_cache_lookups_total{known="yes",tier="houses"} (.+)', measures)
    asked = re.search(r"gatehouse_layout_load_seconds_count (.+)", measures)
    assert kept and asked and float(asked[1]) == float(kept[1]) + 1 > 2


def at_once(*acts: Callable[[], None]) -> Counter[str]:
    """How each of several acts at the same instant ended."""
    together = threading.Barrier(len(acts))

    def run(act: Callable[[], None]) -> str:
        together.wait(30)
        try:
            act()
        except Conflict as conflict:
            return conflict.error_code
        return "done"

    with ThreadPoolExecutor(len(acts)) as pool:
        return Counter(pool.map(run, acts))


def organisation_of(office: Office) -> str:
    with office.database.reading() as session:
        return str(session.execute(text("SELECT organisation_id FROM event_layouts")).scalars().first())


def issuing(office: Office, organisation: str, event_id: str, *seat_ids: str) -> Callable[[], None]:
    def act() -> None:
        with office.database.writing() as session:
            wish = service.Wish(1, seats=[Seat(seat_id=name) for name in seat_ids])
            service.issue(session, organisation, event_id, wish, office.deed())

    return act


def test_eight_box_offices_issue_one_seat_at_the_same_instant(office: Office, evening: Evening) -> None:
    organisation, event = organisation_of(office), evening.event["id"]
    ended = at_once(*(issuing(office, organisation, event, "A-1", f"B-{n}") for n in range(1, 9)))
    assert ended == {"done": 1, "seat_taken": 7}
    assert evening.desk.get(evening.path)["tickets_issued"] == 2


def test_seat_is_held_or_issued_but_never_both(office: Office, evening: Evening) -> None:
    """Holds do not wait for the event's row, so only the seat's own row stands between them and the box office."""
    organisation, event = organisation_of(office), evening.event["id"]

    def holding(n: int) -> Callable[[], None]:
        def act() -> None:
            with office.database.writing() as session:
                got = held_seats.hold(
                    session,
                    organisation,
                    event,
                    {1: f"hold {n}", 2: f"other {n}"},
                    until=office.now + 1,
                    now=office.now,
                )
                if len(got) < 2:
                    raise Conflict("gone", code="hold_refused")

        return act

    ended = at_once(*(issuing(office, organisation, event, "A-2", "A-1") for _ in range(4)), *map(holding, range(4)))
    assert ended["done"] == 1 and ended.total() == 8
    with office.database.reading() as session:
        rows = session.execute(text("SELECT seat, state FROM event_seats ORDER BY seat")).all()
    assert len({state for _, state in rows}) == 1 and [seat for seat, _ in rows] == [1, 2]


def test_seat_whose_hold_is_over_is_issued_at_that_instant(office: Office, evening: Evening) -> None:
    organisation, event = organisation_of(office), evening.event["id"]
    with office.database.writing() as session:
        lock(session, organisation, event)
        held_seats.hold(session, organisation, event, {1: "a hold"}, until=office.now + 1, now=office.now)
    assert refused(evening, **on("A-1"))[1] == "seat_taken"
    office.advance(1)
    assert evening.issue(**on("A-1"))["items"]


def test_database_itself_refuses_a_second_ticket_on_a_seat_of_a_layout(office: Office, evening: Evening) -> None:
    """Even if the row of the seat were lost, two tickets that count never share it."""
    evening.issue(**on("A-1"))
    with office.database.writing() as session:
        session.execute(text("DELETE FROM event_seats"))
    assert refused(evening, **on("A-1"))[:2] == (409, "seat_taken")
