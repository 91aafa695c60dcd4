"""Concurrent requests for the same seats: one winner each, no deadlock, no 500."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from shared.errors import Conflict
from shared.ids import NIL_ID
from sync_server.holds.selling import inventory
from sync_server.workers import Worker
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.holds.at_once import assert_every_seat_once, guest_again, guests, together, tried, until_waiting
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls

T = TypeVar("T")


@pytest.mark.parametrize("count", [8, 24])
def test_one_seat_has_one_winner(sale: SeatedEvent, nodes: list[AppServer], count: int) -> None:
    path = sale.reserve_path("A-1")
    answers = Counter(together([lambda who=who: tried(who, path, {}) for who in guests(sale, nodes, count)]))
    assert answers.pop((201, "")) == 1
    assert set(answers) <= {(409, "seat_held_by_another_user"), (409, "seat_no_longer_available")}
    assert_every_seat_once(sale)


def test_two_hundred_random_seats_by_twenty_clients(app_server: AppServer, nodes: list[AppServer]) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls("ABCDEFGH", 10), floor()]))
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    picks = random.Random(7)
    names = list(sale.seats)

    def shop(who: ApiClient, names: list[str]) -> Counter[tuple[int, str]]:
        return Counter(tried(who, sale.reserve_path(name), {}) for name in names)

    crowd = guests(sale, nodes, 20)
    choices = [picks.sample(names, 10) for _ in crowd]
    works = [lambda who=who, seats=seats: shop(who, seats) for who, seats in zip(crowd, choices, strict=True)]
    answers: Counter[tuple[int, str]] = sum(together(works), Counter())
    assert answers.total() == 200
    assert set(answers) <= {(201, ""), (409, "seat_held_by_another_user"), (409, "seat_no_longer_available")}
    assert sale.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(answers[201, ""],)]
    assert_every_seat_once(sale)


def test_overlapping_groups_neither_share_seats_nor_deadlock(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    row = [sale.seats[f"A-{number}"][0] for number in range(1, 9)]
    choices = [row[:4], row[3::-1], row[2:6], row[5:1:-1], row[4:], row[:3:-1], row[1:5], row]
    works = [
        lambda who=who, ids=ids: tried(who, f"{sale.path}/holds", {"seat_ids": ids})
        for who, ids in zip(guests(sale, nodes, 8), choices, strict=True)
    ]
    answers = Counter(together(works))
    assert answers[201, ""] >= 1 and all(status in {201, 409} for status, _ in answers), answers
    assert_every_seat_once(sale)
    groups = sale.rows("SELECT group_id, COUNT(*) FROM holds WHERE status = 'active' GROUP BY group_id")
    assert {count for _, count in groups} <= {4, 8}


def test_eight_simultaneous_clicks_of_one_guest_make_one_hold(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    (guest,) = guests(sale, nodes, 1)
    path = sale.reserve_path("A-1")

    def click() -> tuple[int, str]:
        answer = guest_again(guest).ask("POST", path, {})
        return answer.status_code, answer.json["data"]["hold_id"] if answer.json else ""

    answers = together([click] * 8)
    assert {status for status, _ in answers} <= {200, 201} and len({hold for _, hold in answers}) == 1
    assert sale.rows("SELECT COUNT(*) FROM holds") == [(1,)]


def test_one_guest_never_gets_more_than_ten_seats_with_many_tabs(app_server: AppServer, nodes: list[AppServer]) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls("ABC", 8), floor()]))
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    (guest,) = guests(sale, nodes, 1)
    names = list(sale.seats)[:16]
    answers = Counter(
        together([lambda name=name: tried(guest_again(guest), sale.reserve_path(name), {}) for name in names])
    )
    assert answers[201, ""] == 10, answers
    assert answers[429, "rate_limited"] == 6, answers


def test_one_guest_never_gets_more_than_five_pairs_with_many_tabs(
    app_server: AppServer, nodes: list[AppServer]
) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls("ABC", 8), floor()]))
    (guest,) = guests(sale, nodes, 1)
    answers = Counter(together([lambda: tried(guest_again(guest), f"{sale.path}/holds", {"best": 2})] * 8))
    assert answers == {(201, ""): 5, (429, "rate_limited"): 3}


def test_a_seat_is_sold_or_held_and_never_both(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    def sell(name: str, ticket: int) -> tuple[int, str]:
        try:
            sale.sell(name, first=ticket)
        except Conflict as conflict:
            return 409, conflict.error_code
        return 201, "sold"

    names = ["A-1", "A-3", "A-5", "A-7", "B-1", "B-3", "B-5", "B-7"]
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    crowd = guests(sale, nodes, 8)
    holding = [
        lambda who=who, name=name: tried(who, sale.reserve_path(name), {})
        for who, name in zip(crowd, names, strict=True)
    ]
    selling = [lambda name=name, ticket=index: sell(name, ticket) for index, name in enumerate(names, start=1)]
    answers = Counter(together([*holding, *selling]))
    assert answers[201, ""] + answers[201, "sold"] == 8, answers
    assert_every_seat_once(sale)


def test_no_seat_stays_held_at_an_event_cancelled_meanwhile(app_server: AppServer, nodes: list[AppServer]) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls("ABCD", 8), floor()]))
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    crowd = guests(sale, nodes, 15)

    def cancel() -> tuple[int, str]:
        api = ApiClient(app_server.app.test_client(), sale.api.headers)
        return tried(api, f"{sale.path}/cancel", {"reason": "storm"})

    names = list(sale.seats)
    works = [
        lambda who=who, index=index: tried(who, sale.reserve_path(names[index]), {}) for index, who in enumerate(crowd)
    ]
    answers = Counter(together([*works, cancel]))
    assert answers[200, ""] == 1 and set(answers) <= {(200, ""), (201, ""), (400, "event_unavailable")}, answers
    assert sale.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]
    assert set(sale.states().values()) <= {0}


def test_the_layout_does_not_change_under_a_seat_held_meanwhile(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    layout = sale.api.get(f"{sale.path}/layout")["layout_id"]
    crowd = guests(sale, nodes, 6)
    block = {"layout_id": layout, "overrides": {"blocked_seat_ids": ["A-1"]}}

    def block_seat() -> tuple[int, str]:
        answer = ApiClient(nodes[0].app.test_client(), sale.api.headers).ask("PUT", f"{sale.path}/layout", block)
        return answer.status_code, "blocked" if answer.status_code == 200 else answer.json["error"]["code"]  # type: ignore[index]

    works = [lambda who=who: tried(who, sale.reserve_path("A-1"), {}) for who in crowd]
    answers = Counter(together([*works, block_seat]))
    held, blocked = answers[201, ""], answers[200, "blocked"]
    assert (held, blocked) in {(1, 0), (0, 1)}, answers


def test_four_workers_sweep_each_hold_once(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    for who, name in zip(guests(sale, nodes, 12), list(sale.seats), strict=False):
        sale.reserve(who, name)
    for node in nodes:
        node.now = sale.app_server.now + 6 * MINUTE
    workers = [Worker(nodes[index % len(nodes)].parts) for index in range(4)]
    together([worker.run_once for worker in workers])
    assert sale.rows("SELECT status, COUNT(*) FROM holds GROUP BY status") == [("expired", 12)]
    assert sale.rows("SELECT COUNT(*) FROM outbox WHERE name = 'seat_hold_expired'") == [(12,)]


def test_a_free_seat_with_another_version_is_tried_again(postgres_url: str, tmp_path: Path) -> None:
    """The seat was held and released between our read and our write: it is free, so it is ours."""
    app_server = AppServer(postgres_url, tmp_path)
    try:
        sale = a_seated_event(app_server)
        (first, second) = guests(sale, [app_server], 2)
        hold = sale.reserve(first, "A-1")
        first.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        engine = app_server.database.engine
        with ThreadPoolExecutor(1) as pool, engine.connect() as meddler:
            touch = text("UPDATE event_seats SET version = version + 2 WHERE event_id = :event")
            meddler.execute(touch, {"event": sale.id})
            trying = pool.submit(tried, second, sale.reserve_path("A-1"), {})
            until_waiting(app_server, 1)
            meddler.commit()
            assert trying.result(60) == (201, "")
    finally:
        app_server.close()


@pytest.mark.parametrize("alone", [True, False])
def test_cancelling_waits_for_holds_being_written(postgres_url: str, tmp_path: Path, alone: bool) -> None:
    """Otherwise a hold started before would be written after all had been ended."""
    app_server = AppServer(postgres_url, tmp_path)
    try:
        sale = a_seated_event(app_server)
        (guest,) = guests(sale, [app_server], 1)
        hold = sale.reserve(guest, "A-1")
        guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        lock = text("SELECT seat FROM event_seats WHERE event_id = :event FOR UPDATE")
        api = ApiClient(app_server.app.test_client(), sale.api.headers)
        with ThreadPoolExecutor(2) as pool, app_server.database.engine.connect() as meddler:
            meddler.execute(lock, {"event": sale.id}).all()
            asked = (sale.reserve_path("A-1"), {}) if alone else (f"{sale.path}/holds", {"seat_ids": ["A-1"]})
            holding = pool.submit(tried, guest, *asked)
            until_waiting(app_server, 1)
            cancelling = pool.submit(tried, api, f"{sale.path}/cancel", {"reason": "storm"})
            until_waiting(app_server, 2, cancelling)
            meddler.rollback()
            # A statement for which others might wait gives way once: then the event may be cancelled first.
            assert holding.result(60) in {(201, ""), (400, "event_unavailable")}
            assert cancelling.result(60) == (200, "")
        assert sale.states() == {"A-1": 0}
        assert sale.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]
    finally:
        app_server.close()


def test_a_group_that_loses_one_seat_meanwhile_gets_none(postgres_url: str, tmp_path: Path) -> None:
    """It has read all of them as free; then somebody takes the first before it does."""
    app_server = AppServer(postgres_url, tmp_path)
    try:
        sale = a_seated_event(app_server)
        (guest,) = guests(sale, [app_server], 1)
        guest.ask("DELETE", f"/api/holds/{sale.reserve(guest, 'A-1')['hold_id']}")
        take = text("UPDATE event_seats SET state = 1, hold_id = :hold, held_until = :until WHERE event_id = :event")
        another = {"hold": "01980000-0000-7000-8000-000000000000", "until": app_server.now + 60_000}
        with ThreadPoolExecutor(1) as pool, app_server.database.engine.connect() as other:
            other.execute(take, another | {"event": sale.id})
            both = {"seat_ids": [sale.seats[name][0] for name in ("A-1", "A-2")]}
            holding = pool.submit(tried, guest, f"{sale.path}/holds", both)
            until_waiting(app_server, 1)
            other.commit()
            assert holding.result(60) == (409, "seat_held_by_another_user")
        assert sale.states() == {"A-1": 1}
        assert sale.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]
        assert sale.rows("SELECT COUNT(*) FROM outbox WHERE name = 'seat_held'") == [(1,)]  # the hold that was released
    finally:
        app_server.close()


def test_several_seats_are_held_by_one_statement(postgres_url: str, tmp_path: Path) -> None:
    """A dozen of them took most of the time of a request."""
    app_server = AppServer(postgres_url, tmp_path)
    try:
        sale = a_seated_event(app_server)
        (guest,) = guests(sale, [app_server], 1)
        with app_server.database.reading() as session:
            before = session.execute(text("SELECT pg_current_snapshot()")).scalar_one()
        body = {"seat_ids": [sale.seats[name][0] for name in ("A-1", "A-2", "A-3")]}
        assert tried(guest, f"{sale.path}/holds", body) == (201, "")
        written = {
            table: sale.rows(
                f"SELECT DISTINCT xmin FROM {table} WHERE xmin::text::bigint >= {str(before).split(':')[1]}"
            )
            for table in ("holds", "event_seats", "audit_lines", "audit_personal", "outbox", "hold_counters")
        }
        assert len({row for rows in written.values() for row in rows}) == 1 and all(written.values())
    finally:
        app_server.close()


def test_the_constraints_refuse_a_second_hold(sale: SeatedEvent) -> None:
    hold = sale.reserve(sale.guest(), "A-1")
    copy = (
        "INSERT INTO holds SELECT organisation_id, :new, event_id, days, kind, seat, zone, quantity, bearer_kind, "
        "bearer_id, group_id, order_id, status, held_until, remaining_ms, extended, source, notes, origin, "
        "membership_id, created_at, updated_at FROM holds WHERE id = :old"
    )
    with pytest.raises(IntegrityError), sale.app_server.database.writing() as session:
        session.execute(text(copy), {"new": NIL_ID, "old": hold["hold_id"]})
    half = "UPDATE event_seats SET state = 2 WHERE hold_id = :old"
    with pytest.raises(IntegrityError), sale.app_server.database.writing() as session:
        session.execute(text(half), {"old": hold["hold_id"]})


def test_places_are_never_held_twice(app_server: AppServer, nodes: list[AppServer]) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls(), floor(capacity=10)]))
    works = [
        lambda who=who: tried(who, f"{sale.path}/holds", {"count": 3, "zone_id": sale.zones["Floor"]})
        for who in guests(sale, nodes, 8)
    ]
    answers = Counter(together(works))
    assert answers == {(201, ""): 3, (409, "block_at_capacity"): 5}
    with sale.app_server.database.writing() as session, pytest.raises(Conflict):
        inventory.sell_places(session, sale.organisation_id, sale.id, 2, 2, sale.context())


def test_choice_is_judged_by_what_another_server_has_just_held_beside_it(nodes: list[AppServer]) -> None:
    """This server has followed the event a moment ago: it reads the rows of a choice all the same."""
    sale = a_seated_event(nodes[0])
    here, there, late = guests(sale, nodes, 3)
    assert tried(here, f"{sale.path}/holds", {"seat_ids": ["A-1", "A-2"]}) == (201, "")
    assert tried(there, f"{sale.path}/holds", {"seat_ids": ["A-6", "A-7", "A-8"]}) == (201, "")
    assert tried(late, f"{sale.path}/holds", {"seat_ids": ["A-3", "A-4"]}) == (409, "leaves_single_seat")
    assert tried(late, f"{sale.path}/holds", {"seat_ids": ["A-3", "A-4", "A-5"]}) == (201, "")
    assert_every_seat_once(sale)
