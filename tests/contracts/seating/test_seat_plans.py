"""The plan that a process keeps of an event's seats says what the tables say, seat by seat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from sync_server.commands import demo_venue
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.models import EventLayoutRecord, LayoutZoneRecord, SeatRecord
from sync_server.seating.plans.seat_plan import WALL, SeatPlan
from sync_server.seating.plans.seat_plans import SeatPlans, layout_seats, seat_plan
from sync_server.seating.schemas import layout_json
from tests.app_server import ApiClient, AppServer
from tests.contracts.seating.stage import Stage, a_layout, a_stage, floor, stalls, with_wheelchairs

NUMBERED = {"reserved_seating", "vip_reserved"}


def generated(seed: int) -> dict[str, Any]:
    """Zones with rows of any length, aisles, missing numbers, sections, prices, odd names, and wheelchair places."""
    random = Random(seed)
    return a_layout(zones=[*(_zone(random, name) for name in ("Stalls", "Circle")), floor()])


def _zone(random: Random, name: str) -> dict[str, Any]:
    rows = [(section, row) for section in random.choice([[""], ["left", "right"]]) for row in "ABC"]
    seats = [seat for depth, (section, row) in enumerate(rows) for seat in _row(random, name, section, row, depth)]
    return stalls(name=name, seats=seats)


def _row(random: Random, zone: str, section: str, row: str, depth: int) -> list[dict[str, Any]]:
    numbers = sorted(random.sample(range(1, 14), random.randint(1, 9)))
    odd = random.random() < 0.3
    seats = [
        {
            "seat_id": f"{zone}{section}{row}-{number}" + ("x" if odd and number % 2 else ""),
            "section": section,
            "row": row,
            "number": str(number),
            "coordinates": {"x": float(number), "y": float(depth)},
            "price_category": random.choice(["", "Front", "Rear"]),
            "aisle_after": random.random() < 0.2,
        }
        for number in numbers
    ]
    if len(seats) > 2 and random.random() < 0.5:
        place, beside = seats[0], seats[1]
        place |= {"category": "wheelchair", "companion_seat_id": beside["seat_id"]}
        beside |= {"category": "companion", "companion_seat_id": place["seat_id"]}
    return seats


LAYOUTS: list[Any] = [a_layout(), with_wheelchairs(), layout_json(demo_venue.plan()), *map(generated, range(6))]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_plan_says_what_the_tables_say(app_server: AppServer, api: ApiClient, layout: dict[str, Any]) -> None:
    stage = a_stage(app_server, api, layout)
    numbered = [zone for zone in stage.layout["zones"] if zone["zone_type"] in NUMBERED]
    names = [seat["seat_id"] for zone in layout["zones"] for seat in zone.get("seats", ())]
    stage.choose(blocked_seat_ids=names[1::5], disabled_zones=[numbered[-1]["id"]] if len(numbered) > 1 else [])
    with app_server.database.reading() as session:
        row, seats = _rows(session, stage)
        plan = seat_plan(session, row)
        _compare_seats(plan, seats)
        zones = session.execute(select(LayoutZoneRecord).where(LayoutZoneRecord.layout_id == row.layout_id)).scalars()
        open_zones = {zone.number: zone for zone in zones if zone.number not in row.disabled_zones}
        _compare_zones(plan, row, open_zones, seats)
        _compare_neighbours(plan, row, seats)


def _use(session: Session, event_id: str) -> EventLayoutRecord:
    return session.execute(select(EventLayoutRecord).where(EventLayoutRecord.event_id == event_id)).scalar_one()


def _rows(session: Session, stage: Stage) -> tuple[EventLayoutRecord, Sequence[SeatRecord]]:
    row = _use(session, stage.event["id"])
    wanted = select(SeatRecord).where(SeatRecord.layout_id == row.layout_id).order_by(SeatRecord.number)
    return row, session.execute(wanted).scalars().all()


def _compare_seats(plan: SeatPlan, rows: Sequence[SeatRecord]) -> None:
    layout = plan.layout
    assert len(layout) == len(rows)
    for row in rows:
        seat, (in_row, place) = layout.seat(row.number), layout.where(row.number)
        known = seat.number, seat.id, seat.name, seat.zone, seat.section, seat.row, seat.seat_number
        assert known == (row.number, row.id, row.seat_id, row.zone_number, row.section, row.row, row.seat_number)
        assert (seat.category, seat.price_category) == (row.category, row.price_category)
        assert (place, in_row.points[place], in_row.seats[place]) == (row.place, (row.x, row.y), row.number)
        assert layout.find(row.id) == layout.find(row.id.upper()) == layout.find(row.seat_id) == row.number
        assert layout.aisle_after(row.number) == row.aisle_after
    assert layout.find_all(["nowhere", "", "A" * 36, rows[0].id[:-1]]) == {}
    numbers = [row.number for row in rows]
    assert layout.names_of([*numbers, 0, -1, len(rows) + 1]) == [row.seat_id for row in rows]
    assert layout.count_by_zone([*numbers, 0, len(rows) + 1]) == Counter(row.zone_number for row in rows)
    pairs = {row.seat_id: row.companion_seat_id for row in rows if row.category == "wheelchair"}
    named = {layout.name(each.wheelchair): layout.names_of(each.companions) for each in layout.pairings}
    assert named == {place: [companion] if companion else [] for place, companion in pairs.items()}


def _compare_zones(
    plan: SeatPlan, row: EventLayoutRecord, zones: dict[int, LayoutZoneRecord], seats: Sequence[SeatRecord]
) -> None:
    blocked = Counter(seat.zone_number for seat in seats if seat.number in row.blocked_seats)
    capacities = {number: zone.capacity - blocked[number] for number, zone in zones.items()}
    assert {number: zone.capacity for number, zone in plan.zones.items()} == capacities
    assert plan.capacity == sum(capacities.values())
    assert plan.numbered == {number for number, zone in zones.items() if zone.zone_type in NUMBERED}
    assert plan.event_zones == {int(number): event_zone for number, event_zone in row.event_zones.items()}
    for seat in seats:
        open_here = seat.zone_number in plan.numbered
        free = open_here and seat.number not in row.blocked_seats
        assert plan.empty_map[seat.number - 1] == (DisplayState.FREE if free else DisplayState.CLOSED)
        assert (plan.on_sale(seat.seat_id) is not None) == (plan.seat(seat.number) is not None) == open_here


def _compare_neighbours(plan: SeatPlan, row: EventLayoutRecord, seats: Sequence[SeatRecord]) -> None:
    at = {(seat.zone_number, seat.row_order, seat.place): seat for seat in seats}
    for seat in seats:
        beside = (at.get((seat.zone_number, seat.row_order, seat.place + step)) for step in (-2, -1, 1, 2))
        walls = {*row.blocked_seats, *(each.number for each in seats if each.category in {"wheelchair", "companion"})}
        expected = tuple(WALL if each is None or each.number in walls else each.number for each in beside)
        assert plan.beside(seat.number) == expected


def test_events_alike_share_a_plan_and_others_have_their_own(stage: Stage, app_server: AppServer) -> None:
    other = stage.api.post("/api/events", {**_another(stage), "name": "Matinée"})
    stage.choose()
    stage.api.put(f"/api/events/{other['id']}/layout", stage.choice(), 200)
    assert _plan(app_server, stage.event["id"]) is _plan(app_server, other["id"])
    stage.choose(blocked_seat_ids=["A-1"])
    ours, theirs = _plan(app_server, stage.event["id"]), _plan(app_server, other["id"])
    assert (ours != theirs, ours.layout is theirs.layout, ours.blocked, theirs.blocked) == (True, True, {1}, set())


def test_a_layout_that_is_chosen_again_with_other_seats_is_another_plan(stage: Stage, app_server: AppServer) -> None:
    """Its revision begins anew."""
    stage.choose(blocked_seat_ids=["A-3", "A-4"])
    first = stage.best(2)["clusters"]
    stage.api.ask("DELETE", stage.path)
    stage.choose(blocked_seat_ids=["B-1"])
    assert _plan(app_server, stage.event["id"]).blocked == {9}
    assert stage.best(2)["clusters"] != first


def test_a_draft_is_read_each_time(stage: Stage, app_server: AppServer) -> None:
    draft = stage.api.post(stage.layouts, a_layout())
    organisation = stage.api.get("/api/session")["organisation"]["id"]
    with app_server.database.reading() as session:
        assert len(layout_seats(session, organisation, draft["id"])) == 16
    stage.api.put(f"{stage.layouts}/{draft['id']}", a_layout(zones=[stalls("ABC")]), 200)
    with app_server.database.reading() as session:
        assert len(layout_seats(session, organisation, draft["id"])) == 24


def test_seats_are_read_once_for_a_process(stage: Stage, app_server: AppServer) -> None:
    app_server.database.ports.connect(SeatPlans())
    read: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        read.extend([statement] if "FROM layout_seats" in statement else [])

    event.listen(app_server.database.engine, "before_cursor_execute", note)
    stage.choose(blocked_seat_ids=["A-8"])
    stage.best(2)
    stage.pick("A-1", "A-2")
    stage.api.post(f"/api/events/{stage.event['id']}/publish", status=200)
    assert stage.api.get(f"/api/events/{stage.event['id']}/seatmap")["plan"]["seats"]["count"] == 16
    event.remove(app_server.database.engine, "before_cursor_execute", note)
    assert len(read) == 1


def _plan(app_server: AppServer, event_id: str) -> SeatPlan:
    with app_server.database.reading() as session:
        return seat_plan(session, _use(session, event_id))


def _another(stage: Stage) -> dict[str, Any]:
    return {name: stage.event[name] for name in ("venue_id", "start_at", "end_at")}
